"""The Helm chart: what it installs, what its values may be, and that its pods keep the rules they should."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from taugrid_portal import clusters
from tests.cluster.bed import chart
from tests.cluster.bed.control import ControlPlane
from tests.cluster.fixtures import missing
from tests.cluster.tools import ToolMissing, tool
from tests.deploy.attempts import refusal
from tests.deploy.conftest import helm

pytestmark = pytest.mark.cluster

Object = dict[str, Any]
ROOT = Path(__file__).parents[2]
FULL = {
    "cluster": {"name": "west-1", "others": [{"name": "east-1", "existingSecret": "east", "key": "kubeconfig"}]},
    "portal": {"url": "https://portal.example.org", "signBundles": True},
    "oidc": {"issuer": "https://id.example.org/realms/tau", "clientID": "portal"},
    "artifacts": {"existingClaim": "evidence"},
    "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "portal-tls"},
    "metrics": {
        "enabled": True,
        "serviceMonitor": {"enabled": True},
        "podMonitor": {"enabled": True, "labels": {"scraped": "yes"}},
        "alerts": {"enabled": True},
    },
    "networkPolicy": {"from": [{"namespaceSelector": {}}], "to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]},
    "imagePullSecrets": [{"name": "pull"}],
    "nodeSelector": {"pool": "system"},
    "tolerations": [{"key": "system", "operator": "Exists"}],
    "rights": {
        "templateViewers": ["authors"],
        "clusterViewers": ["sre"],
        "ownControllers": ["system:serviceaccount:storage:checker"],
    },
}


@pytest.fixture(scope="module", autouse=True)
def _helm() -> None:
    try:
        tool("helm")
    except ToolMissing as sentence:
        missing(str(sentence))


def rendered(values: Object | None = None, namespace: str = "tau-system") -> dict[tuple[str, str], Object]:
    """The chart's objects by kind and name."""
    return {(item["kind"], item["metadata"]["name"]): item for item in chart.render(namespace, values)}


def refused(values: Object) -> str:
    """What helm says to these values."""
    done = subprocess.run(
        [str(tool("helm")), "template", "portal", str(chart.CHART), "--values", "-"],
        input=json.dumps(values),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0, "helm takes these values"
    return done.stderr


def pods(objects: dict[tuple[str, str], Object]) -> Iterator[tuple[str, Object]]:
    for (kind, name), item in objects.items():
        if kind == "Deployment":
            yield name, item["spec"]["template"]["spec"]


def containers(pod: Object) -> list[Object]:
    every: list[Object] = [*pod.get("initContainers", []), *pod["containers"]]
    return every


def test_helm_has_nothing_to_criticise() -> None:
    words = [str(tool("helm")), "lint", "--strict", str(chart.CHART)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_in_force_is_what_helm_installed(guarded: ControlPlane) -> None:
    manifest = yaml.safe_load_all(helm(guarded, "get", "manifest", "portal"))
    installed = {(item["kind"], item["metadata"]["name"]): item for item in manifest if item}
    assert installed.keys() == rendered().keys()
    for (kind, name), item in installed.items():
        place = ("--namespace", item["metadata"].get("namespace", "tau-system"))
        held = guarded.get(kind, name, *place)
        for part in ("rules", "subjects", "roleRef"):
            assert held.get(part) == item.get(part), (kind, name)


def test_an_upgrade_without_a_change_changes_no_policy(guarded: ControlPlane) -> None:
    def generations() -> dict[str, int]:
        items = guarded.get("validatingadmissionpolicies,validatingadmissionpolicybindings,deployments", "-A")["items"]
        return {item["metadata"]["uid"]: item["metadata"].get("generation", 0) for item in items}

    before = generations()
    helm(guarded, "upgrade", "portal", str(chart.CHART))
    assert generations() == before


def test_the_whole_chart_with_every_option_is_taken_by_the_api_server(guarded: ControlPlane) -> None:
    own_kinds = ("ServiceMonitor", "PodMonitor", "PrometheusRule")
    items = [item for (kind, _), item in rendered(FULL).items() if kind not in own_kinds]
    assert len(items) > 30
    stdin = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    trial = ("apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-")
    assert len(guarded.kubectl(*trial, stdin=stdin).splitlines()) == len(items)


def test_its_pods_are_admitted_under_restricted_pod_security(guarded: ControlPlane, namespace: str) -> None:
    objects = rendered(FULL, namespace)
    guarded.apply([item for (kind, _), item in objects.items() if kind == "ServiceAccount"])
    found = dict(pods(objects))
    assert found.keys() == {"portal", "portal-sync", "tau-validation-controller"}
    for name, spec in found.items():
        item = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec}
        assert refusal(guarded, item) == ""


def test_no_container_can_write_to_its_image_or_gain_a_right() -> None:
    for name, pod in pods(rendered(FULL)):
        assert "hostNetwork" not in pod, name
        for item in containers(pod):
            context = item["securityContext"]
            assert context["readOnlyRootFilesystem"] is True, name
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["capabilities"] == {"drop": ["ALL"]}, name
            assert item["resources"]["limits"]["memory"], name


def test_no_secret_is_in_the_chart_or_in_an_environment() -> None:
    objects = rendered(FULL)
    assert "Secret" not in {kind for kind, _ in objects}
    for name, pod in pods(objects):
        for item in containers(pod):
            names = {variable["name"] for variable in item["env"]}
            assert not names & {"SECRET_KEY", "DATABASE_URL", "OIDC_CLIENT_SECRET", "METRICS_TOKEN"}, name
            assert all("secretKeyRef" not in variable.get("valueFrom", {}) for variable in item["env"]), name


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("portal", ["secretKey", "databaseURL", "oidcClientSecret", "metricsToken", "bundleSigningKey"]),
        ("portal-sync", ["databaseURL"]),
        ("tau-validation-controller", []),
    ],
)
def test_each_pod_gets_only_the_secrets_it_needs(name: str, files: list[str]) -> None:
    pod = dict(pods(rendered(FULL)))[name]
    volumes = [volume["projected"]["sources"] for volume in pod["volumes"] if volume["name"] == "secrets"]
    assert [item["path"] for sources in volumes for source in sources for item in source["secret"]["items"]] == files
    read = [v["value"] for c in containers(pod) for v in c["env"] if v["name"].endswith("_FILE")]
    assert {path.rpartition("/")[2] for path in read} == set(files)


def test_more_clusters_are_reached_by_kubeconfig_files_from_secrets() -> None:
    other = {"name": "east-1", "existingSecret": "east", "key": "kubeconfig", "context": "portal"}
    found = dict(pods(rendered({"cluster": {"name": "west-1", "others": [other]}})))
    for name in ("portal", "portal-sync"):
        for item in containers(found[name]):
            told = {variable["name"]: variable.get("value") for variable in item["env"]}
            assert told["CLUSTER_NAME"] == "west-1"
            connections = clusters.parse(told["CLUSTER_NAME"], told["CLUSTERS"].split(","))
            assert connections["east-1"] == clusters.Connection("/run/secrets/clusters/east-1", "portal")
            assert {"name": "clusters", "mountPath": "/run/secrets/clusters", "readOnly": True} in item["volumeMounts"]


def test_evidence_is_written_by_the_controller_and_only_read_by_sync_and_portal() -> None:
    found = dict(pods(rendered(FULL)))
    names = ("tau-validation-controller", "portal-sync", "portal")
    controller, sync, portal = (found[name]["containers"][0] for name in names)
    mounts = [next(m for m in item["volumeMounts"] if m["name"] == "artifacts") for item in (controller, sync, portal)]
    assert [mount.get("readOnly", False) for mount in mounts] == [False, True, True]
    where = "file://" + mounts[0]["mountPath"]
    assert {"name": "TAU_ARTIFACTS", "value": where} in controller["env"]
    for item, mount in ((sync, mounts[1]), (portal, mounts[2])):
        assert {"name": "EVIDENCE_STORES", "value": f"volume={where}"} in item["env"]
        assert where == "file://" + mount["mountPath"]
    for name in names[1:]:
        volume = next(v for v in found[name]["volumes"] if v["name"] == "artifacts")
        assert volume["persistentVolumeClaim"]["readOnly"] is True


def test_evidence_in_a_bucket_is_written_and_read_under_one_address() -> None:
    uri = "az://account/artifacts/tau"
    found = dict(pods(rendered({"artifacts": {"uri": uri}})))
    names = ("tau-validation-controller", "portal-sync", "portal")
    controller, sync, portal = (found[name]["containers"][0] for name in names)
    assert {"name": "TAU_ARTIFACTS", "value": uri} in controller["env"]
    for item in (sync, portal):
        assert {"name": "EVIDENCE_STORES", "value": f"artifacts={uri}"} in item["env"]
    for wrong in ({"uri": uri, "existingClaim": "evidence"}, {"uri": "az://account/x?sig=1"}, {"uri": "/var"}):
        assert "artifacts" in refused({"artifacts": wrong})


def test_there_are_two_portals_one_sync_and_one_controller() -> None:
    objects = rendered()
    replicas = {name: item["spec"]["replicas"] for (kind, name), item in objects.items() if kind == "Deployment"}
    assert replicas == {"portal": 2, "portal-sync": 1, "tau-validation-controller": 1}
    for name in ("portal-sync", "tau-validation-controller"):
        assert objects["Deployment", name]["spec"]["strategy"] == {"type": "Recreate"}
    assert objects["PodDisruptionBudget", "portal"]["spec"]["maxUnavailable"] == 1


def test_the_kubelet_asks_whether_the_portal_lives_and_is_ready() -> None:
    (portal,) = dict(pods(rendered()))["portal"]["containers"]
    asked = {probe: portal[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert asked == {"startupProbe": "/livez", "livenessProbe": "/livez", "readinessProbe": "/readyz"}


def test_telemetry_goes_where_the_values_say() -> None:
    def container(values: Object) -> tuple[dict[str, str], set[str], dict[str, Object]]:
        pod = dict(pods(rendered({"controller": {"telemetry": values}})))["tau-validation-controller"]
        first = pod["containers"][0]
        environment = {each["name"]: each.get("value", "") for each in first["env"]}
        return environment, {each["name"] for each in first["volumeMounts"]}, {v["name"]: v for v in pod["volumes"]}

    environment, mounted, volumes = container({})
    assert environment["TAU_TELEMETRY_STDOUT"] == "true"
    assert environment["TAU_TELEMETRY_SPOOL_BYTES"] == "67108864"
    assert not {"TAU_TELEMETRY_SINK", "TAU_TELEMETRY_TOKEN_FILE", "TAU_TELEMETRY_CA_FILE"} & environment.keys()
    assert mounted == {"tmp", "spool"}
    assert volumes["spool"]["emptyDir"] == {"sizeLimit": "80Mi"}

    environment, mounted, volumes = container(
        {
            "stdout": False,
            "sink": "https://collector.example.org/{table}",
            "token": {"existingSecret": "collector"},
            "ca": {"existingConfigMap": "corporate"},
            "spool": {"existingClaim": "spool"},
        }
    )
    assert environment["TAU_TELEMETRY_STDOUT"] == "false"
    assert environment["TAU_TELEMETRY_SINK"] == "https://collector.example.org/{table}"
    assert environment["TAU_TELEMETRY_TOKEN_FILE"] == "/run/secrets/telemetry/token"
    assert environment["TAU_TELEMETRY_CA_FILE"] == "/run/telemetry-ca/ca.crt"
    assert mounted == {"tmp", "spool", "telemetry-token", "telemetry-ca"}
    assert volumes["telemetry-token"]["secret"]["secretName"] == "collector"
    assert volumes["spool"]["persistentVolumeClaim"] == {"claimName": "spool"}
    assert "sink" in refused({"controller": {"telemetry": {"sink": "https://user:pass@host/"}}})


def test_without_the_controller_its_rights_are_not_installed_either() -> None:
    objects = rendered({"controller": {"enabled": False}})
    named = {key for key in objects if key[1] == "tau-validation-controller"}
    assert named == set()
    assert ("ValidatingAdmissionPolicy", "tau-validation-status-guard") in objects


def test_only_the_portal_is_reached_over_the_network() -> None:
    objects = rendered()
    policies = {name: item["spec"] for (kind, name), item in objects.items() if kind == "NetworkPolicy"}
    assert policies.keys() == dict(pods(objects)).keys()
    for name, spec in policies.items():
        assert spec["policyTypes"] == ["Ingress", "Egress"]
        assert bool(spec.get("ingress")) == (name == "portal")
        selected = spec["podSelector"]["matchLabels"]
        assert selected == objects["Deployment", name]["spec"]["selector"]["matchLabels"]
    assert rendered(FULL)["NetworkPolicy", "portal"]["spec"]["ingress"][0]["from"] == [{"namespaceSelector": {}}]


def test_approvers_come_from_the_values_into_policy_and_binding() -> None:
    values = {"rights": {"approvers": {"groups": ["reviewers", "system:masters"], "users": []}}}
    objects = rendered(values)
    policy = objects["ValidatingAdmissionPolicy", "tau-validation-approval-guard"]["spec"]
    (approver,) = (item["expression"] for item in policy["variables"] if item["name"] == "approver")
    assert 'group in ["reviewers","system:masters"]' in approver
    assert "tau-platform-admins" not in json.dumps(list(objects.values()))
    bound = objects["ClusterRoleBinding", "tau-validation-approver"]["subjects"]
    assert [subject["name"] for subject in bound] == ["reviewers"]


def test_controllers_that_checks_bring_may_write_the_status() -> None:
    policy = rendered(FULL)["ValidatingAdmissionPolicy", "tau-validation-status-guard"]["spec"]
    expression = policy["validations"][0]["expression"]
    assert '"system:serviceaccount:tau-system:tau-validation-controller"' in expression
    assert '"system:serviceaccount:storage:checker"' in expression


def test_monitoring_reads_metrics_with_the_token() -> None:
    objects = rendered(FULL)
    (endpoint,) = objects["ServiceMonitor", "portal"]["spec"]["endpoints"]
    assert endpoint["authorization"]["credentials"] == {"name": "taugrid-portal", "key": "metrics-token"}
    (group,) = objects["PrometheusRule", "portal"]["spec"]["groups"]
    assert len({rule["alert"] for rule in group["rules"]}) == 6
    site = "".join((ROOT / path).read_text() for path in ("taugrid_portal/metrics.py", "checks/metrics.py"))
    for name in re.findall(r"portal_\w+", json.dumps(group)):
        assert f'"{name.removesuffix("_count")}"' in site, "an alert asks for a metric that nobody has"


def test_prometheus_reads_the_controller_where_it_listens_and_only_there() -> None:
    objects = rendered(FULL)
    monitor, container = objects["PodMonitor", "tau-validation-controller"], _container(objects)
    assert monitor["metadata"]["labels"]["scraped"] == "yes"
    template = objects["Deployment", "tau-validation-controller"]["spec"]["template"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    (port,) = container["ports"]
    assert endpoint["port"] == port["name"]
    listens = {item["name"]: item.get("value") for item in container["env"]}
    assert listens["TAU_METRICS_PORT"] == str(port["containerPort"])
    (opened,) = objects["NetworkPolicy", "tau-validation-controller"]["spec"]["ingress"]
    assert opened == {"ports": [{"protocol": "TCP", "port": port["name"]}]}


def test_without_metrics_the_controller_listens_nowhere() -> None:
    container = _container(rendered())
    assert "ports" not in container
    assert "TAU_METRICS_PORT" not in {item["name"] for item in container["env"]}


def _container(objects: dict[tuple[str, str], Object]) -> Object:
    (found,) = objects["Deployment", "tau-validation-controller"]["spec"]["template"]["spec"]["containers"]
    container: Object = found
    return container


def test_the_ingress_answers_for_the_address_of_the_portal() -> None:
    spec = rendered(FULL)["Ingress", "portal"]["spec"]
    assert spec["rules"][0]["host"] == "portal.example.org"
    assert spec["tls"] == [{"hosts": ["portal.example.org"], "secretName": "portal-tls"}]


REFUSED: dict[str, tuple[Object, str]] = {
    "a value that does not exist": ({"portal": {"replica": 3}}, "replica"),
    "a portal without TLS": ({"portal": {"url": "http://portal.example.org"}}, "/portal/url"),
    "a portal below a path": ({"portal": {"url": "https://example.org/portal"}}, "/portal/url"),
    "a provider without TLS": ({"oidc": {"issuer": "http://id.example.org"}}, "/oidc/issuer"),
    "scopes without openid": ({"oidc": {"scopes": ["profile"]}}, "/oidc/scopes"),
    "a secret as a value": (
        {"portal": {"extraEnv": [{"name": "OIDC_CLIENT_SECRET", "value": "abc"}]}},
        "/portal/extraEnv/0",
    ),
    "a half digest": ({"image": {"digest": "sha256:abc"}}, "/image/digest"),
    "everybody as approver": (
        {"rights": {"approvers": {"groups": ["system:authenticated"], "users": []}}},
        "/rights/approvers",
    ),
    "the controller as approver": (
        {
            "rights": {
                "approvers": {"groups": [], "users": ["system:serviceaccount:tau-system:tau-validation-controller"]}
            }
        },
        "/rights/approvers",
    ),
    "a group that would end an expression": (
        {"rights": {"approvers": {"groups": ["a'] || true || ['b"], "users": []}}},
        "/rights/approvers/groups/0",
    ),
    "an ingress without an address": ({"ingress": {"enabled": True}}, "Set portal.url"),
}


@pytest.mark.parametrize(("values", "named"), REFUSED.values(), ids=REFUSED.keys())
def test_values_that_would_be_unsafe_or_useless_are_refused(values: Object, named: str) -> None:
    assert named in refused(values)


def test_the_notes_say_what_is_still_missing() -> None:
    words = [str(tool("helm")), "install", "portal", str(chart.CHART), "--dry-run=client", "--namespace", "tau-system"]
    notes = subprocess.run(words, capture_output=True, text=True, check=True).stdout.partition("NOTES:")[2]
    assert "portal.url is not set" in notes
    assert "taugrid-portal  key database-url" in notes
    assert "tau-platform-admins" in notes


def test_the_versions_of_chart_and_product_are_the_same() -> None:
    import checks

    described = yaml.safe_load((Path(chart.CHART) / "Chart.yaml").read_text())
    assert described["appVersion"] == checks.__version__

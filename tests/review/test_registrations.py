"""The review of registrations as people see it: who may, what is shown, and that nothing can be changed."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from checks.contract.document import digest
from checks.models import Check

from .conftest import REVIEWER, Cluster

Browse = Callable[..., Client]
LIST = "/admin/checks/check/"
ADMINS, OPERATORS = "platform-admins", "team-vision-operators"


def address(name: str = "ib-pair", cluster: str = "west-1", namespace: str = "team-vision") -> str:
    return f"{LIST}{cluster}/{namespace}/{name}/"


def page(client: Client, url: str) -> BeautifulSoup:
    response = client.get(url)
    assert response.status_code == 200, response.content[:500]
    return BeautifulSoup(response.content, "html.parser")


def standing(soup: BeautifulSoup) -> str:
    return str(soup.select_one(".review-banner")["data-standing"])  # type: ignore[index]


def listed(soup: BeautifulSoup) -> list[str]:
    return [link.get_text(strip=True) for link in soup.select(".registrations a.name")]


def commands(soup: BeautifulSoup) -> list[str]:
    return [code.get_text() for code in soup.select("pre.command code")]


def differing(soup: BeautifulSoup, document: int) -> set[tuple[str, str, str]]:
    """Rows of one document that differ: how, the text before, the text now."""
    table = soup.select("section.difference")[document]
    rows = table.select("tr[data-change]:not([data-change=same]):not([data-change=folded])")
    texts = [(row, row.select_one(".before"), row.select_one(".after")) for row in rows]
    return {
        (str(row["data-change"]), b.get_text().strip() if b else "", a.get_text().strip() if a else "")
        for row, b, a in texts
    }


def test_an_approved_registration_says_by_whom_and_offers_to_reject_only(west: Cluster, browser: Browse) -> None:
    west.seen()
    soup = page(browser(ADMINS), address())
    assert standing(soup) == "approved"
    assert "Approved by admin@example.org; nothing has changed since" in soup.get_text()
    assert [command.split()[1] for command in commands(soup)] == ["reject", "annotate"]
    assert all("as approved" in section.get_text() for section in soup.select("section.difference"))


def test_a_pending_registration_offers_the_exact_command_for_what_is_shown(west: Cluster, browser: Browse) -> None:
    west.marks()
    west.seen()
    soup = page(browser(ADMINS), address())
    now = digest(west.check["spec"])
    assert standing(soup) == "pending"
    assert f"tau-check approve ib-pair --namespace team-vision --digest {now}" in commands(soup)
    assert any(f"tau.azure.com/approved={now} tau.azure.com/reviewed-by={REVIEWER}" in c for c in commands(soup))


def test_an_outdated_registration_shows_what_changed_in_the_spec(west: Cluster, browser: Browse) -> None:
    west.seen()
    west.check["spec"]["targets"]["count"] = 4
    west.check["metadata"]["generation"] = 2
    west.look()
    west.seen()
    soup = page(browser(ADMINS), address())
    assert standing(soup) == "outdated"
    assert differing(soup, 0) == {("changed", "count: 2", "count: 4")}
    assert [mark.get_text() for mark in soup.select("section.difference mark")] == ["2", "4"]


def test_another_template_shows_its_difference_and_the_rights_that_came(west: Cluster, browser: Browse) -> None:
    west.seen()
    newer = copy.deepcopy(west.template)
    newer["metadata"]["name"] = "nccl-ib-pair-v2"
    newer["spec"]["job"]["spec"]["template"]["spec"]["hostNetwork"] = True
    newer["spec"]["exceptions"].append({"rule": "hostNetwork", "value": "true", "why": "RoCE"})
    west.objects.append(newer)
    west.check["spec"]["launch"]["template"] |= {"name": "nccl-ib-pair-v2", "digest": digest(newer["spec"])}
    west.look()
    west.seen()
    soup = page(browser(ADMINS), address())
    assert ("added", "", "hostNetwork: true") in differing(soup, 1)
    came = [item.get_text(" ", strip=True) for item in soup.select(".rights li[data-since=new]")]
    assert len(came) == 1 and came[0].startswith("Uses the node's own network")
    assert "RoCE" in came[0]


def test_a_template_that_changed_under_its_name_is_outdated_and_cannot_be_approved(
    west: Cluster, browser: Browse
) -> None:
    west.seen()
    west.template["spec"]["deadlines"]["runSeconds"] = 901
    west.seen()
    soup = page(browser(ADMINS), address())
    assert standing(soup) == "outdated"
    assert ("changed", "runSeconds: 900", "runSeconds: 901") in differing(soup, 1)
    assert "which is not the template that is there now" in soup.get_text()
    assert not any(command.startswith("tau-check approve") for command in commands(soup))


def test_a_template_that_is_gone_still_shows_what_was_approved(west: Cluster, browser: Browse) -> None:
    west.seen()
    west.objects.remove(west.template)
    west.seen()
    soup = page(browser(ADMINS), address())
    assert standing(soup) == "outdated"
    assert "The template is gone" in soup.select("section.difference")[1].get_text()
    assert "this is what was approved" in soup.get_text() and not soup.select(".rights [data-since]")
    assert "reporters: 2" in soup.select("section.difference")[1].get_text()


def test_a_version_that_was_never_seen_is_not_compared_with_anything(west: Cluster, browser: Browse) -> None:
    west.marks(approved="sha256:" + "0" * 64, reviewed_by="somebody")
    west.seen()
    soup = page(browser(ADMINS), address())
    assert standing(soup) == "outdated"
    assert "never seen the version that was approved" in soup.get_text()
    assert not soup.select("section.difference td.before")


def test_a_rejected_registration_shows_the_reason_and_offers_the_approval(west: Cluster, browser: Browse) -> None:
    west.marks(rejected="it hangs", reviewed_by="ben@example.org")
    west.seen()
    soup = page(browser(ADMINS), address())
    assert standing(soup) == "rejected"
    assert "Rejected by ben@example.org" in soup.get_text() and "it hangs" in soup.get_text()
    assert any("tau.azure.com/rejected-" in command for command in commands(soup))


def test_an_invalid_registration_names_the_field_and_offers_no_approval(west: Cluster, browser: Browse) -> None:
    west.marks()
    del west.check["spec"]["results"]
    west.look()
    west.seen()
    soup = page(browser(ADMINS), address())
    assert standing(soup) == "invalid"
    assert "/spec/results: found nothing" in soup.get_text()
    assert not any(command.startswith("tau-check approve") for command in commands(soup))


def test_before_the_controller_has_looked_no_approval_is_offered(west: Cluster, browser: Browse) -> None:
    west.marks()
    west.check["metadata"]["generation"] = 7
    west.seen()
    soup = page(browser(ADMINS), address())
    assert "The controller has not looked at this version yet" in soup.get_text()
    assert not any(command.startswith("tau-check approve") for command in commands(soup))


def test_a_registration_with_its_own_controller_says_that_its_pods_are_not_known_here(
    west: Cluster, browser: Browse
) -> None:
    west.check["spec"]["launch"] = {"controller": {"name": "fabric.example.org/prober"}}
    west.look()
    west.seen()
    text = page(browser(ADMINS), address()).get_text()
    assert "fabric.example.org/prober" in text and "is not part of this registration" in text


def test_every_line_can_be_asked_for(west: Cluster, browser: Browse) -> None:
    west.seen()
    client = browser(ADMINS)
    assert "freshForSeconds" not in page(client, address()).select("section.difference")[0].get_text()
    assert "freshForSeconds" in page(client, address() + "?whole").select("section.difference")[0].get_text()


def test_markup_in_a_registration_is_text(west: Cluster, browser: Browse) -> None:
    west.marks(rejected="<script>alert(1)</script>", reviewed_by="<b>ben</b>")
    west.check["spec"]["title"] = "<img src=x onerror=alert(1)>"
    west.check["spec"]["launch"]["template"]["parameters"] = {"linkLayer": "</td><script>alert(2)</script>"}
    west.seen()
    for url in (LIST, address()):
        content = browser(ADMINS).get(url).content
        assert b"<script>alert" not in content and b"<img src=x" not in content and b"<b>ben" not in content


def test_characters_that_hide_or_reverse_text_are_shown(west: Cluster, browser: Browse) -> None:
    west.marks(rejected="no\u202eon", reviewed_by="ben")
    west.check["spec"]["title"] = "safe\u202ekcehc"
    west.seen()
    for url in (LIST, address()):
        text = browser(ADMINS).get(url).content.decode()
        assert "\u202e" not in text and "U+202E" in text


def test_the_list_has_what_waits_first_and_can_be_narrowed(west: Cluster, browser: Browse) -> None:
    for name, marks in (("aaa-rejected", {"rejected": "no", "reviewed_by": "ben"}), ("zzz-pending", {})):
        other = copy.deepcopy(west.check)
        other["metadata"] |= {"name": name, "uid": f"uid-{name}", "annotations": {}}
        other["metadata"]["annotations"] = {f"tau.azure.com/{k.replace('_', '-')}": v for k, v in marks.items()}
        other["spec"]["title"] = name
        west.objects.append(other)
    west.seen()
    client = browser(ADMINS)
    assert listed(page(client, LIST)) == ["zzz-pending", "aaa-rejected", "Inter-node InfiniBand"]
    assert listed(page(client, LIST + "?review__exact=rejected")) == ["aaa-rejected"]
    assert listed(page(client, LIST + "?q=infiniband")) == ["Inter-node InfiniBand"]
    assert listed(page(client, LIST + "?cluster=west-1&q=zzz")) == ["zzz-pending"]
    assert "No registration matches" in page(client, LIST + "?q=nothing-like-this").get_text()


def test_a_reviewer_of_one_cluster_learns_nothing_about_another(west: Cluster, browser: Browse) -> None:
    west.seen()
    east = Cluster("east-9")
    east.check["spec"]["title"] = "Hidden"
    east.seen()
    client = browser(ADMINS)
    content = client.get(LIST).content
    assert b"Hidden" not in content and b"east-9" not in content
    hidden, absent = client.get(address(cluster="east-9")), client.get(address(cluster="east-8"))
    assert (hidden.status_code, absent.status_code) == (404, 404)
    assert hidden.content == absent.content


@pytest.mark.parametrize("groups", [(OPERATORS,), ()])
def test_for_everybody_else_there_is_no_review(west: Cluster, browser: Browse, groups: tuple[str, ...]) -> None:
    west.seen()
    client = browser(*groups, username="olu")
    answers = [client.get(url) for url in (address(), address("nothing"), LIST, "/admin/", "/admin/nothing/")]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_can_be_changed(west: Cluster, browser: Browse, method: str) -> None:
    west.seen()
    before = Check.objects.values().get()
    client = browser(ADMINS)
    for url in (LIST, address(), f"{LIST}{before['id']}/change/", f"{LIST}add/", f"{LIST}{before['id']}/delete/"):
        response: Any = getattr(client, method)(url, {"action": "delete_selected", "_selected_action": before["id"]})
        assert response.status_code in (404, 405), url
    assert Check.objects.values().get() == before


def test_no_form_on_a_page_can_change_anything(west: Cluster, browser: Browse) -> None:
    west.seen()
    for url in (LIST, address()):
        for form in page(browser(ADMINS), url).select("main form"):
            assert form.get("method", "get") == "get"


def test_the_number_of_queries_does_not_grow_with_the_registrations(
    west: Cluster, browser: Browse, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        other = copy.deepcopy(west.check)
        other["metadata"] |= {"name": f"check-{number}", "uid": f"uid-{number}"}
        west.objects.append(other)
    west.seen()
    client = browser(ADMINS)
    with django_assert_max_num_queries(10):
        client.get(LIST)
    with django_assert_max_num_queries(12):
        client.get(address())

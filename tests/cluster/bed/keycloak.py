"""A real OIDC provider with three people in groups, started on a copy of the prepared database.

Ada is in `tau-platform-admins`, Ben in `team-blue`, Cleo in `team-blue` and `team-green`; tokens carry `groups` and
`preferred_username`. Groups can be changed and clients registered through `admin`, as an administrator would.
"""

import json
import shutil
import urllib.parse
import urllib.request
from typing import Any

from tests.cluster.bed.processes import Servers, answers, free_port
from tests.cluster.tools import keycloak as kept

REALM = "taugrid"
CLIENT_ID = "portal"
CLIENT_SECRET = "portal-secret-of-the-test-realm"
PASSWORDS = {name: f"{name}-password" for name in ("ada", "ben", "cleo")}


class Keycloak:
    """One running Keycloak on loopback; its people sign in with PASSWORDS."""

    def __init__(self, servers: Servers) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        self.issuer = f"{self.url}/realms/{REALM}"
        self._servers = servers
        self._home = servers.ledger.folder / "keycloak"

    def start(self) -> None:
        """Start it and wait until it tells where to sign in."""
        built = kept.distribution()
        self._home.mkdir()
        for part in kept.SHARED:
            (self._home / part).symlink_to(built / part)
        shutil.copytree(built / "data" / "h2", self._home / "data" / "h2")
        host, port = self.url.removeprefix("http://").split(":")
        self.server = self._servers.start(
            "keycloak",
            kept.command(
                self._home,
                *("start", "--optimized", "--cache=local", "--http-enabled=true", "--hostname-strict=false"),
                *(f"--http-host={host}", f"--http-port={port}"),
            ),
        )
        self.server.wait_until(answers(f"{self.issuer}/.well-known/openid-configuration"), seconds=180)

    def admin(self, method: str, path: str, body: Any = None) -> Any:
        """A call of Keycloak's admin API below the realm, for example `GET`, `users?username=ada`."""
        request = urllib.request.Request(
            f"{self.url}/admin/realms/{REALM}/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._admin_token()}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            content = reply.read()
        return json.loads(content) if content else None

    def allow_portal(self, url: str) -> None:
        """Let the client `portal` be redirected to pages under this address, after signing in and out."""
        (client,) = self.admin("GET", f"clients?clientId={CLIENT_ID}")
        self.admin("PUT", f"clients/{client['id']}", {**client, "redirectUris": [f"{url}/*"], "webOrigins": [url]})

    def join(self, person: str, group: str) -> None:
        """Put a person into a group; their next token says so."""
        self.admin("PUT", self._membership(person, group))

    def leave(self, person: str, group: str) -> None:
        """Take a person out of a group; their next token says so."""
        self.admin("DELETE", self._membership(person, group))

    def _membership(self, person: str, group: str) -> str:
        (user,) = self.admin("GET", f"users?exact=true&username={person}")
        (found,) = self.admin("GET", f"groups?exact=true&search={group}")
        return f"users/{user['id']}/groups/{found['id']}"

    def _admin_token(self) -> str:
        form = {"grant_type": "client_credentials", "client_id": kept.ADMIN_CLIENT, "client_secret": kept.ADMIN_SECRET}
        address = f"{self.url}/realms/master/protocol/openid-connect/token"
        with urllib.request.urlopen(address, data=urllib.parse.urlencode(form).encode(), timeout=30) as reply:
            return str(json.loads(reply.read())["access_token"])

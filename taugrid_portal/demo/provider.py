"""The local sign-in of the demo: oidc-provider-mock, with three people and no way to be anybody else.

The library accepts any name and fetches a style sheet from the network; here its pages are replaced by our own,
and whatever a sign-in does not need is refused. It listens on the loopback interface only.
"""

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

PEOPLE = {
    "ada": ("Ada", "Platform admin: sees every cluster and reviews registrations", ["platform-admins"]),
    "olu": ("Olu", "Operator of the workspace team-vision", ["team-vision-operators"]),
    "nils": ("Nils", "Has no rights", []),
}
_PATHS = (
    "/.well-known/openid-configuration",
    "/jwks",
    "/oauth2/authorize",
    "/oauth2/token",
    "/oauth2/end_session",
    "/style.css",
)
_HERE = Path(__file__).parent


def running(issuer: str, portal_url: str) -> AbstractContextManager[None]:
    """Answers at the issuer's address while the context lasts, for the portal at this address and nobody else.

    Raises ImportError where the library is not installed.
    """
    return _running(urlsplit(issuer).port or 80, _application(portal_url))


@contextmanager
def _running(port: int, application: Any) -> Iterator[None]:
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log(self, *args: object) -> None:
            """Says nothing: the demo prints one line."""

    server = make_server("127.0.0.1", port, application, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="sign-in provider", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _application(portal_url: str) -> Any:
    import authlib.deprecate  # type: ignore[import-untyped]  # noqa: F401  # puts its warnings in front, so it comes before our filter
    import flask

    # The library and what it stands on warn about each other; nobody here can do anything about it.
    warnings.filterwarnings("ignore", module="authlib|oidc_provider_mock")
    logging.getLogger("oidc_provider_mock").setLevel("ERROR")
    from oidc_provider_mock import User, init_app

    app = flask.Flask(__name__, template_folder=str(_HERE / "templates"), static_folder=None)
    plain = app.wsgi_app
    init_app(
        app,
        require_nonce=True,
        issue_refresh_token=False,
        user_claims=[
            User(sub=name, claims={"name": shown, "preferred_username": name, "groups": groups})
            for name, (shown, _, groups) in PEOPLE.items()
        ],
    )
    app.debug = False
    app.wsgi_app = plain  # type: ignore[method-assign]  # without the library's interactive debugger

    @app.before_request
    def only_what_a_sign_in_needs() -> Any:
        asked = flask.request
        back = asked.values.get("redirect_uri") or asked.values.get("post_logout_redirect_uri") or portal_url
        if asked.path not in _PATHS or not f"{back}/".startswith(f"{portal_url}/"):
            flask.abort(404)
        if asked.path == "/oauth2/authorize" and asked.args.get("prompt") == "none":
            answer = {"error": "login_required", "state": asked.args.get("state", "")}
            return flask.redirect(f"{back}?{urlencode(answer)}")
        if asked.path == "/oauth2/authorize" and asked.method == "POST" and asked.form.get("sub") not in PEOPLE:
            flask.abort(400)
        if asked.path == "/oauth2/end_session":
            return flask.redirect(back)
        return None

    @app.after_request
    def nothing_from_elsewhere(response: Any) -> Any:
        response.headers["Content-Security-Policy"] = "default-src 'none'; style-src 'self'; frame-ancestors 'none'"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    @app.get("/style.css")
    def style() -> Any:
        return flask.send_file(_HERE / "provider.css")

    @app.context_processor
    def people() -> dict[str, Any]:
        return {"people": PEOPLE}

    return app

"""Settings of the site, all from the environment (see `environ`); the defaults are those of production.

Importing this module never fails for a missing value, only for one that cannot be read: what production still
needs is said by the system checks (`system_checks`), all at once.
"""

import os
from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONE, SELF

from taugrid_portal import clusters, environ, logs

BASE_DIR = Path(__file__).resolve().parent.parent

# production; demo (sample data, started by `manage.py demo`); test (chosen when pytest runs).
PORTAL_MODE = environ.choice(
    "PORTAL_MODE",
    ("production", "demo", "test"),
    "test" if "PYTEST_VERSION" in os.environ else "production",
)
SAMPLE_DATA = PORTAL_MODE == "demo"
DEBUG = environ.boolean("DEBUG", False)

# Where people reach the portal. It decides the host that is answered, the redirect address told to the
# sign-in provider, and, when it is https, secure cookies and HSTS.
PORT = environ.integer("PORT", 8000, least=1, most=65535)
HOST = environ.string("HOST", "127.0.0.1")
PORTAL_URL = environ.string("PORTAL_URL", "" if PORTAL_MODE == "production" else f"http://localhost:{PORT}").rstrip("/")
BEHIND_TLS = PORTAL_URL.startswith("https://")
# The kubelet and Prometheus address the pod itself, so its address (downward API) is a host too.
ALLOWED_HOSTS = [
    f"[{host}]" if ":" in host else host for host in (urlsplit(PORTAL_URL).hostname, environ.string("POD_IP")) if host
]
CSRF_TRUSTED_ORIGINS = [PORTAL_URL] if PORTAL_URL.startswith(("http://", "https://")) else []
SECRET_KEY = environ.secret("SECRET_KEY", "only-for-tests " * 4 if PORTAL_MODE == "test" else "")

# --- sign-in ---------------------------------------------------------------------------------------------
OIDC_ISSUER = environ.string("OIDC_ISSUER")
OIDC_RP_CLIENT_ID = environ.string("OIDC_CLIENT_ID")
OIDC_RP_CLIENT_SECRET = environ.secret("OIDC_CLIENT_SECRET")
OIDC_RP_SCOPES = " ".join(environ.words("OIDC_SCOPES", ("openid", "profile")))
OIDC_SIGNING_ALGORITHMS = environ.words("OIDC_SIGNING_ALGORITHMS", ("RS256", "ES256"))
# As the API server's --oidc-username-claim and its siblings: people are named here as they are named there.
OIDC_USERNAME_CLAIM = environ.string("OIDC_USERNAME_CLAIM", "sub")
OIDC_USERNAME_PREFIX = environ.string("OIDC_USERNAME_PREFIX")
OIDC_GROUPS_CLAIM = environ.string("OIDC_GROUPS_CLAIM", "groups")
OIDC_GROUPS_PREFIX = environ.string("OIDC_GROUPS_PREFIX")
OIDC_TIMEOUT = environ.integer("OIDC_TIMEOUT_SECONDS", 5, least=1, most=30)
# After this long the provider is asked again, without a word to the person; groups change then.
OIDC_RENEW_ID_TOKEN_EXPIRY_SECONDS = environ.integer("OIDC_RENEW_SECONDS", 900, least=60, most=86400)
OIDC_USE_NONCE = OIDC_USE_PKCE = True
OIDC_PKCE_CODE_CHALLENGE_METHOD = "S256"
OIDC_AUTHENTICATION_CALLBACK_URL = "signin:callback"
OIDC_MAX_STATES = 20

AUTH_USER_MODEL = "taugrid_portal.Account"
AUTHENTICATION_BACKENDS = ["taugrid_portal.signin.backend.ProviderBackend"]
LOGIN_URL = "signin:begin"
LOGIN_REDIRECT_URL = "/"

# --- access ----------------------------------------------------------------------------------------------
# Who decides what a viewer may read: the API server, or a file of groups (demo, reading dumps).
ACCESS = environ.choice("ACCESS", ("kubernetes", "file"), "kubernetes" if PORTAL_MODE == "production" else "file")
ACCESS_BACKENDS = {
    "kubernetes": "taugrid_portal.access.kubernetes.KubernetesAccess",
    "file": "taugrid_portal.access.file.FileAccess",
}
ACCESS_FILE = environ.string("ACCESS_FILE")

# --- clusters --------------------------------------------------------------------------------------------
# The cluster the portal runs in, and others by kubeconfig (see `clusters`); only `sync` and the reviews ask them.
CLUSTERS = clusters.parse(environ.string("CLUSTER_NAME"), environ.words("CLUSTERS"))
# How many results and runs of a check the database keeps after they are gone from the cluster.
RESULTS_KEPT = environ.integer("RESULTS_KEPT", 1000, least=1)

# The fleet, the list of checks and their API are given again to the same viewer for so long, while nothing they say
# can have changed (see checks/queries/keeping); 0 makes each answer anew.
ANSWERS_KEPT_SECONDS = environ.integer("ANSWERS_KEPT_SECONDS", 0 if PORTAL_MODE == "test" else 30, most=300)

# --- evidence --------------------------------------------------------------------------------------------
# NAME=BASE by commas (see checks/evidence/configuration); credentials in EVIDENCE_STORE_<NAME>_<OPTION>[_FILE].
EVIDENCE_STORES = environ.words("EVIDENCE_STORES")
# A folder of files named by their sha256, beside a dump: then addresses are not asked at all.
EVIDENCE_FOLDER = environ.string("EVIDENCE_FOLDER")
# Verified evidence is read again after this long; evidence that could not be read for twice as long is unverified.
EVIDENCE_REVERIFY_SECONDS = environ.integer("EVIDENCE_REVERIFY_SECONDS", 3600, least=60, most=30 * 86400)
# Signs the statement in each bundle: an Ed25519 key in PEM, without a password. Without one bundles are not signed.
BUNDLE_SIGNING_KEY = environ.secret("BUNDLE_SIGNING_KEY")

# --- what runs -------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "taugrid_portal.apps.PortalConfig",
    "checks",
    "taugrid_portal.apps.ReviewAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "django_htmx",
    "template_partials",
]
MIDDLEWARE = [
    "taugrid_portal.requests_log.RequestLogMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "taugrid_portal.headers.HeadersMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "taugrid_portal.access.middleware.AccessMiddleware",
    "taugrid_portal.signin.wall.SignInWall",
]
ROOT_URLCONF = "taugrid_portal.urls"
WSGI_APPLICATION = "taugrid_portal.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "taugrid_portal.context.site",
            ],
        },
    },
]
DATABASES = {"default": environ.database("DATABASE_URL", BASE_DIR / "portal.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

# Production serves what `collectstatic` gathered, with names that change with the content.
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"] if (BASE_DIR / "static").is_dir() else []
WHITENOISE_USE_FINDERS = PORTAL_MODE != "production" or DEBUG
STATIC_ROOT = None if WHITENOISE_USE_FINDERS else environ.string("STATIC_ROOT", str(BASE_DIR / "build" / "static"))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if WHITENOISE_USE_FINDERS
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

# --- what browsers are told ------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_TLS else 0
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SESSION_COOKIE_NAME = "__Host-taugrid-session" if BEHIND_TLS else "taugrid-session"
CSRF_COOKIE_NAME = "__Host-taugrid-csrf" if BEHIND_TLS else "taugrid-csrf"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
# Lax, not Strict: the way back from the sign-in provider is a link from another site.
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
# The demo has one process and a database that its sample is written to every few seconds: sessions in memory
# never wait for that.
SESSION_ENGINE = f"django.contrib.sessions.backends.{'cache' if SAMPLE_DATA else 'db'}"
CSRF_FAILURE_VIEW = "taugrid_portal.errors.csrf_failure"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

REST_FRAMEWORK = {
    # The session of the page and nothing else: no token of any client is accepted.
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
SPECTACULAR_SETTINGS = {"TITLE": "TauGrid Portal", "VERSION": "1", "SERVE_INCLUDE_SCHEMA": False}

# --- what operators see ----------------------------------------------------------------------------------
# Prometheus sends this as a bearer token; without it /metrics does not exist (except on a laptop).
METRICS_TOKEN = environ.secret("METRICS_TOKEN")
METRICS_COLLECTOR = "checks.metrics.CheckStates"
LOGGING = logs.configuration(
    level=environ.choice("LOG_LEVEL", ("DEBUG", "INFO", "WARNING", "ERROR"), "INFO"), readable=DEBUG
)

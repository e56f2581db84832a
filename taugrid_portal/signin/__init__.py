"""Sign-in by OpenID Connect, on mozilla-django-oidc with its holes closed.

In reading order: `refusals` (every way it can end badly), `provider` (the only code that talks to the provider),
`tokens` (is this ID token ours?), `identity` (who is it, in the API server's words), `backend`, `views`, `wall`.
"""

"""The demo: a portal on a laptop with sample data, three people to sign in as, and nothing to install beside it.

In reading order: `environment` (settings, before Django reads them), `provider` (the local sign-in), `living`
(sample data that moves), and `manage.py demo`, which puts them together in one process.
"""

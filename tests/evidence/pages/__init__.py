"""Evidence looked at in a browser: whose, how, and what cannot happen."""

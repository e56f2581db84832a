"""Validation checks: what they are, when they are green, and how they are shown."""

__version__ = "0.1.0"

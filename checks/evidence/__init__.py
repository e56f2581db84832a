"""Artifacts: where evidence lies, and whether it is what the result says it is."""

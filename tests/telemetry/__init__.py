"""Telemetry: what is told of a run, and that a sink gets all of it, each line under one id."""

"""Tests of the site: settings, sign-in, access, probes, the demo."""

"""The published contract: kinds, envelope, report, reasons, canonical bytes. No Django, no Kubernetes client.

Anybody may import from here; docs/contract/ holds the same as JSON Schemas, and vectors/ as examples with answers.
"""

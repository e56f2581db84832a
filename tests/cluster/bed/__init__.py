"""A whole Kubernetes cluster on one machine: real programs, loopback addresses, one folder, nothing left
behind.

`control` is etcd and the API server; `cluster` adds controllers, Kueue and two real nodes. The pytest
fixtures are in `tests/cluster/fixtures.py`, and `python -m tests.cluster.bed` keeps one running for a
person.
"""

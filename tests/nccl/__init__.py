"""Tests of the NCCL check: the judge of logs, its runner and its manifests."""

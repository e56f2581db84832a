"""The NCCL check on the test bed: its manifests, its replay on two real nodes, and the five scenarios live."""

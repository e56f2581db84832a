"""What TauGrid's own tables are told of runs: lifecycle rows, metric events, and how they reach a sink.

Reading order: line, lifecycle, metric, runs, numbers, validating (all pure), spool, sinks, delivery, recorder. Every
line is derived from the run as it stands in the cluster: what was lost on the way is derived again, with the same ids.
"""

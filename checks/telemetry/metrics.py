"""What Prometheus reads of telemetry. Every label has a small closed set of values."""

from prometheus_client import Counter, Gauge

LINES = Counter("tau_telemetry_lines", "Rows and events taken into the spool, by table.", ["table"])
SENT = Counter("tau_telemetry_sent_lines", "Lines that a sink has acknowledged.", ["sink"])
FAILURES = Counter("tau_telemetry_failures", "Batches that a sink did not take; they are sent again.", ["sink"])
REFUSED = Counter("tau_telemetry_refused_lines", "Lines that a sink will never take; they are set aside.", ["sink"])
WAITING = Gauge("tau_telemetry_waiting_lines", "Lines that wait for a sink.", ["sink"])
OLDEST = Gauge("tau_telemetry_oldest_seconds", "Age of the oldest line that waits for a sink.", ["sink"])
PUT_OFF = Counter("tau_telemetry_put_off", "Looks at a run that could not be taken down yet, by why.", ["why"])
FULL = Gauge("tau_telemetry_spool_full", "1 while the spool has no room: runs go on, their lines are made later.")

"""What Prometheus reads of the controller. Every label has a small closed set of values."""

from prometheus_client import Counter, Gauge, Histogram

RECONCILES = Counter("tau_controller_reconciles", "Looks at one object, by kind and how they ended.", ["kind", "ended"])
STEPS = Counter("tau_controller_steps", "Steps taken on runs, by the step.", ["step"])
SEALED = Counter("tau_controller_runs_sealed", "Runs sealed, with or without a result.", ["ended"])
DURATION = Histogram("tau_controller_reconcile_seconds", "Time of one look at one object.", ["kind"])
WAITING = Gauge("tau_controller_queue", "Objects that wait to be looked at, or are looked at.")
ACTIVE = Gauge("tau_controller_active_runs", "Runs that are not sealed.")
LEADING = Gauge("tau_controller_leading", "1 while this process holds the Lease.")
WATCHES = Counter("tau_controller_watch_failures", "Watches that ended with an error, by kind.", ["kind"])

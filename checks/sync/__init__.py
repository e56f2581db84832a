"""Events and dumps to rows. The only part that writes the checks' tables; it never writes to a cluster."""

"""The only code that speaks to an API server. Reading, and asking who may read; never writing to a cluster."""

"""tau-check as a program against the real API server, by people with their own kubeconfigs."""

"""The site around the checks: settings, sign-in, access, probes. It holds no rule about checks."""

"""Few generated cases, and always the same ones: a mutant must be found by what is asserted, not by luck."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "mutation", max_examples=30, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile("mutation")

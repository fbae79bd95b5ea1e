"""Hypothesis profiles: the same few examples every time, or many new ones with ISOSCOPE_HYPOTHESIS=deep."""

import os

from hypothesis import HealthCheck, settings

# What is captured is compared to the letter, whatever the colours that a terminal is given elsewhere.
os.environ.pop("FORCE_COLOR", None)
# So are lines, whatever the width of the window that the tests run in.
os.environ["COLUMNS"] = "100"

# A history is drawn in many small steps, and two cores may be busy: neither says anything about the code.
_QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture)

settings.register_profile(
    "fast", derandomize=True, max_examples=60, deadline=None, database=None, suppress_health_check=_QUIET
)
settings.register_profile("deep", max_examples=3000, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("ISOSCOPE_HYPOTHESIS", "fast"))

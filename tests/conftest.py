"""What all tests share: how long and how randomly properties are searched."""

import os

from hypothesis import HealthCheck, settings

# A shared two-core machine may be slow without the code being wrong: no deadlines. A pipeline must fail for its change
# and not by chance: there the search is the same each time; on a desk it is random.
settings.register_profile(
    "project", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("project")

"""What happens, told as metrics, log lines and traces. docs/telemetry.md lists every name; start at `telemetry.py`.

Only OpenTelemetry's API is used here. Who listens is decided outside: with PYTHON_APPLICATIONINSIGHTS_ENABLE_TELEMETRY
the Functions worker configures Azure Monitor's distro before it loads the app, and configuring it again would send
everything twice. Where nobody listens, the API does nothing.
"""

from .logs import quiet_sdks
from .telemetry import Telemetry

__all__ = ["Telemetry", "quiet_sdks"]

"""A stand-in for Application Insights: takes what the Azure Monitor exporters send, and shows it.

Start reading at `service.py`. `python -m local.monitor` runs it.
"""

from .service import INSTRUMENTATION_KEY, Monitor

__all__ = ["INSTRUMENTATION_KEY", "Monitor"]

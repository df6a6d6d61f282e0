"""App settings: local.settings.json, the process environment, and what a test passes in, in rising order of weight."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import HostError

_REFERENCE = re.compile(r"%([^%]+)%")
# The host looks a connection up under its own name and under this prefix (Functions docs, "Connections").
_WEBJOBS_PREFIX = "AzureWebJobs"


@dataclass(frozen=True, slots=True)
class AppSettings:
    """The settings of one app, and the two ways bindings refer to them."""

    # Name to value; the worker process gets them as its environment.
    values: Mapping[str, str]

    @staticmethod
    def read(app_dir: Path, environment: Mapping[str, str], overrides: Mapping[str, str]) -> "AppSettings":
        """Merges the `Values` of local.settings.json (absent is fine), the environment and the overrides.

        Raises HostError when the file is encrypted or not what Core Tools would read.
        """
        return AppSettings({**_local_values(app_dir / "local.settings.json"), **environment, **overrides})

    def resolve(self, text: str) -> str:
        """Replaces every `%NAME%` by that setting ("Binding expressions - app settings").

        Raises HostError when a setting is missing, as the real host refuses to index the function.
        """

        def value(reference: re.Match[str]) -> str:
            name = reference.group(1)
            if name not in self.values:
                raise HostError(f"'%{name}%' does not resolve to a value: set the app setting {name}")
            return self.values[name]

        return _REFERENCE.sub(value, text)

    def connection(self, name: str, suffix: str = "") -> str | None:
        """The value of a connection setting, or None when neither spelling is set.

        `suffix` names one property of an identity-based connection, such as `__fullyQualifiedNamespace`.
        """
        return self.values.get(name + suffix) or self.values.get(_WEBJOBS_PREFIX + name + suffix) or None


def _local_values(file: Path) -> dict[str, str]:
    if not file.exists():
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise HostError(f"{file.name} is not JSON: {error}") from error
    if content.get("IsEncrypted"):
        raise HostError(f"{file.name} is encrypted: run `func settings decrypt`")
    values = content.get("Values", {})
    if not all(isinstance(value, str) for value in values.values()):
        raise HostError(f"every entry of Values in {file.name} must be a string")
    return dict(values)

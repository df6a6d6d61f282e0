"""The HTTP trigger: route templates, methods, and one function's answer as an HTTP response.

Source: Functions docs, "Azure Functions HTTP trigger". Authorization levels are accepted as they are, like Core Tools
does on a developer's machine.
"""

import re
from dataclasses import dataclass

from aiohttp import web

from ..bindings import TriggeredFunction
from ..errors import HostError, WorkerLost
from ..wire import HttpData, TypedData
from .base import Invoker

_PARAMETER = re.compile(r"\{(\*?)(\w+)(?::(\w+))?(\?)?\}")
# ASP.NET route constraints as regular expressions; others are refused rather than ignored.
_CONSTRAINTS = {None: "[^/]+", "int": r"-?\d+", "long": r"-?\d+", "guid": r"[0-9a-fA-F-]{36}", "alpha": "[a-zA-Z]+"}


@dataclass(frozen=True, slots=True)
class HttpRoute:
    """One HTTP function and the requests it answers."""

    function: TriggeredFunction
    # Upper case; empty means every method.
    methods: frozenset[str]
    # Matches the path below the route prefix.
    path: re.Pattern[str]

    @staticmethod
    def of(function: TriggeredFunction) -> "HttpRoute":
        """Reads the trigger's route and methods. Raises HostError for a template this host cannot match."""
        template = function.text("route") or function.function.name
        methods = function.trigger.get("methods") or ()
        pattern = re.compile(_pattern(template.strip("/"), function.function.name), re.IGNORECASE)
        return HttpRoute(function, frozenset(method.upper() for method in methods), pattern)

    def parameters(self, method: str, path: str) -> dict[str, str] | None:
        """The route parameters when this route answers the request, else None."""
        if self.methods and method not in self.methods:
            return None
        match = self.path.fullmatch(path)
        return match and {name: value for name, value in match.groupdict().items() if value is not None}

    async def answer(self, request: web.Request, parameters: dict[str, str], invoker: Invoker) -> web.Response:
        """Runs the function. Its exception becomes an empty 500, the death of its worker an empty 502."""
        value = HttpData(
            method=request.method,
            url=str(request.url),
            headers={name.lower(): text for name, text in request.headers.items()},
            query=dict(request.query),
            params=parameters,
            body=TypedData(binary=await request.read()),
        )
        target = self.function
        try:
            result = await invoker.invoke(target.function, target.parameter, TypedData(http=value), {})
        except WorkerLost:
            return web.Response(status=502)
        return web.Response(status=500) if result.error is not None else _response(result.returned)


def _pattern(template: str, name: str) -> str:
    pattern, position = "", 0
    for parameter in _PARAMETER.finditer(template):
        rest, parameter_name, constraint, optional = parameter.groups()
        if constraint not in _CONSTRAINTS:
            raise HostError(f"function {name}: the local host does not know the route constraint {constraint!r}")
        literal = template[position : parameter.start()]
        value = f"(?P<{parameter_name}>{'.*' if rest else _CONSTRAINTS[constraint]})"
        if optional and literal.endswith("/"):
            pattern += f"{re.escape(literal[:-1])}(?:/{value})?"
        else:
            pattern += re.escape(literal) + value
        position = parameter.end()
    literal = template[position:]
    if "{" in literal or "}" in literal:
        raise HostError(f"function {name}: the local host cannot read the route template {template!r}")
    return pattern + re.escape(literal)


def _response(returned: TypedData) -> web.Response:
    http = returned.http
    if http is None:
        body = _body(returned)
        return web.Response(body=body, content_type="text/plain", charset="utf-8") if body else web.Response(status=204)
    response = web.Response(status=http.status, body=_body(http.body), headers=http.headers)
    for cookie in http.cookies:
        response.headers.add("Set-Cookie", cookie)
    return response


def _body(value: TypedData) -> bytes:
    if value.binary is not None:
        return value.binary
    return (value.string or value.json or "").encode()

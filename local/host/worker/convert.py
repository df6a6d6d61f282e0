"""Between what travels to the host process (`wire`) and what the worker library handles (`protos`)."""

from datetime import UTC, datetime
from email.utils import format_datetime

from local.host import wire

from . import protos

# RpcHttpCookie.SameSite numbers that a Set-Cookie header mentions; 0 says nothing.
_SAME_SITE = {1: "Lax", 2: "Strict", 3: "None"}


def to_library(value: wire.TypedData) -> protos.TypedData:
    """The library's view of an incoming value."""
    http = value.http
    return protos.TypedData(
        string=value.string,
        json=value.json,
        bytes=value.binary,
        http=None
        if http is None
        else protos.RpcHttp(
            body=to_library(http.body),
            headers=http.headers,
            method=http.method,
            url=http.url,
            params=http.params,
            query=http.query,
        ),
        collection_string=None if value.strings is None else protos.CollectionString(list(value.strings)),
        collection_bytes=None if value.binaries is None else protos.CollectionBytes(list(value.binaries)),
        collection_sint64=None if value.integers is None else protos.CollectionSInt64(list(value.integers)),
    )


def retry_policy(options: protos.RpcRetryOptions | None) -> wire.RetryPolicy | None:
    """What the host process gets to see of `@app.retry`."""
    if options is None:
        return None
    delay, minimum, maximum = (
        interval.total_seconds() if interval else 0.0
        for interval in (options.delay_interval, options.minimum_interval, options.maximum_interval)
    )
    return wire.RetryPolicy(options.retry_strategy, options.max_retry_count, delay, minimum, maximum)


def to_wire(value: protos.TypedData | None) -> wire.TypedData:
    """What the host process gets to see of an outgoing value."""
    if value is None:
        return wire.TypedData()
    match value.WhichOneof("data"):
        case None:
            return wire.TypedData()
        case "int" | "double" as number:
            return wire.TypedData(json=repr(getattr(value, number)))
        case "http" if value.http:
            return wire.TypedData(http=_response(value.http))
        case "bytes":
            return wire.TypedData(binary=value.bytes)
        case "json":
            return wire.TypedData(json=value.json)
        case _:
            return wire.TypedData(string=value.string)


def _response(http: protos.RpcHttp) -> wire.HttpData:
    return wire.HttpData(
        status=int(http.status_code),
        headers=dict(http.headers),
        body=to_wire(http.body),
        cookies=tuple(_set_cookie(cookie) for cookie in http.cookies or ()),
    )


def _set_cookie(cookie: protos.RpcHttpCookie) -> str:
    parts = [f"{cookie.name}={cookie.value}"]
    if cookie.domain and cookie.domain.value:
        parts.append(f"Domain={cookie.domain.value}")
    if cookie.path and cookie.path.value:
        parts.append(f"Path={cookie.path.value}")
    if cookie.expires:
        moment = datetime.fromtimestamp(cookie.expires.value.seconds, UTC)
        parts.append(f"Expires={format_datetime(moment, usegmt=True)}")
    if cookie.max_age:
        parts.append(f"Max-Age={int(cookie.max_age.value)}")
    if cookie.secure and cookie.secure.value:
        parts.append("Secure")
    if cookie.http_only and cookie.http_only.value:
        parts.append("HttpOnly")
    if cookie.same_site in _SAME_SITE:
        parts.append(f"SameSite={_SAME_SITE[cookie.same_site]}")
    return "; ".join(parts)

"""The token check of `$cbs`. Source: OASIS AMQP Claims-based Security 1.0."""

from local.amqp import Condition

from .faults import MicrosoftCondition
from .requests import Request, Response

CBS_NODE = "$cbs"
TOKEN_TYPES = ("servicebus.windows.net:sastoken", "jwt")
ACCEPTED, BAD_REQUEST, UNAUTHORIZED = 202, 400, 401


def put_token(request: Request) -> Response:
    """Takes any token of a known type. Whether it grants anything is not checked here (see local/README.md)."""
    if request.operation != "put-token":
        text = f"The operation {request.operation!r} is not supported."
        return Response(BAD_REQUEST, text, Condition.NOT_ALLOWED)
    if request.properties.get("type") not in TOKEN_TYPES or not request.body:
        text = f"A token of one of the types {', '.join(TOKEN_TYPES)} is needed."
        return Response(UNAUTHORIZED, text, MicrosoftCondition.AUTH_FAILED)
    return Response(ACCEPTED, "Accepted")

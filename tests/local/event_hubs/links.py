"""Links over bare AMQP: asked for as the SDK would, refused, sent into and received from."""

from local.amqp import Rejected, Section
from local.amqp.message import sections
from local.amqp.performatives import Attach, Detach, Disposition, Transfer
from local.amqp.states import decode_error, decode_state
from local.amqp.values import Described, Symbol, UByte, UInt, symbols

from ..amqp.client import SOURCE_CODE, TARGET_CODE, Client
from .builders import RETENTION, an_encoded_event

HUB = "stock"
PARTITION = f"{HUB}/ConsumerGroups/$Default/Partitions/0"
TOPOLOGY = {
    "eventHubs": {HUB: {"partitionCount": 2, "messageRetention": f"PT{RETENTION}S", "consumerGroups": ["audit"]}}
}
SENDER, RECEIVER, OTHER_RECEIVER, REQUESTS, RESPONSES = range(5)  # link handles
NOT_FOUND, ARGUMENT, OUT_OF_RANGE = (
    "amqp:not-found",
    "com.microsoft:argument-error",
    "com.microsoft:argument-out-of-range",
)
STOLEN, UNSUPPORTED = "amqp:link:stolen", "amqp:not-implemented"


def ask_to_receive(
    client: Client,
    address: str = PARTITION,
    *,
    handle: int = RECEIVER,
    selector: object = None,
    epoch: object = None,
    name: str | None = None,
    metric: bool = False,
) -> None:
    """Send the attach of a receiver as the SDK would."""
    described = Described(Symbol("apache.org:selector-filter:string"), selector)
    filters = None if selector is None else {Symbol("apache.org:selector-filter:string"): described}
    properties = {Symbol("com.microsoft:epoch"): epoch, Symbol("com.microsoft:receiver-name"): name}
    client.send(
        Attach(
            name=f"receiver-{handle}",
            handle=UInt(handle),
            role=True,
            snd_settle_mode=UByte(2),
            source=Described(SOURCE_CODE, [address, None, None, None, None, None, None, filters]),
            target=Described(TARGET_CODE, ["test"]),
            desired_capabilities=symbols(["com.microsoft:enable-receiver-runtime-metric"]) if metric else None,
            properties={key: value for key, value in properties.items() if value is not None},
        )
    )


async def receive(client: Client, **wishes: object) -> None:
    """Attach a receiver, which must be let in."""
    ask_to_receive(client, **wishes)  # type: ignore[arg-type]
    assert (await client.expect(Attach)).source is not None


async def refusal(client: Client) -> str:
    """The condition with which the broker refuses the link just asked for."""
    answer = await client.expect(Attach)
    assert (answer.source, answer.target) == (None, None)
    return await reason(client)


async def reason(client: Client) -> str:
    """The condition with which the broker ends a link."""
    error = decode_error((await client.expect(Detach)).error)
    assert error is not None
    return error.condition


async def send(client: Client, *bodies: bytes, address: str = f"{HUB}/Partitions/0", handle: int = SENDER) -> None:
    """Send events, each of which must be accepted."""
    await client.attach_sender(address, handle=handle)
    for number, body in enumerate(bodies):
        client.send_message(an_encoded_event(body), delivery_id=number, handle=handle)
        assert not isinstance(decode_state((await client.expect(Disposition)).state), Rejected)


async def next_body(client: Client) -> bytes:
    _, payload = await client.expect_frame(Transfer)
    return body_of(payload)


def body_of(payload: bytes) -> bytes:
    (content,) = [payload[start:end] for code, start, _, end in sections(payload) if code == Section.DATA]
    return content[5:]  # descriptor, format code and length of a short data section

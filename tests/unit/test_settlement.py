"""The settlement client against the host's service over real gRPC."""

import pytest

from shared.transports.settlement import Settlement, SettlementError, address_in
from tests.examples import LOCK_TOKEN
from tests.settlement_service import client_of, serving


async def test_a_message_is_completed_by_its_lock_token() -> None:
    """Complete reaches the host with the token, and the message is no longer locked."""
    async with serving() as service, client_of(service) as settlement:
        await settlement.complete(LOCK_TOKEN)
        assert service.settled == [("complete",)]
        assert not service.locked


async def test_a_message_is_dead_lettered_with_reason_and_description() -> None:
    """Reason and description arrive in the fields where the host reads them, whatever language they are in."""
    async with serving() as service, client_of(service) as settlement:
        await settlement.dead_letter(LOCK_TOKEN, "Malformed", "orderId: Größe fehlt")
        assert service.settled == [("dead_letter", "Malformed", "orderId: Größe fehlt")]


async def test_a_token_that_the_host_does_not_know_is_an_error() -> None:
    """The host answers FAILED_PRECONDITION once a lock is gone, and the client says so."""
    async with serving() as service, client_of(service) as settlement:
        await settlement.complete(LOCK_TOKEN)
        with pytest.raises(SettlementError, match=r"Complete failed: FAILED_PRECONDITION .* not found"):
            await settlement.complete(LOCK_TOKEN)


async def test_a_host_that_hangs_is_given_up_on() -> None:
    """Every call has a deadline: a settlement without an answer becomes an error, not a stuck invocation."""
    async with serving() as service, client_of(service, deadline=0.05) as settlement:
        service.hangs = True
        with pytest.raises(SettlementError, match="Deadletter failed: DEADLINE_EXCEEDED"):
            await settlement.dead_letter(LOCK_TOKEN, "Malformed", "")


async def test_a_host_that_is_not_there_is_an_error() -> None:
    """A refused connection is a settlement that failed, not another kind of exception."""
    async with serving() as service:
        address = service.address
    settlement = Settlement(address, deadline=5.0)
    try:
        with pytest.raises(SettlementError, match="Complete failed: UNAVAILABLE"):
            await settlement.complete(LOCK_TOKEN)
    finally:
        await settlement.close()


def test_the_address_is_read_from_the_workers_command_line() -> None:
    """The host's address is found among all that the host passes to a worker."""
    line = "--host 127.0.0.1 --port 50821 --workerId w --requestId r --grpcMaxMessageLength 2147483647"
    more = "--functions-uri http://127.0.0.1:50821/ --functions-grpc-max-message-length 2147483647"
    assert address_in(f"{line} {more}".split()) == "127.0.0.1:50821"


@pytest.mark.parametrize("line", ["", "--host 127.0.0.1", "--port 1", "--functions-uri http://127.0.0.1:1/"])
def test_a_process_that_is_no_worker_says_so(line: str) -> None:
    """Without a host on the command line there is nobody to settle with, and the error tells why."""
    with pytest.raises(SettlementError, match="--host and --port"):
        address_in(line.split())

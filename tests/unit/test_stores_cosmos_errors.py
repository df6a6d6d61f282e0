"""Answers of Cosmos DB that no stand-in gives on demand, and what they mean."""

from typing import Any

import pytest
from azure.core.exceptions import ClientAuthenticationError, DecodeError, ServiceRequestError
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosClientTimeoutError

from shared.idempotency import Doubtful, TransientFailure
from shared.stores.cosmos_errors import commit_failure, is_absence, read_failure


def batch_error(status: int, **operation: Any) -> CosmosBatchOperationError:
    return CosmosBatchOperationError(
        error_index=0, headers={}, status_code=status, message="", operation_responses=[operation]
    )


def authentication_error(status: int) -> ClientAuthenticationError:
    error = ClientAuthenticationError("no token")
    error.status_code = status
    return error


def test_a_batch_in_which_every_operation_blames_another_is_transient() -> None:
    """The SDK then finds no status at all: nothing was written, and nobody was in the way."""
    assert type(commit_failure(batch_error(0, statusCode=424), sent=True)) is TransientFailure


def test_an_operation_says_how_long_to_wait() -> None:
    """Inside a batch it is a member, not a header."""
    failure = commit_failure(batch_error(429, statusCode=429, retryAfterMilliseconds=250), sent=True)
    assert isinstance(failure, TransientFailure)
    assert failure.retry_after == 0.25


def test_a_success_that_cannot_be_read_is_doubtful() -> None:
    """The commit happened, most likely, and its answer is lost."""
    broken = DecodeError("not JSON")
    broken.status_code = 200
    assert type(commit_failure(broken, sent=True)) is Doubtful


@pytest.mark.parametrize("error", [ServiceRequestError("x"), CosmosClientTimeoutError(), TimeoutError()])
def test_only_what_was_sent_is_doubtful(error: Exception) -> None:
    """The SDK calls an answer that never came a request that never went: what was sent decides."""
    assert type(commit_failure(error, sent=True)) is Doubtful
    assert type(commit_failure(error, sent=False)) is TransientFailure
    assert type(read_failure(error)) is TransientFailure


@pytest.mark.parametrize("status", [400, 401])
def test_no_token_means_wait(status: int) -> None:
    """Whatever the identity provider calls it: a person mends it while the messages wait."""
    assert type(commit_failure(authentication_error(status), sent=False)) is TransientFailure
    assert type(read_failure(authentication_error(status))) is TransientFailure
    assert not is_absence(authentication_error(404))

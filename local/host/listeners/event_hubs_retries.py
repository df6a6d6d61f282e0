"""Retry policies of the host: the same input again, in memory, with growing `retry_context`.

Sources: `FunctionExecutorExtensions.cs` and `ExponentialBackoffRetryAttribute.cs` of the WebJobs SDK, and its
`RandomizedExponentialBackoffStrategy.cs`.
"""

import random
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from itertools import count, repeat

from ..bindings import FOR_EVER
from ..wire import NO_RETRIES, Result, RetryContext, RetryPolicy

# How far the random part of an exponential pause may lie from its middle.
SPREAD = 0.2


async def with_retries(
    attempt: Callable[[RetryContext], Awaitable[Result]],
    policy: RetryPolicy | None,
    pause: Callable[[RetryContext, timedelta], Awaitable[bool]],
) -> Result:
    """The result of the last attempt; raises what `attempt` raises.

    `pause` waits before the retry that the context describes, and says whether to go on at all.
    """
    if policy is None:
        return await attempt(NO_RETRIES)
    result = await attempt(RetryContext(0, policy.max_retry_count))
    for retry, delay in zip(_retries(policy), pauses(policy), strict=False):
        if result.error is None:
            break
        context = RetryContext(retry, policy.max_retry_count, result.error, result.stack_trace)
        if not await pause(context, delay):
            break
        result = await attempt(context)
    return result


def pauses(policy: RetryPolicy) -> Iterator[timedelta]:
    """The policy's pauses, without end: always the same, or random ones that double until the maximum is reached."""
    if policy.strategy == "fixed_delay":
        yield from repeat(timedelta(seconds=policy.delay))
    pause, step = policy.minimum, policy.minimum
    while pause < policy.maximum:
        yield timedelta(seconds=pause)
        pause = policy.minimum + step * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311  spreads load, no secret
        step *= 2
    yield from repeat(timedelta(seconds=policy.maximum))


def _retries(policy: RetryPolicy) -> Iterator[int]:
    return count(1) if policy.max_retry_count == FOR_EVER else iter(range(1, policy.max_retry_count + 1))

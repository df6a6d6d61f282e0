"""`make run`: orders and stock movements while workers die and messages come twice; then what was lost or doubled."""

import argparse
import sys

from local.stack import run_until_signal
from local.stack.supervisor import LOGS

from . import orders, stream
from .run import run


def main() -> int:
    """Exit code 0: all is as planned; 1: it is not, or the run failed; 2: the arguments make no sense."""
    parser = argparse.ArgumentParser(prog="python -m local.demo", description=__doc__)
    parser.add_argument("--orders", type=int, default=200, help="how many orders are placed")
    parser.add_argument("--duplicates", type=float, default=0.3, help="share of messages that are sent twice, 0 to 1")
    parser.add_argument(
        "--crashes", type=int, default=2, help="how often the worker is killed: at most once an order, once a batch"
    )
    parser.add_argument("--events", type=int, default=2000, help="how many events are sent in all, 0 for no stream")
    parser.add_argument("--seed", type=int, default=1, help="the same seed sends the same messages")
    given = parser.parse_args()
    if given.orders < 1 or not 0 <= given.duplicates <= 1 or not 0 <= given.crashes <= given.orders or given.events < 0:
        parser.error(
            "orders is at least 1, duplicates lies between 0 and 1, crashes between 0 and orders, events is at least 0"
        )
    chance = {"duplicates": given.duplicates, "crashes": given.crashes, "seed": given.seed}
    messages = orders.draw(orders=given.orders, **chance)
    return run_until_signal(run(messages, stream.draw(events=given.events, **chance), LOGS))


if __name__ == "__main__":
    sys.exit(main())

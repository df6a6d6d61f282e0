"""What the SDK's tests take as their credential."""

import os


def get_credential(is_async: bool = False, **_: object) -> str:  # noqa: ARG001 - the signature that is called
    return os.environ["ACCOUNT_KEY"]

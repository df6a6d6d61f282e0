"""The command line of the demo."""

import sys

import pytest

from local.demo.__main__ import main


@pytest.mark.parametrize(
    "arguments",
    [["--orders", "0"], ["--duplicates", "1.5"], ["--orders", "3", "--crashes", "4"], ["--events", "-1"]],
)
def test_arguments_that_make_no_sense_are_refused(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is started."""
    monkeypatch.setattr(sys, "argv", ["demo", *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 2
    assert "orders is at least 1" in capsys.readouterr().err

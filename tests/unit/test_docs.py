"""The documents speak of what is: every test they name exists, and every crash that is tested is explained."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def names_of_tests_in(*files: str) -> set[str]:
    return {name for file in files for name in re.findall(r"def (test_\w+)", (ROOT / file).read_text())}


def test_failure_modes_names_every_crash_test_and_no_other():
    """The table of failures and the acceptance tests of crashes have the same rows."""
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs/failure-modes.md").read_text()))
    files = ("test_crashes", "test_death_before_settlement", "test_stream_crashes", "test_outages")
    assert named == names_of_tests_in(*(f"tests/acceptance/{file}.py" for file in files))


def test_links_between_documents_lead_somewhere():
    """A relative link in a document points to a file or folder of the project."""
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("local/**/README.md")]
    documents = [path for path in documents if "node_modules" not in path.parts]
    broken = [
        f"{path.relative_to(ROOT)}: {link}"
        for path in documents
        for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", path.read_text())
        if not (path.parent / link).exists()
    ]
    assert broken == []

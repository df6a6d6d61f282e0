"""Every file is Bicep, and nothing in the tree dangles. The compiler finds more; it runs in the test workflow."""

import json
import re

import pytest

from .bicep import read
from .tree import INFRA, files, text

FILES = files()
CALLED = [(file.path.stem, module) for file in FILES.values() for module in file.modules]
OUTPUT = re.compile(r"\b(\w+)!?\.outputs\.(\w+)")


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_bicep(name):
    """The grammar accepts the whole file."""
    assert FILES[name].syntax_errors == ()


def test_what_is_no_bicep_is_found(tmp_path):
    """The check above can fail."""
    (tmp_path / "broken.bicep").write_text("param name string\nresource x 'A/b@2024-01-01' = {\n  name name\n}\n")
    assert read(tmp_path / "broken.bicep").syntax_errors


@pytest.mark.parametrize("name", FILES)
def test_names_are_declared_and_declared_names_are_used(name):
    """A misspelt name, and a parameter or variable that nothing reads, are both mistakes."""
    file = FILES[name]
    symbols = {one.symbol.split("::")[-1] for one in file.resources} | {module.symbol for module in file.modules}
    declared = set(file.parameters) | set(file.variables)
    assert file.used - declared - symbols - file.local == set()
    assert declared - file.used == set()


@pytest.mark.parametrize(("caller", "module"), CALLED, ids=lambda one: getattr(one, "symbol", one))
def test_modules_are_given_what_they_declare(caller, module):
    """Neither a parameter that the module does not know, nor one that nobody sets."""
    assert module.path.is_file()
    assert set(module.body["params"]) == set(read(module.path).parameters)


def test_every_module_is_used():
    """A file that nothing refers to deploys nothing."""
    used = {module.path.resolve() for _, module in CALLED}
    assert {file.path.resolve() for file in FILES.values()} - used == {(INFRA / "main.bicep").resolve()}


def test_modules_and_types_need_no_network():
    """No registry: the tree compiles wherever a compiler is."""
    assert [module.path for _, module in CALLED if ":" in str(module.path)] == []


def test_outputs_that_are_read_exist_and_outputs_that_exist_are_read():
    """For every `module.outputs.name`; what the main file puts out is for azd and for people."""
    for file in FILES.values():
        modules = {module.symbol: read(module.path) for module in file.modules}
        read_here = set(OUTPUT.findall(file.path.read_text()))
        offered = {(symbol, name) for symbol, module in modules.items() for name in module.outputs}
        assert read_here == offered, file.path.name


def test_files_that_are_loaded_exist_and_files_that_exist_are_loaded():
    """Queries, the workbook, roles and names."""
    loaded = {path.resolve() for file in FILES.values() for path in file.loaded}
    assert [path for path in loaded if not path.is_file()] == []
    kept = {path.resolve() for pattern in ("**/*.kql", "*.json") for path in INFRA.glob(pattern)}
    assert kept - loaded == {(INFRA / "main.parameters.json").resolve()}


def test_the_parameters_file_sets_every_parameter():
    """azd fills in the values; a parameter that nobody sets does not exist."""
    given = json.loads((INFRA / "main.parameters.json").read_text())["parameters"]
    assert set(given) == set(FILES["main"].parameters)
    assert not any(FILES["main"].parameters.values()), "defaults live in main.parameters.json alone"


def test_abbreviations_are_those_that_are_used():
    """Every name begins with what its kind is abbreviated to."""
    known = json.loads((INFRA / "abbreviations.json").read_text())
    assert set(re.findall(r"{abbreviations\.(\w+)", (INFRA / "main.bicep").read_text())) == set(known)


def test_topology_comes_from_the_file_that_the_app_reads():
    """Queues, hubs and containers are not written down a second time."""
    assert text(FILES["main"].variables["topology"]) == "loadJsonContent('../shared/topology.json')"
    given = {module.symbol: module.body["params"] for module in FILES["main"].modules}
    assert text(given["serviceBus"]["queues"]) == "items(topology.queues)"
    assert text(given["eventHubs"]["hubs"]) == "items(topology.eventHubs)"
    assert text(given["cosmos"]["containers"]) == "items(topology.containers)"
    assert text(given["cosmos"]["databaseName"]) == "topology.database"

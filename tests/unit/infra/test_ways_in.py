"""azd, Core Tools and the workflows: what they read fits what is there."""

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml
from pathspec import GitIgnoreSpec

from .tree import INFRA, ROOT, files, text

FILES = files()
DEPLOYED = {"function_app.py", "host.json", "requirements.txt", "shared"}
WORKFLOWS = {path.stem: path for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}


@cache
def ignored():
    return GitIgnoreSpec.from_lines((ROOT / ".funcignore").read_text().splitlines())


@cache
def kept_files():
    """What azd and Core Tools would take: they walk the folder, whatever git thinks of it."""
    kept = []
    for top in sorted(ROOT.iterdir()):
        if not ignored().match_file(f"{top.name}/" if top.is_dir() else top.name):
            found = [top] if top.is_file() else [path for path in top.rglob("*") if path.is_file()]
            names = [str(path.relative_to(ROOT)) for path in found]
            kept += [name for name in names if not ignored().match_file(name)]
    return kept


def test_the_package_is_the_app_and_nothing_else():
    """Whatever appears at the top level is either needed or left out on purpose."""
    assert {Path(name).parts[0] for name in kept_files()} == DEPLOYED
    assert not [name for name in kept_files() if "__pycache__" in name]


def test_the_package_is_enough_to_load_the_app(tmp_path):
    """The worker imports function_app.py from the package: no file may be missing."""
    for name in kept_files():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    script = "import function_app; print(len(function_app.app.get_functions()))"
    loaded = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert loaded.returncode == 0, loaded.stderr
    decorated = re.findall(r"^@app\.(?:\w+_trigger|route)\(", (ROOT / "function_app.py").read_text(), re.MULTILINE)
    assert int(loaded.stdout) == len(decorated)


def test_secrets_of_a_developer_stay_at_home():
    """Local settings may hold keys."""
    assert ignored().match_file("local.settings.json")
    assert ignored().match_file(".azure/dev/.env")
    assert ignored().match_file(".venv/bin/python")


def test_azd_finds_the_app_of_its_service():
    """The service's name is the value of the app's tag; the project's folder holds the app."""
    project = yaml.safe_load((ROOT / "azure.yaml").read_text())
    ((service, how),) = project["services"].items()
    assert how == {"project": ".", "language": "python", "host": "function"}
    assert (ROOT / how["project"] / "host.json").is_file()
    tags = text(FILES["function-app"].the("Microsoft.Web/sites").body["tags"])
    assert tags == f"union(tags, {{ 'azd-service-name': '{service}' }})"
    assert f"SERVICE_{service.upper()}_NAME" in FILES["main"].outputs


def test_azd_asks_for_a_place_and_names_the_environment():
    """`azd up` needs nothing on its command line."""
    assert "type: 'location'" in FILES["main"].decorators["location"]
    assert FILES["main"].variables["tags"].keys() == {"azd-env-name"}
    assert FILES["main"].scope == "subscription"
    given = json.loads((INFRA / "main.parameters.json").read_text())["parameters"]
    values = {name: one["value"] for name, one in given.items()}
    assert values["environmentName"] == "${AZURE_ENV_NAME}"
    assert values["location"] == "${AZURE_LOCATION}"
    assert values["principalId"] == "${AZURE_PRINCIPAL_ID}"
    asked = {name for name, value in values.items() if "=" not in value}
    assert asked == {"environmentName", "location", "principalId"}, "everything else has a value of its own"


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflows_keep_no_secret(name):
    """Variables only; whoever signs in does so with a token of the workflow."""
    source = WORKFLOWS[name].read_text()
    assert "secrets." not in source
    assert yaml.safe_load(source)["permissions"]["contents"] == "read"


def test_deployment_signs_in_without_a_secret_and_sets_every_parameter():
    """OpenID Connect; the choices that have defaults can be made as variables of the repository."""
    workflow = yaml.safe_load(WORKFLOWS["deploy"].read_text())
    assert workflow["permissions"]["id-token"] == "write"
    (job,) = workflow["jobs"].values()
    given = (INFRA / "main.parameters.json").read_text()
    chosen = set(re.findall(r"\$\{(\w+)", given)) - {"AZURE_PRINCIPAL_ID"}  # azd's own: whoever it signed in as
    assert chosen <= set(job["env"])
    commands = " ".join(step.get("run", "") for step in job["steps"])
    assert "--federated-credential-provider github" in commands
    assert set(re.findall(r"azd env get-value (\w+)", commands)) <= set(FILES["main"].outputs)


def test_the_test_workflow_runs_what_people_run():
    """And compiles the templates, since it has the compiler."""
    workflow = yaml.safe_load(WORKFLOWS["test"].read_text())
    commands = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    assert "bash .ci/run" in commands
    assert any(command.startswith("az bicep build --file infra/main.bicep") for command in commands)

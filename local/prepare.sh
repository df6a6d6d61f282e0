#!/bin/sh
# Sets up one part of the project: `sh local/prepare.sh python|azurite STAMP`. The Makefile calls it.
# The stamp file is written last: set-up that was interrupted is done again, from the start.
set -eu

LOG_DIRECTORY=local/.run

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

# quietly TITLE LOG COMMAND…: says what takes time and for how long; shows the command's output only if it fails.
quietly() {
    title=$1 log=$LOG_DIRECTORY/$2
    shift 2
    mkdir -p "$LOG_DIRECTORY"
    started=$(date +%s)
    printf '%s …\n' "$title"
    if ! "$@" >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        fail "$title failed. What it printed is above."
    fi
    printf '%s: done in %s s\n' "$title" "$(($(date +%s) - started))"
}

is_python_3_13() {
    # A command of this name may be a version manager's shim that fails, so it has to prove itself.
    "$1" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 13))' >/dev/null 2>&1 </dev/null
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        is_python_3_13 "$PYTHON" || fail "PYTHON=$PYTHON is not a working Python 3.13."
        printf '%s\n' "$PYTHON"
        return
    fi
    for candidate in python3.13 python3 python "${HOME:-}"/.pyenv/versions/3.13*/bin/python; do
        if is_python_3_13 "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    fail 'Python 3.13 is needed and was not found.' \
        'Install it (python.org; apt install python3.13-venv; brew install python@3.13; pyenv install 3.13)' \
        'or name it: make … PYTHON=/path/to/python3.13'
}

prepare_python() {
    unfinished=.venv/.unfinished
    if ! is_python_3_13 .venv/bin/python || [ -e "$unfinished" ]; then
        python=$(find_python)
        "$python" -c 'import ensurepip, venv' 2>/dev/null ||
            fail "$python lacks the modules venv and ensurepip. On Debian and Ubuntu: apt install python3.13-venv"
        quietly 'Creating .venv' venv.log "$python" -m venv --clear .venv
    fi
    : >"$unfinished" # an installation cut short can leave half a package that looks whole
    # Compiling every module takes longer than all else; Python compiles those that are used, when they are.
    quietly 'Installing Python packages' pip.log .venv/bin/python -m pip install --no-compile --no-input \
        --disable-pip-version-check -r requirements-dev.txt -c constraints.txt
    rm -f "$unfinished"
}

prepare_azurite() {
    node --version >/dev/null 2>&1 && npm --version >/dev/null 2>&1 ||
        fail 'Node 20 or newer, with npm, is needed for Azurite and was not found. Install it from nodejs.org.'
    node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' ||
        fail "Node 20 or newer is needed for Azurite; $(command -v node) is $(node --version)."
    # npm ci removes node_modules first. No package of Azurite needs its install scripts. The lock file says what each
    # package is, so what is in npm's cache need not be asked for again: that took minutes.
    quietly 'Installing Azurite' npm.log \
        npm ci --prefix local/azurite --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
}

case "$1" in
python) prepare_python ;;
azurite) prepare_azurite ;;
*) fail "prepare.sh knows python and azurite, not '$1'." ;;
esac
: >"$2"

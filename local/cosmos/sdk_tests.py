"""`python -m local.cosmos.sdk_tests TESTS [FILE …]`: run azure-cosmos' own tests against the stand-in.

TESTS is the `tests` folder of the SDK's source distribution (local/README.md says how to get it). Each file runs in a
process of its own, because the SDK keeps caches for the whole process. Exit status 0 only if no test of them failed.

Twenty of the tests go to https://localhost:8081 whatever they are told; --https serves there, with a certificate made
on the spot.
"""

import argparse
import asyncio
import datetime
import os
import ssl
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from .__main__ import DEFAULT_PORT as EMULATOR_PORT
from .service import Cosmos

EXPECTED_TO_PASS = (
    "test_transactional_batch.py",
    "test_transactional_batch_async.py",
    "test_ttl.py",
    "test_change_feed.py",
    "test_change_feed_async.py",
    "test_feed_range.py",
    "test_feed_range_async.py",
    "test_crud_database.py",
    "test_crud_database_async.py",
    "test_orderby.py",
    "test_multi_orderby.py",
    "test_aggregate.py",
    "test_read_items.py",
    "test_read_items_async.py",
    "test_cosmos_responses.py",
    "test_cosmos_responses_async.py",
    "test_session.py",
    "test_session_async.py",
    "test_retryable_writes.py",
    "test_retryable_writes_async.py",
)
STUBS = Path(__file__).with_name("sdk_stubs")
FILE_DEADLINE_SECONDS = 600  # a whole file; the slowest takes a few minutes on a busy machine
TEST_DEADLINE_SECONDS = 120  # one test


@dataclass(frozen=True, slots=True)
class FileResult:
    """What came of one test file."""

    name: str
    passed: int
    failed: tuple[str, ...]  # names of failing tests, or why the file could not be run
    skipped: int

    def __str__(self) -> str:
        line = f"{self.name:48} {self.passed:4} of {self.passed + len(self.failed):4} passed, {self.skipped} skipped"
        return "\n".join([line, *(f"    {name}" for name in self.failed)])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m local.cosmos.sdk_tests", description=__doc__)
    parser.add_argument("tests", type=Path, help="the SDK's tests folder")
    parser.add_argument("files", nargs="*", default=EXPECTED_TO_PASS, help="test files; default: those that must pass")
    parser.add_argument("--https", action="store_true", help=f"serve https on port {EMULATOR_PORT}, which must be free")
    options = parser.parse_args()
    results = asyncio.run(_run(options.tests.resolve(), options.files, options.https))
    sys.exit(0 if results and not any(result.failed for result in results) else 1)


async def _run(tests: Path, files: tuple[str, ...], https: bool) -> list[FileResult]:
    results = []
    port, tls = (EMULATOR_PORT, _self_signed()) if https else (0, None)
    for name in files:
        async with Cosmos.serving(port=port, tls=tls) as running:
            result = await _run_file(running, tests, name)
        print(result, flush=True)
        results.append(result)
    passed = sum(result.passed for result in results)
    print(f"{passed} of {passed + sum(len(result.failed) for result in results)} passed over {len(results)} files")
    return results


async def _run_file(running: Cosmos, tests: Path, name: str) -> FileResult:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        options = ["-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", f"--timeout={TEST_DEADLINE_SECONDS}"]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pytest", *options, f"--junitxml={report}", str(tests / name)),
            cwd=tests,
            env={
                **os.environ,
                "ACCOUNT_HOST": running.endpoint,
                "ACCOUNT_KEY": running.key,
                "PYTHONPATH": os.pathsep.join([str(STUBS), str(tests)]),
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(FILE_DEADLINE_SECONDS):
                output, _ = await process.communicate()
        except TimeoutError:
            return FileResult(name, 0, (f"not done after {FILE_DEADLINE_SECONDS} s",), 0)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return _result(name, report, output.decode(errors="replace"))


def _self_signed() -> ssl.SSLContext:
    """A server's TLS context for `localhost`; the SDK does not check certificates of that host."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as file:  # the ssl module reads certificates from files only
        file.write(certificate.public_bytes(Encoding.PEM))
        file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        file.flush()
        context.load_cert_chain(file.name)
    return context


def _result(name: str, report: Path, output: str) -> FileResult:
    if not report.exists():
        return FileResult(name, 0, (f"pytest did not start: {output[-2000:]}",), 0)
    passed, skipped, failed = 0, 0, []
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314 - written by our own child process
        fault = case.find("failure") if case.find("failure") is not None else case.find("error")
        if fault is not None:
            first_line = (fault.get("message") or "").partition("\n")[0]
            failed.append(f"{case.get('name')}: {first_line[:160]}")
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return FileResult(name, passed, tuple(failed), skipped)


if __name__ == "__main__":
    main()

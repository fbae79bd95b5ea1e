"""`python -m benchmarks kernel-mutations --full`: are errors of the kernel found?

All mutants are compiled at once, each behind a switch, so that two builds are enough: the unit tests of the
kernel, and the extension in a copy of the package. The variable `ISOSCOPE_MUTANT` turns one of them on. For
each one it prints whether the unit tests fail, and what becomes of the certificates of random histories.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.suite import Measurement

from tests.verify.kernel_mutants import MUTANTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.verify.kernel_mutants import Mutant

ROOT = Path(__file__).parents[2]
SWITCH = """//! Tells which mutant is on.
/// Whether the mutant with this number is on.
pub fn is_on(number: usize) -> bool {
    static ON: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *ON.get_or_init(|| std::env::var("ISOSCOPE_MUTANT").map_or(0, |on| on.parse().unwrap_or(0))) == number
}
"""
#: Fast to build: what matters is the verdicts.
PROFILE = [
    "--config=profile.release.lto='off'",
    "--config=profile.release.codegen-units=16",
    "--config=profile.release.opt-level=1",
]
HISTORIES, TEST_SECONDS, VERDICT_SECONDS = 80, 200, 300


def measurements() -> Iterator[Measurement]:
    """Builds, and runs every mutant."""
    with tempfile.TemporaryDirectory() as folder:
        built = _built(Path(folder))
        right = _verdicts(built / "package", 0)
        assert right is not None, "the right kernel stops"
        for number, mutant in enumerate(MUTANTS, start=1):
            found = _verdicts(built / "package", number)
            module = mutant.file.removesuffix(".rs").split("/")[0]
            tests = _unit_tests(built / "unit-tests", module, number)
            yield _measurement(mutant, tests, _compared(right, found))


def _built(folder: Path) -> Path:
    """The folder with both builds."""
    _mutated_copy(folder)
    _build_tests(folder)
    _build_package(folder)
    package = folder / "package" / "isoscope"
    shutil.copytree(
        ROOT / "src" / "isoscope", package, ignore=shutil.ignore_patterns("*.so"), dirs_exist_ok=True
    )
    return folder


def _mutated_copy(folder: Path) -> None:
    shutil.copytree(ROOT / "rust", folder / "rust", ignore=shutil.ignore_patterns("target", "fuzz"))
    kernel = folder / "rust" / "kernel" / "src"
    (kernel / "mutants.rs").write_text(SWITCH)
    library = kernel / "lib.rs"
    library.write_text(library.read_text().replace("mod atom_search;", "mod atom_search;\npub mod mutants;"))
    for number, mutant in enumerate(MUTANTS, start=1):
        file = kernel / mutant.file
        file.write_text(switched(file.read_text(), number, mutant))


def switched(text: str, number: int, mutant: Mutant) -> str:
    """The file with the mutant behind its switch."""
    context = mutant.context or mutant.right
    if text.count(context) != 1:
        raise ValueError(f"{mutant.file} has `{context}` {text.count(context)} times, expected once")
    if mutant.right.startswith("|| "):
        right = mutant.right.removeprefix("|| ")
        changed = f"|| (!crate::mutants::is_on({number}) && {right})"
    else:
        changed = f"(if crate::mutants::is_on({number}) {{ {mutant.wrong} }} else {{ {mutant.right} }})"
    return text.replace(context, context.replace(mutant.right, changed))


def _cargo(folder: Path, *arguments: str) -> str:
    environment = os.environ | {
        "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(folder / "target"))
    }
    command = ["cargo", *arguments, "--release", *PROFILE, "--message-format=json"]
    done = subprocess.run(
        command, cwd=folder / "rust", env=environment, check=False, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def _artifacts(messages: str) -> Iterator[Mapping[str, object]]:
    for line in messages.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact":
            yield message


def _build_tests(folder: Path) -> None:
    built = _artifacts(_cargo(folder, "test", "--lib", "--no-run", "--package=isoscope-kernel"))
    [program] = [str(one["executable"]) for one in built if one.get("executable")]
    shutil.copy(program, folder / "unit-tests")


def _build_package(folder: Path) -> None:
    built = list(_artifacts(_cargo(folder, "build", "--package=isoscope-binding")))
    [library] = [name for one in built for name in one["filenames"] if str(name).endswith("_native.so")]  # type: ignore[attr-defined]  # JSON
    shutil.copytree(ROOT / "src" / "isoscope", folder / "package" / "isoscope")
    for old in (folder / "package" / "isoscope").glob("_native*.so"):
        shutil.copy(library, old)


def _unit_tests(program: Path, module: str, number: int) -> str:
    environment = os.environ | {"ISOSCOPE_MUTANT": str(number)}
    try:
        done = subprocess.run(
            [str(program), "--quiet", f"{module}::"],
            env=environment,
            check=False,
            capture_output=True,
            timeout=TEST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return "fail"
    return "fail" if done.returncode else "pass"


def _verdicts(package: Path, number: int) -> dict[str, list[str]] | None:
    """For each history and level the outcome and what the verifier says; None if the check stops."""
    path = os.pathsep.join([str(package), str(ROOT)])
    environment = os.environ | {"ISOSCOPE_MUTANT": str(number), "PYTHONPATH": path}
    command = [sys.executable, "-m", "tests.verify.certified_histories", "--verdicts", str(HISTORIES)]
    try:
        done = subprocess.run(
            command, env=environment, check=False, capture_output=True, text=True, timeout=VERDICT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return None
    if number == 0 and done.returncode:
        sys.exit(done.stderr)
    return dict(json.loads(line) for line in done.stdout.splitlines())


def _compared(right: dict[str, list[str]], found: dict[str, list[str]] | None) -> Counter[str]:
    """Decided levels that differ from those of the right kernel, by what became of their certificate."""
    counts: Counter[str] = Counter()
    for name, (outcome, proved) in (found or {}).items():
        if {outcome, right[name][0]} == {"holds", "violated"}:
            counts[proved] += 1
    counts["stopped"] = sum(name not in (found or {}) for name in right)
    return counts


def _measurement(mutant: Mutant, tests: str, counts: Counter[str]) -> Measurement:
    def code(text: str) -> str:
        return f"`{text.replace('|', chr(92) + '|')}`" if text else "nothing"

    figures = {
        "wrong": code(mutant.wrong),
        "unit tests": tests,
        "rejected": str(counts["rejected"]),
        "uncertified": str(counts["uncertified"] + counts["stopped"]),
        "verified": str(counts["verified"]),
    }
    return Measurement(f"{mutant.file}: {code(mutant.right)}", figures)

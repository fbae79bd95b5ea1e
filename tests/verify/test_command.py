"""`isoscope verify` and `python -m isoscope.verify`: what they say, and their exit status."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from isoscope.cli.program import group
from isoscope.errors import UsageError
from isoscope.verify import main

if TYPE_CHECKING:
    from pathlib import Path

HISTORY = "w(1,1,1,1)\nr(1,1,2,2)\nw(2,5,2,2)\nr(2,5,1,3)\n"
HEADER: dict[str, Any] = {"isoscope_certificate": 1}
WITNESS = {"witness": "a", "order": [1, 2, 3]}
HOLDS = {"level": "serializable", "outcome": "holds", "witness": "a"}


@pytest.fixture(name="history")
def history_file(tmp_path: Path) -> Path:
    path = tmp_path / "history.txt"
    path.write_text(HISTORY)
    return path


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "history.certificate"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_right_certificate_is_verified(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate = written(
        history.parent, HEADER, WITNESS, HOLDS, {"level": "cut-isolation", "outcome": "holds"}
    )
    assert main([str(history), str(certificate)]) == 0
    said = f"Verified: 2 verdicts of {history} are proved.\n\n"
    said += "  verified  holds     serializable\n  verified  holds     cut-isolation\n"
    assert capsys.readouterr().out == said


def test_a_wrong_certificate_is_rejected_with_the_reason_first(
    history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = written(history.parent, HEADER, WITNESS | {"order": [2, 1, 3]}, HOLDS)
    assert main([str(history), str(certificate)]) == 1
    reason = "T2 reads 1 in operation 0, where the replay has 0"
    said = (
        f"Rejected: that serializable holds is not proved: {reason}.\n\n  rejected  holds     serializable\n"
    )
    assert capsys.readouterr().out == said


def test_a_level_without_proof_is_not_verified(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = {"level": "pl-2", "outcome": "holds", "uncertified": "the history has range reads"}
    certificate = written(history.parent, HEADER, WITNESS, HOLDS, line)
    assert main([str(history), str(certificate)]) == 1
    assert (
        "pl-2 holds is not proved: it has no proof: the history has range reads." in capsys.readouterr().out
    )
    assert main([str(history), str(certificate), "--level", "serializable"]) == 0


def test_initial_values_of_the_certificate_are_told(
    history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history.write_text("r(1,7,1,1)\n")
    initial = {"value": "7", "replaceable": False, "of_key": []}
    lines = [WITNESS | {"order": [1]}, HOLDS]
    assert main([str(history), str(written(history.parent, HEADER | {"initial": initial}, *lines))]) == 0
    assert "assumed: initial values as the certificate has them: 7\n" in capsys.readouterr().out
    assert main([str(history), str(written(history.parent, HEADER, *lines))]) == 1


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([{"isoscope_certificate": 2}], "expected a certificate of version 1"),
        ([HEADER | {"hint": 1}], "expected no field 'hint' in the header"),
        ([HEADER, WITNESS | {"hint": 1}], "expected no field 'hint' in a witness"),
        ([HEADER, {"witness": "a"}], "witness a needs one of order, events and versions"),
        ([HEADER, WITNESS, WITNESS], "expected a new name of a witness, found 'a'"),
        (
            [HEADER, {"level": "update-atomic", "outcome": "holds"}],
            "no certificate can be made for the level",
        ),
        ([HEADER, {"level": "pl-2", "outcome": "unknown"}], "expected an outcome, holds or violated"),
        ([HEADER, 7], "expected an object"),
        ([HEADER], "the certificate has no verdict"),
    ],
)
def test_a_file_that_is_no_certificate_is_bad_input(
    lines: list[Any], reason: str, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(history), str(written(history.parent, *lines))]) == 2
    assert reason in capsys.readouterr().err


def test_the_command_line_says_the_same(history: Path) -> None:
    certificate = history.with_name("history.certificate.gz")
    content = "".join(json.dumps(line) + "\n" for line in (HEADER, WITNESS, HOLDS))
    certificate.write_bytes(gzip.compress(content.encode()))
    runner = CliRunner()
    verified = runner.invoke(group, ["verify", str(history), str(certificate)], standalone_mode=False)
    assert (verified.return_value, verified.output.split(":")[0]) == (0, "Verified")
    named = ["verify", str(history), str(certificate), "--level", "ser"]
    assert runner.invoke(group, named, standalone_mode=False).return_value == 0
    history.write_text('{"tid": 1, "ops": []}\n')
    refused = runner.invoke(group, ["verify", str(history), str(certificate)], standalone_mode=False)
    assert isinstance(refused.exception, UsageError)
    assert "`isoscope convert` makes one of them" in str(refused.exception)


def test_the_verifier_loads_nothing_else_of_the_package(history: Path) -> None:
    certificate = written(history.parent, HEADER, WITNESS, HOLDS)
    program = (
        "import sys; from isoscope.verify import main; status = main(sys.argv[1:]);"
        "ours = [m for m in sys.modules if m[:9] == 'isoscope.' and m[:15] != 'isoscope.verify'];"
        "sys.exit(status or len(ours))"
    )
    line = [sys.executable, "-c", program, str(history), str(certificate)]
    assert subprocess.run(line, check=False, capture_output=True).returncode == 0
    line = [sys.executable, "-m", "isoscope.verify", str(history), str(certificate)]
    assert subprocess.run(line, check=False, capture_output=True).returncode == 0

"""`python -m docs.findings [NAME...]`: runs real databases again and writes `docs/examples`.

Each finding is a command and what its history must show; one that does not is an error. The servers are those
that are installed here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import isoscope
from docs.database_findings import FINDINGS, Finding
from isoscope import Outcome

__all__ = ["FOLDER", "problems", "reproduce"]

FOLDER = Path(__file__).with_name("examples")
#: The first lines of anomalies, of the heading and of the exit status; and of the outcomes.
_PART = re.compile(r"[a-z-]+: [0-9,]+ found\n|.* \(parquet\): |exit status ")
_OUTCOMES = re.compile(r"  (in short|violated|holds)  ")


def reproduce(finding: Finding, folder: Path) -> str:
    """Runs it in `folder`, which then holds the history and the report; what was printed."""
    given = ["--out", f"{finding.name}.parquet", "--report", f"{finding.name}.html"]
    run = ["-m", "isoscope", "run", *finding.arguments.split(), "--all", *given]
    script = [str(FOLDER / f"{finding.name}.py")]
    done = subprocess.run(
        [sys.executable, *(run if finding.arguments else script)],
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
        capture_output=True,
        check=False,
        text=True,
        timeout=300,
    )
    if done.returncode:
        raise RuntimeError(f"{finding.name}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.rstrip() + "\n"


def shrunk(finding: Finding, folder: Path) -> str:
    """The report on the few transactions of its history that are enough to violate `finding.shrinks`."""
    assert finding.shrinks is not None
    given, small = folder / f"{finding.name}.parquet", f"{finding.name}-shrunk.parquet"
    shrink = [sys.executable, "-m", "isoscope", "shrink", given.name, small, "--level", finding.shrinks]
    check = [sys.executable, "-m", "isoscope", "check", small, "--level", finding.shrinks]
    check += ["--certificate", f"{finding.name}-shrunk.certificate"]
    texts = []
    for command in (shrink, check):
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
            capture_output=True,
            check=False,
            text=True,
            timeout=300,
        )
        texts.append(done.stdout)
    for name in (small, f"{finding.name}-shrunk.certificate"):
        shutil.move(folder / name, FOLDER / name)
    return texts[-1].rstrip() + "\n"


def problems(finding: Finding, folder: Path) -> list[str]:
    """What the history in `folder` does not show, although it should."""
    history = isoscope.load(folder / f"{finding.name}.parquet")
    expected = {
        **dict.fromkeys(finding.holds, Outcome.HOLDS),
        **dict.fromkeys(finding.violated, Outcome.VIOLATED),
    }
    verdicts = isoscope.check(history, expected, max_anomalies=1).verdicts
    wrong = [f"{v.level}: {v.outcome}" for v in verdicts if v.outcome is not expected[v.level]]
    found = {name for verdict in verdicts for name in verdict.anomaly_counts}
    return [*wrong, *(f"{name}: not found" for name in finding.shows if name not in found)]


def page() -> str:
    """The page about all of them, from the texts that are there."""
    intro = (
        "What real databases did, each with the command that shows it again. The counterexamples differ "
        "from run to run, the answers do not. `python -m docs.findings` runs them all."
    )
    parts = ["<!-- Written by docs/findings.py. -->", "# Findings", intro, *map(_section, FINDINGS)]
    return "\n\n".join(parts) + "\n"


def _section(finding: Finding) -> str:
    text = (FOLDER / f"{finding.name}.txt").read_text(encoding="utf-8")
    parts = [
        f"## {finding.title}",
        finding.says,
        f"```sh\n{finding.command}\n```",
        f"```text\n{_excerpt(finding, text)}\n```",
        *_shrunk_part(finding),
        f"[The report]({finding.name}.html), [all that was printed]({finding.name}.txt)",
    ]
    return "\n\n".join(parts)


def _shrunk_part(finding: Finding) -> list[str]:
    if finding.shrinks is None:
        return []
    text = (FOLDER / f"{finding.name}-shrunk.txt").read_text(encoding="utf-8")
    steps = text.split("\n\n")[2:4]
    name = f"{finding.name}-shrunk"
    proof = (
        f"[Their history]({name}.parquet) and [its certificate]({name}.certificate), which "
        f"`isoscope verify {name}.parquet {name}.certificate` [checks](../explanation/trust.md)."
    )
    return ["The operations that are enough:", "```text\n" + "\n\n".join(steps) + "\n```", proof]


def _excerpt(finding: Finding, text: str) -> str:
    """The answer, what ran, the anomaly that is shown, and the outcomes."""
    if not finding.arguments:
        return text.rstrip()
    blocks = text.rstrip().split("\n\n")
    chosen = [blocks[0]]
    if finding.shows:
        starts = [place for place, block in enumerate(blocks) if _PART.match(f"{block}\n")]
        first = next(place for place in starts if blocks[place].startswith(f"{finding.shows[0]}: "))
        chosen += blocks[first : min((place for place in starts if place > first), default=None)]
    return "\n\n".join([*chosen, next(block for block in blocks if _OUTCOMES.match(block))])


def main(names: list[str]) -> int:
    """Runs those that are named, or all, and writes the page."""
    FOLDER.mkdir(exist_ok=True)
    status = 0
    for finding in FINDINGS:
        if names and finding.name not in names:
            continue
        with TemporaryDirectory() as path:
            text = reproduce(finding, Path(path))
            if wrong := problems(finding, Path(path)):
                print(f"{finding.name}: {'; '.join(wrong)}")
                status = 1
                continue
            (FOLDER / f"{finding.name}.txt").write_text(text, encoding="utf-8")
            shutil.copy(Path(path) / f"{finding.name}.html", FOLDER)
            if finding.shrinks is not None:
                text = shrunk(finding, Path(path))
                (FOLDER / f"{finding.name}-shrunk.txt").write_text(text, encoding="utf-8")
        print(f"written: {finding.name}")
    (FOLDER / "index.md").write_text(page(), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

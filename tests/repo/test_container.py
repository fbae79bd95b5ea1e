"""The container file, where no container can be built: what a linter would say of it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
LINES = [line for line in TEXT.splitlines() if line and not line.startswith("#")]


def arguments(instruction: str) -> list[str]:
    return [line.partition(" ")[2] for line in LINES if line.startswith(f"{instruction} ")]


def test_every_base_has_a_version() -> None:
    bases = arguments("FROM")
    assert len(bases) == 2
    assert all(re.match(r"[a-z]+:\d+\.\d+\S*( AS [a-z]+)?$", base) for base in bases)


def test_rust_is_as_new_as_the_build_asks() -> None:
    [asked] = re.findall(
        r"^RUST_AT_LEAST := (\S+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert arguments("FROM")[0].startswith(f"rust:{asked}-")


def test_what_is_copied_is_there_and_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for line in arguments("COPY"):
        if line.startswith("--from="):
            continue
        *sources, _ = line.split()
        for source in sources:
            assert (ROOT / source).exists(), source
            assert f"!{source}" in ignored, source


def test_it_runs_without_privileges_and_keeps_no_package_lists() -> None:
    assert arguments("USER") == ["isoscope"]
    assert LINES.index("USER isoscope") > LINES.index(f"FROM {arguments('FROM')[-1]}")
    for line in arguments("RUN"):
        assert "apt-get update" not in line or "rm -rf /var/lib/apt/lists" in line
        assert "pip install" not in line or "--no-cache-dir" in line


def test_the_user_may_write_to_the_folder_of_the_data() -> None:
    # A new volume takes the owner of the folder that it covers.
    assert arguments("WORKDIR")[-1] == "/data"
    assert any(
        "install --directory --owner=isoscope --group=isoscope /data" in run for run in arguments("RUN")
    )


def test_a_newcomer_sees_the_help() -> None:
    assert (arguments("ENTRYPOINT"), arguments("CMD")) == (['["isoscope"]'], ['["--help"]'])

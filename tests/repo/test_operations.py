"""The operator's kit fits the service: its metrics, its command line, its limits and its messages."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
import yaml

from isoscope import profiles
from isoscope.cli.program import group
from isoscope.collect import Collector
from isoscope.live.check_settings import CheckSettings
from isoscope.live.journal import Fsync
from isoscope.live.memory_limit import FACTOR
from isoscope.live.metrics import described
from isoscope.live.service import Settings
from tests.live.sent_batches import STALE
from tests.live.served import served

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
KIT = ROOT / "operations"
PAGE = (ROOT / "docs/how-to/operate-the-service.md").read_text(encoding="utf-8")
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
METRIC = re.compile(r"\bisoscope_\w+")
#: Labels that Prometheus adds to every metric that it scrapes.
SCRAPED = {"instance", "job"}


def text(name: str) -> str:
    return (KIT / name).read_text(encoding="utf-8")


def document(name: str) -> Any:
    return json.loads(text(name)) if name.endswith(".json") else yaml.safe_load(text(name))


def rules() -> list[dict[str, Any]]:
    [rule_group] = document("alerts.yml")["groups"]
    found: list[dict[str, Any]] = rule_group["rules"]
    return found


def panels() -> list[dict[str, Any]]:
    return [panel for panel in document("grafana-dashboard.json")["panels"] if panel["type"] != "row"]


def queries() -> Iterator[str]:
    """Every expression of the kit, with the labels that its legend or its texts show."""
    board = document("grafana-dashboard.json")
    for panel in panels():
        for target in panel["targets"]:
            yield f"{target['expr']} {target['legendFormat']}"
    yield from (note["expr"] for note in board["annotations"]["list"])
    yield from (
        variable["definition"] for variable in board["templating"]["list"] if "definition" in variable
    )
    for rule in rules():
        yield " ".join([rule["expr"], *rule["annotations"].values()])


def labels_of(query: str) -> list[str]:
    shown = re.findall(r"\{\{ ?(?:\$labels\.)?(\w+) ?\}\}", query)
    return [*shown, *re.findall(r"(?<=[{,])(\w+)=", query)]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The labels of each metric of a service without a profile and of one with a profile."""
    judged = CheckSettings(levels=(), profile=profiles.load("postgresql/read-committed"))
    found: dict[str, set[str]] = defaultdict(set)
    for check in (CheckSettings(), judged):
        settings = Settings(check=check, memory=1 << 30, fsync=Fsync.NEVER)
        with served(tmp_path_factory.mktemp("data"), settings=settings) as client:
            if check.profile is None:
                client.post(1, STALE)
            else:
                send_stale_read(client.url)
            client.ask("POST", "/v1/flush")
            lines = client.get("/metrics").body.decode().splitlines()
        for line in lines:
            if line.startswith("# TYPE"):
                found[line.split()[2]] |= set()
            elif not line.startswith("#"):
                found[line.split("{")[0].split()[0]] |= set(re.findall(r'[{,](\w+)="', line))
    return found


def send_stale_read(url: str) -> None:
    with Collector(url) as collector:
        for number, (session, kind, value) in enumerate(
            [(1, "write", 100), (2, "write", 70), (1, "read", 100)]
        ):
            at = 10 * number
            operations = [(kind, "alice", value, at, at + 2), ("commit", None, None, at + 3, at + 5)]
            collector.record(number, session=session, operations=operations)
        collector.heartbeat(1, 40)
        collector.heartbeat(2, 40)


def test_every_metric_of_the_kit_is_exported_with_the_labels_that_are_shown(
    exported: dict[str, set[str]],
) -> None:
    for query in queries():
        names = set(METRIC.findall(query))
        assert names <= exported.keys(), query
        known = SCRAPED.union(*(exported[name] for name in names))
        assert set(labels_of(query)) <= known, query


def test_the_page_about_http_lists_what_is_exported(exported: dict[str, set[str]]) -> None:
    assert exported == {name: {*labels} for name, _, _, labels in described()}


def test_every_alert_has_its_row_on_the_page_and_a_severity() -> None:
    told = re.findall(r"^\| `(Isoscope\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(told) == sorted(rule["alert"] for rule in rules())
    assert {rule["labels"]["severity"] for rule in rules()} == {"critical", "warning"}
    assert all({"summary", "description"} == rule["annotations"].keys() for rule in rules())


def test_panels_have_numbers_of_their_own_and_do_not_overlap() -> None:
    board = document("grafana-dashboard.json")["panels"]
    assert len({panel["id"] for panel in board}) == len(board)
    cells = [
        (x, y)
        for grid in (panel["gridPos"] for panel in board)
        for x in range(grid["x"], grid["x"] + grid["w"])
        for y in range(grid["y"], grid["y"] + grid["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def unit() -> dict[str, list[str]]:
    """The settings of the unit, each with all its values."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in text("isoscope.service").splitlines():
        name, is_setting, value = line.partition("=")
        if is_setting and not line.startswith("#"):
            found[name].append(value)
    return found


def unit_command() -> list[str]:
    [command] = unit()["ExecStart"]
    return shlex.split(command.replace("%S", "/var/lib"))[1:]


def composed() -> dict[str, Any]:
    found: dict[str, Any] = document("compose.yml")["services"]["isoscope"]
    return found


def parsed(arguments: list[str]) -> dict[str, Any]:
    """The options as the real command line understands them."""
    name, *options = arguments
    command = group.get_command(click.Context(group), name)
    assert command is not None
    return command.make_context(name, options).params


COMMANDS = [
    pytest.param(unit_command(), unit()["MemoryMax"][0], "/var/lib/isoscope", id="systemd"),
    pytest.param(composed()["command"], composed()["mem_limit"], "/data", id="compose"),
]


@pytest.mark.parametrize(("arguments", "memory", "folder"), COMMANDS)
def test_the_command_line_is_understood_and_fits_the_limits(
    arguments: list[str], memory: str, folder: str
) -> None:
    options = parsed(arguments)
    assert options["data"] == folder
    bound = int(memory[:-1]) * UNITS[memory[-1].upper()]
    # What the process has at its start, and what batches under way need, come on top.
    assert bound >= FACTOR * options["memory_limit"] + (512 << 20)


def test_the_end_has_time_to_drain() -> None:
    drain = parsed(unit_command())["drain"]
    [stop] = unit()["TimeoutStopSec"]
    assert int(stop) > drain + 60
    assert composed()["stop_grace_period"] == "2m"


def test_verdicts_are_no_faults_and_bad_usage_is_not_repeated() -> None:
    assert unit()["SuccessExitStatus"] == ["1 3"]
    assert unit()["RestartPreventExitStatus"] == ["2"]
    assert unit()["StateDirectory"] == ["isoscope"]


def test_the_container_asks_for_a_token_and_has_no_rights() -> None:
    service = composed()
    assert ":?" in service["environment"]["ISOSCOPE_TOKEN"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["volumes"] == ["journal:/data"]


def test_the_page_quotes_messages_that_the_service_has() -> None:
    sources = (ROOT / "src/isoscope").glob("live/*.py"), (ROOT / "src/isoscope").glob("cli/*.py")
    said = "\n".join(path.read_text(encoding="utf-8") for paths in sources for path in paths)
    table = PAGE.partition("## When it says")[2]
    messages = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert len(messages) > 15
    for message in messages:
        for piece in filter(None, (piece.strip() for piece in message.split("..."))):
            assert piece in said, message


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_understands_the_unit_and_finds_it_closed(tmp_path: Path) -> None:
    path = tmp_path / "isoscope.service"
    path.write_text(text("isoscope.service").replace("/opt/isoscope/bin/isoscope", "/bin/true"))
    assert run("systemd-analyze", "--man=no", "verify", str(path)) == ""
    told = run("systemd-analyze", "security", "--offline=true", "--no-pager", str(path))
    [exposure] = re.findall(r"Overall exposure level for isoscope.service: ([\d.]+)", told)
    assert float(exposure) < 2


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool of Prometheus is not installed")
def test_prometheus_understands_its_files(tmp_path: Path) -> None:
    token = tmp_path / "isoscope.token"
    token.write_text("secret")
    (tmp_path / "alerts.yml").write_text(text("alerts.yml"))
    config = text("prometheus.yml").replace("/etc/prometheus/isoscope.token", str(token))
    (tmp_path / "prometheus.yml").write_text(config)
    assert "SUCCESS" in run("promtool", "check", "config", str(tmp_path / "prometheus.yml"))


def test_prometheus_loads_the_rules_of_the_kit() -> None:
    config = document("prometheus.yml")
    assert config["rule_files"] == ["alerts.yml"]
    [job] = config["scrape_configs"]
    # The rule about a service that does not answer names the job.
    assert f'job="{job["job_name"]}"' in " ".join(rule["expr"] for rule in rules())


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return (done.stdout + done.stderr).strip()

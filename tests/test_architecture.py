"""The house rules that can be read off the source: layers, doors, names, sizes, exports."""

import ast
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import sandbox
from orchestrator.cli.main import VERBS, verbs

ROOT = Path(__file__).parents[1]
PACKAGES = ("orchestrator", "sandbox", "splitters", "containers")

LAYERS = (
    {
        "agent_command",
        "beside",
        "child",
        "coarse",
        "delegation",
        "errors",
        "events",
        "outcome",
        "task",
        "patch",
        "edit",
        "pricing",
        "spent",
        "git",
        "machine",
        "named_command",
        "network",
        "owned_flags",
        "toml_file",
    }
    | {
        "agent_settings",
        "settings",
        "planning",
        "record",
        "evidence",
        "reason",
        "screen",
        "foreign",
    }
    | {"nearest", "patching", "template", "whole"},
    {"repository", "clone", "quarantine", "journal", "records", "models", "guardrails", "prompts"}
    | {
        "asked",
        "history",
        "inputs",
        "committed",
        "instructions",
        "sources",
        "outlines",
        "map",
        "parser",
        "submodules",
        "seal",
        "told",
        "threeway",
        "dialogue",
        "earlier",
        "renames",
        "objects",
    },
    {"worker", "workers", "agent", "delegates", "command", "tools", "check", "pieces", "rejoin"}
    | {"summarize"},
    {"run", "attempt", "preparation", "changes", "recovery", "verify", "delivery", "ways"}
    | {"edits", "edit_base", "leftover", "origin", "briefing"},
    {"cli", "render", "summary"},
)
"""The rooms of `orchestrator`, lowest first; none imports a higher one."""

MAY_IMPORT = {
    "orchestrator": {"sandbox", "splitters", "containers"},
    "sandbox": {"containers"},
    "splitters": set(),
    "containers": set(),
}

DOORS = {
    "acp": r"orchestrator/delegates/acp_talk\.py",
    "anthropic": r"orchestrator/models/anthropic\.py",
    # The library of the Agent Client Protocol has an event loop.
    "asyncio": r"sandbox/gateway/.*|orchestrator/delegates/acp_talk\.py",
    "click": r"orchestrator/cli/.*",
    "detect_secrets": r"orchestrator/guardrails/.*",
    "docker": r"sandbox/[^/]*|sandbox/gateway/(relay|link)\.py",
    "git": r"orchestrator/repository\.py",
    "h11": r"sandbox/gateway/(http|forward)\.py",
    "openai": r"orchestrator/models/(openai|chat|openai_client)\.py",
    "platformdirs": r"orchestrator/cli/.*",
    "pexpect": r"sandbox/terminal\.py",
    "pyte": r"sandbox/display\.py",
    # child.py starts ourselves: what parses hostile bytes must not be the process with the keys.
    "subprocess": r"orchestrator/(git|child)\.py|sandbox/inside/.*",
    "tree_sitter": r"splitters/syntax\.py",
    "unidiff": r"orchestrator/patch\.py",
}
"""The only files that may import what stands for something outside."""

BANNED = {"manager", "handler", "service", "helper", "util", "utils", "impl", "info", "data"}
BANNED_FIRST = {"base", "abstract"}

INSIDE = re.compile(r"sandbox/inside/.*")
"""Programs that run in a container: they print, exit and read their environment there."""


@cache
def sources() -> dict[str, ast.Module]:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_bytes()) for path in sorted(paths)}


def module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def modules() -> set[str]:
    return {module(path) for path in sources()}


def imports(path: str) -> Iterator[str]:
    """All that a file imports, also inside functions; our own modules by their full name."""
    for node in ast.walk(sources()[path]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            beside = module(path).rsplit(".", node.level)[0] if node.level else ""
            source = ".".join(filter(None, (beside, node.module)))
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield inner if inner in modules() else source


def room(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def layer(name: str) -> int:
    return next(number for number, rooms in enumerate(LAYERS) if room(name) in rooms)


def test_every_room_has_its_layer():
    rooms = {room(name) for name in modules() if name.startswith("orchestrator.")}
    assert rooms - set().union(*LAYERS) == set()


def test_no_module_imports_a_higher_layer():
    upwards = [
        f"{path} imports {name}"
        for path in sources()
        if path.startswith("orchestrator/") and room(module(path))
        for name in imports(path)
        if name.startswith("orchestrator.") and layer(name) > layer(module(path))
    ]
    assert upwards == []


def test_packages_keep_their_directions():
    wrong = [
        f"{path} imports {name}"
        for path in sources()
        for name in imports(path)
        for package in [name.split(".")[0]]
        if package in (*PACKAGES, "tests", "benchmarks")
        and package != path.split("/")[0]
        and package not in MAY_IMPORT[path.split("/")[0]]
    ]
    assert wrong == []


def test_no_import_goes_round_in_a_circle():
    left = {
        module(path): {name for name in imports(path) if name in modules()} for path in sources()
    }
    while free := {name for name, needs in left.items() if not needs & left.keys() - {name}}:
        left = {name: needs for name, needs in left.items() if name not in free}
    assert left == {}


@pytest.mark.parametrize("library", DOORS)
def test_what_is_outside_is_reached_through_one_door(library):
    users = {path for path in sources() for name in imports(path) if name.split(".")[0] == library}
    assert {path for path in users if not re.fullmatch(DOORS[library], path)} == set()


def test_only_the_command_line_prints_exits_or_reads_the_environment():
    spoken = re.compile(r"(print|sys\.exit|os\._exit|os\.environb?|os\.getenv)")
    found = {
        f"{path}:{node.lineno}"
        for path, tree in sources().items()
        if not path.startswith("orchestrator/cli/") and not INSIDE.fullmatch(path)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Name) and spoken.fullmatch(ast.unparse(node))
    }
    assert found == set()


def words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def test_no_name_says_nothing():
    named = [(path, Path(path).stem) for path in sources()]
    named += [
        (path, node.name)
        for path, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    empty = [
        f"{path}: {name}"
        for path, name in named
        if BANNED & set(words(name)) or (len(words(name)) > 1 and words(name)[0] in BANNED_FIRST)
    ]
    assert empty == []


def lengths() -> dict[str, int]:
    return {
        f"{path}:{node.name}": node.end_lineno - node.lineno + 1
        for path, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_functions_can_be_seen_whole():
    assert {name: size for name, size in lengths().items() if size > 60} == {}
    assert statistics.median(lengths().values()) <= 10


def test_modules_can_be_held_in_the_head():
    sizes = {path: len((ROOT / path).read_bytes().splitlines()) for path in sources()}
    assert {path: size for path, size in sizes.items() if size > 350} == {}
    assert statistics.median(sizes.values()) < 200


def test_packages_export_what_they_import():
    for path, tree in sources().items():
        if not path.endswith("__init__.py"):
            continue
        brought = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module.startswith(PACKAGES)
            for alias in node.names
        }
        exported = {
            name
            for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
            for name in ast.literal_eval(node.value)
        }
        again = {
            alias.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.asname == alias.name
        }
        assert brought == exported | again, path


def test_all_that_sandbox_exports_is_there():
    assert [name for name in sandbox.__all__ if getattr(sandbox, name, None) is None] == []


@pytest.mark.parametrize("verb", ["approve", "diff", "discard", "list", "log", "merge", "show"])
def test_what_is_done_with_a_finished_run_does_not_load_docker(verb):
    program = f"import sys, orchestrator.cli.{verb}; sys.exit('docker' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT).returncode == 0


def test_the_library_of_acp_is_loaded_by_its_worker_alone():
    program = "import sys, orchestrator.cli.run; sys.exit('acp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT).returncode == 0


def commands(page: Path) -> Iterator[list[str]]:
    """Our command lines in a page, as words: in code blocks and between backticks."""
    text = page.read_text(encoding="utf-8")
    for line in re.findall(r"(?m)(?:^\s*(?:\$ )?|`)orchestrator ([a-z][^`\n]*)", text):
        yield line.partition(" -- ")[0].split()


def test_commands_in_the_documentation_exist():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    lines = [(page.name, line) for page in pages for line in commands(page)]
    for page, (verb, *words) in lines:
        assert verb in VERBS, f"{page}: orchestrator {verb}"
        options = verbs.get_command(None, verb).params
        known = {name for option in options for name in (*option.opts, *option.secondary_opts)}
        said = {word for word in words if re.match("--?[A-Za-z]", word)}
        assert said <= known | {"--help", "-h"}, f"{page}: orchestrator {verb}"


def test_importing_does_nothing():
    """At the top of a module stand definitions; a call there only builds a value."""
    allowed = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
    allowed |= ast.AsyncFunctionDef | ast.Assign | ast.AnnAssign | ast.If
    for path, tree in sources().items():
        if INSIDE.fullmatch(path):
            continue
        for node in tree.body:
            text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            assert text or isinstance(node, allowed), f"{path}:{node.lineno}"

"""What a repository has for Claude Code and Codex themselves, taken from the base commit.

Nothing of it is read by the programs from the files they work on: those may be an earlier run's.
"""

import io
import json
import re
import tarfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from orchestrator import foreign, prompts
from orchestrator.committed import Committed, File, shown
from orchestrator.delegates.remembered import HOME
from orchestrator.delegation import SERVER
from orchestrator.task import Handed, Task
from sandbox.box import Box
from sandbox.errors import SandboxError
from sandbox.hardening import BUSYBOX

FILES = 500
BYTES = 8 << 20
"""Of all files for a home together."""
LONGEST = 60_000
"""Characters of hooks, or of servers: they go on a command line, within the sandbox."""
TOLD = {"claude": ".orchestrator/told.md", "codex": ".codex/AGENTS.md"}
"""Where a program is told what the repository says, below its home. Not in its prompt: there Claude
Code adds the file to `@path`, and Codex the skill to `$name`, as the run has made them by now."""
_ASIDE = ("settings.json", "CLAUDE.md", "agents", "commands", "skills", "rules", "plugins")
"""What set-up may have left in the home, which would count beside what is laid there."""
_FOR_HOME = {"claude": re.compile(r"\.claude/(?:agents|commands|skills|rules)(?:/|$)")}
_SETTINGS = ".claude/settings.json"
_SERVERS = {"claude": (".mcp.json", "mcpServers"), "codex": (".codex/config.toml", "mcp_servers")}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")

Key = TypeVar("Key")
Take: TypeAlias = Callable[[Committed, Task], dict[Key, Any]]
"""What finds one kind of things, by their names or files; raises `_LeftOutError`."""


@dataclass(frozen=True, slots=True)
class Found:
    """What there is, and what of it is left out."""

    handed: Handed
    warnings: tuple[str, ...] = ()


class _LeftOutError(Exception):
    """Why something is not handed over."""


def handed(committed: Committed, task: Task) -> Found:
    """What the task's worker gets, a program. Raises GitError."""
    warnings = list(_links(committed, task))

    def kept(what: str, take: Take[Key]) -> dict[Key, Any]:
        try:
            return take(committed, task)
        except _LeftOutError as problem:
            warnings.append(f"{what} of the repository are left out: {problem}.")
            return {}

    of_home = kept("The agents and skills", _of_home)
    files, told = _packed(of_home, task), TOLD[task.worker] if task.told else ""
    if not task.project_settings:
        return Found(Handed(files, told), tuple(warnings))
    hooks = kept("The hooks", _hooks)
    servers = kept("The MCP servers", _servers)
    return Found(Handed(files, told, hooks, servers), tuple(warnings))


def lay(files: bytes, box: Box) -> None:
    """Put the files into the home, in a new box as in one that died. Raises SandboxError."""
    if not files:
        return
    box.run((BUSYBOX, "rm", "-rf", *(f"{HOME}/.claude/{name}" for name in _ASIDE)))
    done = box.run((BUSYBOX, "tar", "-x", "-C", HOME), stdin=files)
    if not done.exit.ok:
        if lost := box.lost():
            raise lost
        said = done.stderr.decode("utf-8", "replace").strip()
        raise SandboxError(f"What the repository says cannot be put into place: {said}")


def _links(committed: Committed, task: Task) -> Iterator[str]:
    pattern = _FOR_HOME.get(task.worker)
    if pattern and task.instructions:
        yield from (said for path, said in committed.left_out.items() if pattern.match(path))


def _of_home(committed: Committed, task: Task) -> dict[File, bytes]:
    """The program's own kinds of files, with their contents."""
    pattern = _FOR_HOME.get(task.worker)
    if pattern is None or not task.instructions:
        return {}
    files = [file for path, file in committed.files.items() if pattern.match(path)]
    if len(files) > FILES:
        raise _LeftOutError(f"they are more than {FILES} files")
    if sum(committed.sizes(files).values()) > BYTES:
        raise _LeftOutError(f"they are more than {BYTES >> 20} MiB")
    contents = committed.read(files)
    return {file: contents[file.path] for file in files if file.path in contents}


def _packed(files: dict[File, bytes], task: Task) -> bytes:
    """A tar archive of them and of what is told; the same files always make the same bytes."""
    members = {(file.path, file.executable): content for file, content in files.items()}
    if task.told:
        members[TOLD[task.worker], False] = _said(task).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for (path, executable), content in members.items():
            member = tarfile.TarInfo(path)
            member.size = len(content)
            member.mode = 0o755 if executable else 0o644
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue() if members else b""


def _said(task: Task) -> str:
    """What is told. Claude Code takes a system prompt from a file or a flag, never from both."""
    own = task.delegation("claude").system_prompt if task.worker == "claude" else ""
    return f"{own}\n\n{prompts.told(task.told)}".lstrip("\n")


def _hooks(committed: Committed, task: Task) -> dict[str, Any]:
    """The hooks of Claude Code's settings; no other setting is taken over."""
    if task.worker != "claude" or (content := _content(committed, _SETTINGS)) is None:
        return {}
    return _bounded(_table(_json(content), "hooks", _SETTINGS))


def _servers(committed: Committed, task: Task) -> dict[str, Any]:
    """The MCP servers by name; none takes the place of ours."""
    path, name = _SERVERS[task.worker]
    content = _content(committed, path)
    if content is None:
        return {}
    servers = _table(_json(content) if path.endswith(".json") else _toml(content), name, path)
    odd = [name for name in servers if not _NAME.fullmatch(name)]
    if odd:
        raise _LeftOutError(f"{shown(odd[0])!r} in {path} is no name for one")
    return _bounded({name: value for name, value in servers.items() if name != SERVER})


def _content(committed: Committed, path: str) -> str | None:
    if path in committed.left_out:
        raise _LeftOutError(committed.left_out[path].removesuffix("."))
    if path not in committed.files:
        return None
    content = committed.read([committed.files[path]]).get(path)
    if content is None:
        raise _LeftOutError(f"{path} is larger than 1 MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _LeftOutError(f"{path} is not UTF-8") from None


def _json(content: str) -> object:
    try:
        return foreign.all_well_formed(foreign.parse(content))
    except ValueError as problem:
        raise _LeftOutError(f"what is not JSON: {problem}") from None


def _toml(content: str) -> object:
    try:
        return tomllib.loads(content)
    except (ValueError, RecursionError) as problem:
        raise _LeftOutError(f"what is not TOML: {problem}") from None


def _table(whole: object, name: str, path: str) -> dict[str, Any]:
    found = whole.get(name, {}) if isinstance(whole, dict) else None
    if not isinstance(found, dict):
        raise _LeftOutError(f"{name} in {path} is no table")
    return found


def _bounded(table: dict[str, Any]) -> dict[str, Any]:
    try:
        size = len(json.dumps(table))
    except (TypeError, ValueError):  # a date, which TOML knows
        raise _LeftOutError("there are values of a kind that none of them has") from None
    if size > LONGEST:
        raise _LeftOutError(f"they are longer than {LONGEST:,} characters")
    return table


def inline(value: object) -> str:
    """A value of JSON's kinds as TOML, on one line."""
    match value:
        case dict():
            pairs = (f"{_text(str(name))} = {inline(item)}" for name, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list():
            return "[" + ", ".join(map(inline, value)) + "]"
        case str():
            return _text(value)
        case bool():
            return "true" if value else "false"
    return repr(value)


def _text(text: str) -> str:
    """As JSON, which TOML reads alike but for pairs of surrogates and DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

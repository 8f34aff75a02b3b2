"""A placed patch, tried by git itself in a scratch index; only what git made of it is written.

The contents come out of a sandbox, so nothing but bytes crosses (no git directory, no settings, no
attributes of theirs): they become blobs of an empty repository of ours, made for this one patch and
thrown away. It stands on the host rather than in the sandbox because there a process of the same
user could change it, or the answer, between two steps. Placing has found the lines; git decides
once more, byte for byte, whether the whole file is what the patch says, and about modes, names,
creation, deletion and what is in whose way.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.git import Git
from orchestrator.patching.hunks import FileChange, PatchProblem
from orchestrator.patching.plan import Placed
from sandbox import scratch

_NO_END = b"\\ No newline at end of file\n"
_MODES = {False: b"100644", True: b"100755"}


@dataclass(frozen=True, slots=True)
class Blob:
    """What git keeps of a file."""

    content: bytes
    executable: bool


def tried(files: Mapping[bytes, Blob], patch: Sequence[Placed]) -> dict[bytes, Blob]:
    """The files that are there after the patch. Raises PatchProblem with what git says."""
    text = written(files, patch)
    with scratch.folder() as place:
        git = Git(place / "index.git", confined=True)
        git.run("init", "--bare", "--quiet", "--template=", "--object-format=sha1")
        # The strongest attributes there are: whatever a file called .gitattributes says.
        (git.directory / "info").mkdir()
        (git.directory / "info/attributes").write_text("* -merge -filter -ident -text\n")
        git.run("fast-import", "--quiet", stdin=b"".join(_import(files)))
        git.run("read-tree", "refs/before")
        ended = git.call("apply", "--cached", "--whitespace=nowarn", "-", stdin=text)
        if ended.status != 0:
            raise PatchProblem(f"git apply: {ended.message}")
        return _read(git, 2 * len(text) + sum(len(blob.content) for blob in files.values()))


def written(files: Mapping[bytes, Blob], patch: Sequence[Placed]) -> bytes:
    """The patch as git writes one, with one hunk a file that holds all of its lines."""
    return b"".join(piece for each in patch for piece in _file(files, each))


def _file(files: Mapping[bytes, Blob], placed: Placed) -> Iterator[bytes]:
    change = placed.change
    old, new = (change.old or change.new or b""), (change.new or change.old or b"")
    yield b"diff --git " + quoted(b"a/" + old) + b" " + quoted(b"b/" + new) + b"\n"
    if change.old is None:
        yield b"new file mode " + _MODES[bool(change.executable)] + b"\n"
    elif change.new is None:
        yield b"deleted file mode " + _MODES[files[old].executable] + b"\n"
    elif change.executable not in (None, files[old].executable):
        yield b"old mode " + _MODES[files[old].executable] + b"\n"
        yield b"new mode " + _MODES[bool(change.executable)] + b"\n"
    if old != new:
        yield b"rename from " + quoted(old) + b"\nrename to " + quoted(new) + b"\n"
    if placed.added or placed.removed:
        yield from _names(change)
        yield from _hunk(placed)


def _names(change: FileChange) -> Iterator[bytes]:
    for sign, side, path in ((b"---", b"a/", change.old), (b"+++", b"b/", change.new)):
        yield sign + b" " + (b"/dev/null" if path is None else quoted(side + path)) + b"\n"


def _hunk(placed: Placed) -> Iterator[bytes]:
    old = len(placed.lines) - placed.added
    new = len(placed.lines) - placed.removed
    yield b"@@ -%d,%d +%d,%d @@\n" % (min(1, old), old, min(1, new), new)
    for line in placed.lines:
        yield line.mark.encode() + line.text
        if not line.text.endswith(b"\n"):
            yield b"\n" + _NO_END


def quoted(path: bytes) -> bytes:
    """A path in quotes, as git reads it."""
    plain = range(0x20, 0x7F)
    text = "".join(chr(c) if c in plain and c not in b'"\\' else f"\\{c:03o}" for c in path)
    return b'"' + text.encode("ascii") + b'"'


def _import(files: Mapping[bytes, Blob]) -> Iterator[bytes]:
    """What fast-import reads: one commit with these files."""
    yield b"commit refs/before\ncommitter nobody <> 0 +0000\ndata 0\n"
    for path, blob in files.items():
        yield b"M %s inline %s\n" % (_MODES[blob.executable], quoted(path))
        yield b"data %d\n%s\n" % (len(blob.content), blob.content)


def _read(git: Git, limit: int) -> dict[bytes, Blob]:
    entries = []
    for entry in git.run("ls-files", "--stage", "-z").split(b"\0")[:-1]:
        head, _, path = entry.partition(b"\t")
        mode, name, _ = head.split(b" ")
        entries.append((path, mode, name))
    asked = b"".join(name + b"\n" for _, _, name in entries)
    room = limit + 100 * len(entries)
    answer = git.run("cat-file", "--batch", stdin=asked, limit=room) if entries else b""
    after: dict[bytes, Blob] = {}
    at = 0
    for path, mode, _ in entries:
        start = answer.index(b"\n", at) + 1
        end = start + int(answer[at:start].split(b" ")[2])
        after[path] = Blob(answer[start:end], mode == _MODES[True])
        at = end + 1
    return after

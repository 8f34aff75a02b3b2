"""What a hostile sandbox sends out; each is refused or blocked, and honest work goes through."""

import hashlib
import resource
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from orchestrator import quarantine as rules
from orchestrator.delivery import publish
from orchestrator.errors import QuarantineError
from tests.exchange import NOTE, Exchange, Leaf, commit, git, start

FILES = {"a.txt": b"one\n", "src/b.py": b"print()\n"}
HONEST: Mapping[bytes, Leaf | None] = {b"a.txt": ("100644", b"one\ntwo\n")}


@pytest.fixture
def exchange(tmp_path: Path) -> Exchange:
    return Exchange.create(tmp_path, FILES)


def refused(exchange: Exchange, tree: str, pack: Path | None = None) -> str:
    """Why a tree was not admitted, once it is sure that honest work is admitted afterwards."""
    pack = pack or exchange.inside.pack(tree, exchange.base.tree)
    with pytest.raises(QuarantineError) as caught:
        exchange.quarantine.admit(tree, pack, parent=exchange.base.commit, note=NOTE)
    assert exchange.quarantine.tip == exchange.base.commit
    assert exchange.admit(HONEST).findings == ()
    return str(caught.value)


def blocked(exchange: Exchange, files: Mapping[bytes, Leaf | None]) -> list[tuple[str, str]]:
    return [(finding.rule, finding.path) for finding in exchange.admit(files).findings]


# B2: objects that lie


def test_a_private_object_cannot_be_named_from_inside(tmp_path: Path):
    user = start(tmp_path / "user", FILES)
    git(user, "checkout", "--quiet", "-b", "private")
    commit(user, {"private.txt": b"secret"})
    git(user, "checkout", "--quiet", "main")
    exchange = Exchange.over(user, tmp_path)
    private = git(user, "rev-parse", "private:private.txt").strip()
    tree = exchange.inside.put("tree", b"100644 stolen\0" + bytes.fromhex(private.decode()))
    assert "Step 1 was refused" in refused(exchange, tree, packed(exchange.inside.path, tree))


def packed(inside: Path, *names: str) -> Path:
    """A pack of exactly these objects, whatever they refer to."""
    out = inside / "some.pack"
    order = "".join(name + "\n" for name in names).encode()
    out.write_bytes(git(inside, "pack-objects", "-q", "--stdout", stdin=order))
    return out


def raw_tree(*entries: tuple[bytes, bytes, str]) -> bytes:
    return b"".join(
        mode + b" " + name + b"\0" + bytes.fromhex(child) for mode, name, child in entries
    )


BLOB = hashlib.sha1(b"blob 0\0").hexdigest()
FSCK = {
    "hasDotgit": raw_tree((b"100644", b".git", BLOB)),
    "hasDot:": raw_tree((b"100644", b".", BLOB)),
    "hasDotdot": raw_tree((b"100644", b"..", BLOB)),
    "fullPathname": raw_tree((b"100644", b"a/b", BLOB)),
    "emptyName": raw_tree((b"100644", b"", BLOB)),
    "duplicateEntries": raw_tree((b"100644", b"a", BLOB), (b"100644", b"a", BLOB)),
    "treeNotSorted": raw_tree((b"100644", b"b", BLOB), (b"100644", b"a", BLOB)),
    "zeroPaddedFilemode": raw_tree((b"0100644", b"a", BLOB)),
    "badFilemode": raw_tree((b"100600", b"a", BLOB)),
    "gitmodulesSymlink": raw_tree((b"120000", b".gitmodules", BLOB)),
    "gitattributesSymlink": raw_tree((b"120000", b".gitattributes", BLOB)),
    "nullSha1": raw_tree((b"100644", b"a", "0" * 40)),
}


@pytest.mark.parametrize("fault", FSCK)
def test_a_malformed_tree_is_refused(exchange: Exchange, fault: str):
    blob = exchange.inside.put("blob", b"")
    tree = exchange.inside.put("tree", FSCK[fault])
    reason = refused(exchange, tree, packed(exchange.inside.path, blob, tree))
    assert "Step 1 was refused: git index-pack failed" in reason


def test_a_submodule_that_names_a_program_is_refused(exchange: Exchange):
    modules = b'[submodule "x"]\n\tpath = x\n\turl = -u./evil\n'
    tree = exchange.changed({b".gitmodules": ("100644", modules)})
    assert "index-pack failed" in refused(exchange, tree)


def test_a_pack_with_a_hole_is_refused(exchange: Exchange):
    tree = exchange.changed({b"x": ("100644", b"content")})
    assert "was refused" in refused(exchange, tree, packed(exchange.inside.path, tree))


@pytest.mark.parametrize("damage", [b"", b"PACK", b"not a pack at all", None])
def test_a_damaged_pack_is_refused(exchange: Exchange, damage: bytes | None):
    tree = exchange.changed({b"x": ("100644", b"content")})
    pack = exchange.inside.pack(tree)
    pack.write_bytes(pack.read_bytes()[:-30] if damage is None else damage)
    assert "Step 1 was refused: git index-pack failed" in refused(exchange, tree, pack)


@pytest.mark.parametrize("answer", ["", "HEAD", "0" * 40, "a" * 39, "A" * 40, "a" * 40 + "\n"])
def test_something_else_than_a_tree_id_is_refused(exchange: Exchange, answer: str):
    pack = exchange.inside.pack(exchange.changed({b"x": ("100644", b"content")}))
    refused(exchange, answer, pack)


def test_history_of_the_sandbox_does_not_cross(exchange: Exchange):
    tree = exchange.changed({b"x": ("100644", b"content")})
    forged = git(exchange.inside.path, "commit-tree", tree, "-m", "forged").decode().strip()
    pack = packed(exchange.inside.path, forged, *objects_of(exchange, tree))
    assert "is not a valid 'tree' object" in refused(exchange, forged, pack)


def objects_of(exchange: Exchange, tree: str) -> list[str]:
    lines = git(exchange.inside.path, "rev-list", "--objects", tree).decode().splitlines()
    return [line.split()[0] for line in lines]


def test_objects_beside_the_tree_are_not_published(exchange: Exchange):
    tree = exchange.changed({b"x": ("100644", b"content")})
    forged = git(exchange.inside.path, "commit-tree", tree, "-m", "forged").decode().strip()
    hidden = exchange.inside.put("blob", b"hidden")
    pack = packed(exchange.inside.path, forged, hidden, *objects_of(exchange, tree))
    change = exchange.quarantine.admit(tree, pack, parent=exchange.base.commit, note=NOTE)
    publish(exchange.repository, exchange.quarantine, "r1", change.commit)
    git(exchange.user, "cat-file", "-e", forged, status=1)
    git(exchange.user, "cat-file", "-e", hidden, status=1)
    assert git(exchange.user, "log", "--format=%an %s", "main..agent/r1") == (
        b"Orchestrator edit_file a.txt\n"
    )


def test_refs_of_the_sandbox_do_not_cross(exchange: Exchange):
    before = git(exchange.user, "for-each-ref")
    for ref in ("refs/heads/main", "refs/tags/v1", "refs/remotes/origin/main"):
        git(exchange.inside.path, "update-ref", ref, exchange.base.commit)
    exchange.admit(HONEST)
    assert git(exchange.user, "for-each-ref") == before
    refs = git(exchange.quarantine.git.directory, "for-each-ref", "--format=%(refname)")
    assert refs == b"refs/run/base\nrefs/run/tip\n"


def test_the_quarantine_borrows_from_nobody(exchange: Exchange):
    alternates = exchange.inside.path / "objects/info/alternates"
    alternates.parent.mkdir(exist_ok=True)
    alternates.write_text(f"{exchange.user}/.git/objects\n")
    exchange.admit(HONEST)
    assert not (exchange.quarantine.git.directory / "objects/info/alternates").exists()


# B4: trees that are well formed and still harm


def test_links_out_of_the_repository_are_blocked(exchange: Exchange):
    links = {b"abs": b"/etc/passwd", b"src/up": b"../../x", b"src/ok": b"../a.txt"}
    found = blocked(exchange, {path: ("120000", target) for path, target in links.items()})
    assert found == [("tree.symlink-escape", "abs"), ("tree.symlink-escape", "src/up")]


def test_a_submodule_is_blocked_by_its_path(exchange: Exchange):
    link: Leaf = ("160000", exchange.base.commit.encode())
    assert blocked(exchange, {b"sub": link} | HONEST) == [("tree.gitlink", "sub")]


def test_a_repository_as_content_is_blocked(exchange: Exchange):
    inner = {b"config": b"[core]\n\tfsmonitor = evil\n", b"HEAD": b"ref: refs/heads/x\n"}
    inner |= {b"objects/x": b"", b"refs/x": b""}
    files = {b"kit/" + path: ("100644", content) for path, content in inner.items()}
    assert blocked(exchange, files) == [("tree.nested-repository", "kit")]


def test_a_folder_named_like_an_object_is_looked_into(exchange: Exchange):
    folder = b"kit-g" + exchange.base.commit.encode()
    files = {folder + part: ("100644", b"") for part in (b"/HEAD", b"/objects/x", b"/refs/x")}
    assert blocked(exchange, files) == [("tree.nested-repository", folder.decode())]


def test_deceiving_names_are_blocked(exchange: Exchange):
    names = (b"a\nb", b"-rf", "x\u202ey".encode(), b"A.TXT", b"\xff")
    found = blocked(exchange, dict.fromkeys(names, ("100644", b"")))
    assert {rule for rule, _ in found} == {"tree.bad-name", "tree.case-collision"}
    assert len(found) == len(names)


ATTRIBUTES = (
    b"* -diff\n* binary\n* diff=x\n* working-tree-encoding=UTF-16\n* eol=crlf\n* export-ignore\n"
)


def test_attributes_hide_no_line(exchange: Exchange):
    files: dict[bytes, Leaf] = {
        b".gitattributes": ("100644", ATTRIBUTES),
        b"a.txt": ("100644", b"one\r\nhidden\0\xff\n"),
    }
    change = exchange.admit(files)
    patch = exchange.quarantine.diff(exchange.base.commit, change.commit)
    assert b"+one\r\n+hidden\0\xff\n" in patch
    assert (change.files, change.added, change.removed) == (2, 8, 1)


def zeros(exchange: Exchange, size: int) -> tuple[str, Path]:
    """A tree with one blob of zeros, in a pack a thousand times smaller."""
    whole = hashlib.sha1(f"blob {size}\0".encode())
    packer = zlib.compressobj(9)
    body = b""
    for _ in range(size >> 20):
        whole.update(bytes(1 << 20))
        body += packer.compress(bytes(1 << 20))
    blob = raw_object(3, size, body + packer.flush())
    tree = raw_tree((b"100644", b"zeros", whole.hexdigest()))
    pack = b"PACK\0\0\0\2\0\0\0\2" + blob + raw_object(2, len(tree), zlib.compress(tree))
    path = exchange.inside.path / "zeros.pack"
    path.write_bytes(pack + hashlib.sha1(pack).digest())
    return hashlib.sha1(f"tree {len(tree)}\0".encode() + tree).hexdigest(), path


def raw_object(kind: int, size: int, body: bytes) -> bytes:
    """An object as it stands in a pack."""
    head = [kind << 4 | size & 15]
    size >>= 4
    while size:
        head[-1] |= 128
        head.append(size & 127)
        size >>= 7
    return bytes(head) + body


def test_a_bomb_is_blocked_before_it_is_read(exchange: Exchange):
    tree, pack = zeros(exchange, 96 << 20)
    assert pack.stat().st_size < 1 << 20
    change = exchange.quarantine.admit(tree, pack, parent=exchange.base.commit, note=NOTE)
    assert [finding.rule for finding in change.findings] == ["tree.size"]
    assert (change.files, change.added) == (3, 0)


def test_a_large_pack_is_refused_by_its_size(exchange: Exchange):
    pack = exchange.inside.path / "large.pack"
    with pack.open("wb") as file:
        file.truncate(rules.MAX_PACK + 1)
    assert "larger than" in refused(exchange, "a" * 40, pack)


@pytest.mark.parametrize("depth", [6, 8])
def test_a_million_paths_in_a_small_pack_are_refused(exchange: Exchange, depth: int):
    names = [exchange.inside.put("blob", b"")]
    for mode in (b"100644", *[b"40000"] * (depth - 1)):
        entries = ((mode, b"%d" % number, names[-1]) for number in range(10))
        names.append(exchange.inside.put("tree", raw_tree(*entries)))
    pack = packed(exchange.inside.path, *names)
    assert pack.stat().st_size < 2000
    assert "More paths changed than can be looked at" in refused(exchange, names[-1], pack)


def test_deep_paths_in_a_small_pack_do_not_fill_the_memory(exchange: Exchange):
    names = [exchange.inside.put("blob", b"")]
    for mode in (b"100644", *[b"40000"] * 1500):
        names.append(exchange.inside.put("tree", raw_tree((mode, b"a", names[-1]))))
    entries = ((b"40000", b"%04d" % number, names[-1]) for number in range(1000))
    names.append(exchange.inside.put("tree", raw_tree(*entries)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reason = refused(exchange, names[-1], packed(exchange.inside.path, *names))
    assert "Paths changed in more folders than can be looked at" in reason
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 << 10

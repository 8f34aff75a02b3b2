"""Pointers to large files stay as they are: no filter runs, whoever configured one."""

from tests.conftest import git

POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)
ATTRIBUTES = b"*.bin filter=lfs diff=lfs merge=lfs -text\n"
FILTER = """\
[filter "lfs"]
	clean = touch {0}; tr a-z A-Z
	smudge = touch {0}; tr a-z A-Z
	required = true
"""


def test_pointers_come_in_and_go_out_as_they_are(desk_with, tmp_path, monkeypatch):
    ran_here = tmp_path / "ran"
    (tmp_path / "me").mkdir()
    (tmp_path / "me/.gitconfig").write_text(FILTER.format(ran_here))
    desk = desk_with({".gitattributes": ATTRIBUTES, "large.bin": POINTER})
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    configure = "git config --global filter.lfs.{} 'touch /tmp/ran; tr a-z A-Z'"
    ran = desk.run(
        "sed s/12345/54321/ large.bin >next.bin; git status; test ! -e /tmp/ran",
        setup=tuple(configure.format(name) for name in ("clean", "smudge")),
        checks=("test $(wc -c <large.bin) = 130",),
    )
    branch = ran.record.branch
    assert git(desk.repository, "cat-file", "blob", f"{branch}:large.bin") == POINTER
    assert git(desk.repository, "cat-file", "blob", f"{branch}:next.bin") == POINTER.replace(
        b"12345", b"54321"
    )
    assert (ran.record.outcome, ran_here.exists()) == ("done", False)

import contextlib
import io

import pytest
from docker.errors import NotFound

from sandbox import Exit, Limits, Line, Snapshot, open_box
from sandbox import box as box_module
from sandbox.errors import ImageError, SandboxLostError
from sandbox.terminals import Terminals


def test_a_box_holds_exactly_the_prepared_files(box, source):
    assert box.rehash() == source.tree


def test_lines_come_in_order_and_the_exit_comes_last(box):
    *lines, end = box.stream(["sh", "-c", "echo one; printf two; exit 3"])
    assert lines == [Line("stdout", b"one"), Line("stdout", b"two")]
    assert end == Exit(3, end.seconds, size=7)


def test_run_returns_both_streams_up_to_the_limit(box):
    done = box.run(["sh", "-c", "echo out; echo err >&2"], limit=2)
    assert (done.stdout, done.stderr, done.exit.size) == (b"ou", b"er", 8)


def test_keep_gets_every_byte(box):
    kept = io.BytesIO()
    list(box.stream(["printf", "a\\0b\\r\\nc"], keep=kept))
    assert kept.getvalue() == b"a\0b\r\nc"


def test_keep_says_what_it_left_out(box, monkeypatch):
    monkeypatch.setattr(box_module, "KEPT", 3)
    kept = io.BytesIO()
    list(box.stream(["printf", "abcdef"], keep=kept))
    assert kept.getvalue() == b"abc\n[3 bytes more are not kept]\n"


def test_commands_see_declared_variables_and_none_of_the_host(box, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@proxy")
    environment = box.run(["env"], env={"DECLARED": "yes"}).stdout.decode().split("\n")
    assert {"HOME=/home/agent", "USER=agent", "TZ=UTC", "DECLARED=yes"} <= set(environment)
    assert not [line for line in environment if "secret" in line]


def test_a_snapshot_and_a_reset_bring_files_into_another_box(box, make_box, source, tmp_path):
    box.files.write("new.txt", b"new\n")
    taken = box.snapshot(source.tree, tmp_path / "pack")
    assert isinstance(taken, Snapshot)
    proof = make_box(purpose="proof")
    proof.reset(taken.pack, taken.tree)
    assert proof.files.read("new.txt") == b"new\n"


def processes(engine, box, of):
    """Whose command line holds this, by their numbers on the engine's machine."""
    rows = engine.client.containers.get(box.id).top()["Processes"]
    return {row[1] for row in rows if of in row[-1]}


LEAVE = ["sh", "-c", "setsid sleep 71 >/dev/null 2>&1 &"]


@pytest.mark.parametrize(
    "start",
    [
        lambda box: box.run(LEAVE),
        lambda box: box.run(LEAVE, evidence=True),
        lambda box: box.terminals.open(["sleep", "71"]),
    ],
    ids=["command", "evidence", "terminal"],
)
def test_a_sweep_ends_what_was_started_since_the_last_one(engine, box, start):
    box.sweep()
    start(box)
    assert processes(engine, box, "sleep 71")
    box.files.list()
    box.sweep()
    assert not processes(engine, box, "sleep 71")


def test_a_sweep_with_no_command_since_the_last_one_ends_nothing_of_ours(engine, box):
    box.sweep()
    box.files.list()
    before = processes(engine, box, "inside.channel")
    box.sweep()
    assert before & processes(engine, box, "inside.channel")


@pytest.mark.parametrize("evidence", [False, True])
def test_a_sweep_in_the_midst_of_a_command_is_not_the_last(box, evidence):
    lines = box.stream(["sh", "-c", "echo up; sleep 71"], evidence=evidence)
    assert next(lines) == Line("stdout", b"up")
    box.sweep()
    assert not box.channel.quiet
    lines.close()


def test_a_sweep_ends_a_terminal_that_another_thread_is_opening(engine, box):
    @contextlib.contextmanager
    def between():
        with box.channel.disturbing():
            box.sweep()
            yield
            box.sweep()

    opening = Terminals(engine, box.id, {}, between)
    with opening.open(["sleep", "71"]):
        assert not processes(engine, box, "sleep 71")


def test_a_live_box_is_not_lost(box):
    assert box.lost() is None


def test_a_command_whose_container_dies_raises(engine, make_box):
    lost = make_box()
    output = lost.stream(["sh", "-c", "echo begun; sleep 60"])
    assert next(output) == Line("stdout", b"begun")
    engine.client.api.kill(lost.id)
    with pytest.raises(SandboxLostError, match=r"ended at .* with exit status 137"):
        list(output)
    assert "exit status 137" in str(lost.lost())


def test_a_removed_container_is_told(engine, make_box):
    gone = make_box()
    engine.client.api.remove_container(gone.id, force=True)
    with pytest.raises(SandboxLostError, match="removed from outside"):
        gone.run(["true"])


def test_a_box_ends_itself_at_its_time_limit(engine, make_box):
    brief = make_box(Limits(seconds=1))
    engine.client.api.wait(brief.id, timeout=20)
    lost = brief.lost()
    assert (lost.limit, "time limit" in str(lost)) == ("time", True)


def test_a_dead_box_goes_on_in_a_new_container(engine, make_box):
    box = make_box()
    box.files.write("/home/agent/note", b"")
    first = box.id
    engine.client.api.kill(first)
    box.reopen()
    assert (box.lost(), box.openings, box.id != first) == (None, 2, True)
    assert not box.run(["test", "-e", "/home/agent/note"]).exit.ok
    with pytest.raises(NotFound):
        engine.client.api.inspect_container(first)


def test_a_box_that_goes_on_has_new_neighbours(engine, image):
    joined = []

    class Beside:
        @contextlib.contextmanager
        def join(self, engine, container, labels):
            joined.append(container)
            yield {"BESIDE": container}
            joined.remove(container)

    with open_box(
        engine, image, Limits(), run="test", purpose="work", neighbours=[Beside()]
    ) as box:
        box.reopen()
        assert box.run(["sh", "-c", "echo $BESIDE"]).stdout.decode().strip() == box.id
        assert joined == [box.id]
    assert joined == []


@pytest.mark.parametrize("reason", [RuntimeError, KeyboardInterrupt])
def test_the_container_goes_whatever_happens(engine, image, reason):
    opened = open_box(engine, image, Limits(), run="test", purpose="work")
    box = opened.__enter__()
    next(box.stream(["sh", "-c", "echo begun; sleep 60"]))
    assert not opened.__exit__(reason, reason(), None)
    with pytest.raises(NotFound):
        engine.client.api.inspect_container(box.id)


def test_two_boxes_on_one_image_share_nothing(box, make_box):
    other = make_box()
    box.files.write("/tmp/mine", b"")
    assert not other.run(["test", "-e", "/tmp/mine"]).exit.ok


def test_an_image_that_is_missing_is_named(make_box):
    with pytest.raises(ImageError, match="no-such-image:9 is missing"):
        make_box(image="no-such-image:9")

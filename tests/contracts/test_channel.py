"""What every Channel has to do; each member runs through all of it, on every kind of image."""

import threading
import time
import tracemalloc
from contextlib import ExitStack

import pytest

from sandbox import Limits, open_box
from sandbox.attach import BACKLOG
from sandbox.channel import Chunk
from sandbox.errors import SandboxLostError
from sandbox.exec import ExecChannel
from sandbox.framed import FramedChannel
from sandbox.lines import CAP, lines
from sandbox.pipe import Pipe
from sandbox.stream import Exit, Line
from tests.images_kinds import KINDS

MEMBERS = {"exec": ExecChannel, "framed": FramedChannel}


@pytest.fixture(scope="module")
def channels(engine, prepared_kind):
    """A channel of a member into a box of a kind.

    Each has its own box: what one of them sweeps is the server of the other one, too.
    """
    with ExitStack() as stack:
        boxes, made = {}, {}

        def find(member, kind):
            if (member, kind) not in boxes:
                opened = open_box(engine, prepared_kind(kind), Limits(), run="test", purpose="work")
                boxes[member, kind] = stack.enter_context(opened)
            box = boxes[member, kind]
            if member == "framed":
                return box.channel
            return made.setdefault(kind, ExecChannel(engine, box.id))

        yield find


@pytest.fixture(params=[f"{member} {kind}" for member in MEMBERS for kind in KINDS])
def channel(request, channels):
    return channels(*request.param.split())


@pytest.fixture(params=MEMBERS)
def plain(request, channels):
    """For what no image can make a difference to."""
    return channels(request.param, "base")


def run(channel, script, **options):
    """The bytes of both streams, and the Exit."""
    *chunks, end = channel.start(["sh", "-c", script], **options)
    streams = {"stdout": b"", "stderr": b""}
    for chunk in chunks:
        streams[chunk.stream] += chunk.data
    return streams["stdout"], streams["stderr"], end


def survivors(channel):
    """How many processes sleep in the box."""
    counted = r"cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' | grep -o 'sleep 6[0-9]' | wc -l"
    return int(run(channel, counted)[0])


def test_both_streams_and_the_status_come_back(channel):
    stdout, stderr, end = run(channel, "echo out; echo err >&2; exit 7")
    assert (stdout, stderr) == (b"out\n", b"err\n")
    assert end == Exit(7, end.seconds, size=8)


def test_work_is_done_by_the_working_user_in_the_workspace(channel):
    assert run(channel, "id -u; pwd; echo $HOME")[0] == b"10001\n/workspace\n/home/agent\n"


def test_input_arrives_whole_and_ends(channel):
    sent = bytes(range(256)) * 20_000
    assert run(channel, "cat", stdin=sent)[0] == sent


def test_input_that_nobody_reads_does_no_harm(plain):
    assert run(plain, "exit 4", stdin=b"x" * 5_000_000)[2].status == 4


def test_without_input_a_command_finds_the_end_at_once(channel):
    assert run(channel, "wc -c")[0] == b"0\n"


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 137", 137), ("kill -9 $$", 137), ("kill -TERM $$", 143), ("exit 124", 124)],
)
def test_a_status_and_a_signal_come_back(channel, script, status):
    end = run(channel, script)[2]
    assert end == Exit(status, end.seconds)


def test_a_program_that_is_missing_is_a_value(channel):
    *_, end = channel.start(["no-such-program"])
    assert end.status in (126, 127)


def test_what_ends_a_shell_ends_nothing_else(channel):
    run(channel, "exit")
    assert run(channel, "echo 'unbalanced")[2].status == 2
    assert run(channel, "echo fine")[0] == b"fine\n"


def test_bytes_come_back_as_they_are(channel):
    script = r"printf '\000\377\342\200\250\r\033[31m\000'; printf 'last'"
    assert run(channel, script)[0] == b"\0\xff\xe2\x80\xa8\r\x1b[31m\0last"


def test_arguments_survive_as_they_are(channel):
    arguments = ["", "a b", "'\"$(id)\n", "ü\u2028", "-n"]
    command = ["sh", "-c", 'printf "%s\\0" "$@"', "sh", *arguments]
    *chunks, _ = channel.start(command)
    said = b"".join(chunk.data for chunk in chunks)
    assert said == b"".join(text.encode() + b"\0" for text in arguments)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["x" * 131_072], b"argument list too long"),
        (["x" * 131_071] * 8, b"argument list too long"),
        (["\udcff"], b"arguments must be UTF-8"),
        (["a\0b"], b"arguments cannot hold NUL"),
    ],
    ids=["long", "many", "bytes", "nul"],
)
def test_arguments_that_cannot_be_given_are_a_value(plain, arguments, reason):
    chunk, end = plain.start(["echo", *arguments])
    assert (chunk.stream, chunk.data[: len(reason)]) == ("stderr", reason)
    assert end == Exit(126, end.seconds, size=len(chunk.data))


def test_the_largest_arguments_arrive(plain):
    *chunks, _ = plain.start(["printf", "%s", *["x" * 131_071] * 7])
    assert sum(len(chunk.data) for chunk in chunks) == 7 * 131_071


def test_a_folder_and_variables_are_obeyed(channel):
    assert run(channel, "pwd; echo $A", cwd="/tmp", env={"A": "b"})[0] == b"/tmp\nb\n"


def test_a_missing_folder_is_a_value(channel):
    assert run(channel, "true", cwd="/missing")[2].status in (126, 127)


def test_the_time_limit_ends_what_ignores_signals(channel):
    end = run(channel, "trap '' TERM INT HUP; sleep 61 & wait; sleep 61", seconds=0.5)[2]
    assert end == Exit(124, end.seconds, timed_out=True)
    assert end.seconds < 30


def test_the_time_limit_ends_processes_in_other_sessions(channel):
    run(channel, "setsid sleep 62 & env -i setsid sleep 62 & sleep 62", seconds=0.5)
    assert survivors(channel) == 0


def test_a_consumer_that_leaves_ends_the_command(channel):
    output = channel.start(["sh", "-c", "setsid sleep 63 & echo on; sleep 63"])
    assert next(output) == Chunk("stdout", b"on\n")
    output.close()
    assert survivors(channel) == 0


def test_a_flood_on_one_stream_does_not_block_the_other(channel):
    stdout, stderr, _ = run(channel, "head -c 3000000 /dev/zero >&2; echo done")
    assert (stdout, len(stderr)) == (b"done\n", 3_000_000)


def test_two_commands_run_at_once(channel):
    ends = []
    script = "touch /tmp/$A; until [ -e /tmp/$B ]; do sleep 0.05; done; rm /tmp/$B"
    threads = [
        threading.Thread(
            target=lambda env: ends.append(run(channel, script, env=env)[2].status),
            args=[{"A": one, "B": other}],
        )
        for one, other in [("left", "right"), ("right", "left")]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends == [0, 0]


def test_a_large_output_needs_little_memory(plain):
    tracemalloc.start()
    output = plain.start(["head", "-c", "100000000", "/dev/zero"])
    shown = list(lines(output))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert shown[0] == Line("stdout", bytes(CAP), cut=True)
    assert shown[1:] == [Exit(0, shown[1].seconds, size=100_000_000)]
    assert peak < 2 * BACKLOG


def test_an_output_without_end_ends_with_its_consumer(channel):
    output = channel.start(["yes"])
    next(output)
    time.sleep(0.2)  # so that it fills all there is between it and us
    output.close()
    assert run(channel, "echo fine")[0] == b"fine\n"


def test_a_slow_consumer_holds_up_nobody_else(channel):
    output = channel.start(["yes"])
    next(output)
    assert run(channel, "echo fine")[0] == b"fine\n"
    output.close()


def test_a_process_left_behind_stays_until_the_sweep(channel):
    run(channel, "setsid sleep 66 >/dev/null 2>&1 &")
    assert survivors(channel) == 1
    channel.sweep()
    assert survivors(channel) == 0


def test_a_process_left_behind_that_holds_the_output_does_not_hold_the_command(channel):
    stdout, _, end = run(channel, "sleep 67 & echo done", seconds=30)
    assert (stdout, end.status, end.seconds < 4) == (b"done\n", 0, True)
    channel.sweep()


def test_a_sweep_ends_a_running_command(plain):
    output = plain.start(["sh", "-c", "echo on; sleep 68"])
    next(output)
    plain.sweep()
    *_, end = output
    assert end == Exit(137, end.seconds, size=end.size)


def test_our_own_programs_answer(channel):
    *chunks, end = channel.call("files", stdin=b'{"do": "list", "path": "src", "seconds": 9}\n')
    said = b"".join(chunk.data for chunk in chunks)
    assert (said, end.status) == (b'{"names": ["app.py"], "more": 0}\n', 0)


def talk(channel, script, pipe, **options):
    """A command that runs. What it prints before it is spoken to may get lost here."""
    output = channel.start(["sh", "-c", f"echo up; {script}"], stdin=pipe, **options)
    assert until(output, b"up\n").startswith(b"up\n")
    return output


def until(output, said):
    """Read on until this was printed; what was printed by then."""
    heard = b""
    while said not in heard:
        heard += next(output).data
    return heard


def rest(output):
    """What was printed on stdout, and the Exit."""
    *chunks, end = output
    return b"".join(chunk.data for chunk in chunks if chunk.stream == "stdout"), end


def test_input_can_be_written_while_a_command_runs(channel):
    pipe = Pipe()
    output = talk(channel, 'read one; echo "<$one>"; read two; echo "<$two>"; cat', pipe)
    assert pipe.write(b"a\n")
    assert until(output, b">\n") == b"<a>\n"
    assert pipe.write(b"half ")
    assert pipe.write(b"a line\n")
    assert until(output, b">\n") == b"<half a line>\n"
    pipe.write(b"the last")
    pipe.close()
    said, end = rest(output)
    assert (said, end.status) == (b"the last", 0)


def test_input_written_before_the_command_starts_arrives(plain):
    pipe = Pipe()
    pipe.write(b"early\n")
    pipe.close()
    assert rest(plain.start(["cat"], stdin=pipe))[0] == b"early\n"


def test_a_conversation_of_large_lines_arrives_whole(plain):
    """5 MB each way, several times, while nobody may wait for the other one to read first."""
    line = b"x" * 5_000_000 + b"\n"
    pipe, heard = Pipe(), bytearray()
    output = talk(plain, "cat", pipe)
    for _ in range(3):
        assert pipe.write(line)
        wanted = len(heard) + len(line)
        while len(heard) < wanted:
            heard += next(output).data
    pipe.close()
    assert (rest(output)[0], bytes(heard) == line * 3) == (b"", True)


def test_input_that_is_never_read_fills_nothing_but_its_pipe(plain):
    pipe = Pipe()
    output = talk(plain, "sleep 2; echo over", pipe)
    piece = b"x" * (1 << 20)
    written = sum(pipe.write(piece) for _ in range(40))
    assert 16 <= written < 40
    said, end = rest(output)
    assert (said, end.status) == (b"over\n", 0)
    assert not pipe.write(b"x")


def test_a_command_that_closes_its_input_runs_on(plain):
    pipe = Pipe()
    output = talk(plain, "exec <&-; sleep 2; echo over", pipe)
    for _ in range(20):
        pipe.write(b"x" * 100_000)
    said, end = rest(output)
    assert (said, end.status) == (b"over\n", 0)


def test_input_gets_through_to_a_command_that_floods(plain):
    pipe = Pipe()
    output = talk(plain, 'yes & read word; kill $!; wait; echo; echo "heard $word"', pipe)
    next(output)
    assert pipe.write(b"stop\n")
    said, end = rest(output)
    assert (said.endswith(b"\nheard stop\n"), end.status) == (True, 0)


def test_a_command_in_mid_conversation_is_ended_like_any_other(plain):
    pipe = Pipe()
    output = talk(plain, "sleep 69; cat", pipe)
    pipe.write(b"x\n")
    output.close()
    assert not pipe.write(b"x\n")
    assert survivors(plain) == 0


def test_a_dead_box_ends_a_conversation(engine, prepared_kind, plain):
    with open_box(engine, prepared_kind("base"), Limits(), run="test", purpose="work") as box:
        channel = box.channel if isinstance(plain, FramedChannel) else ExecChannel(engine, box.id)
        pipe = Pipe()
        output = talk(channel, "cat", pipe)
        engine.client.containers.get(box.id).kill()
        with pytest.raises(SandboxLostError):
            rest(output)
        assert not pipe.write(b"x")

"""What every Channel has to do; each member runs through all of it."""

import threading
import tracemalloc

import pytest

from sandbox.attach import BACKLOG
from sandbox.channel import Chunk
from sandbox.exec import ExecChannel
from sandbox.lines import CAP, lines
from sandbox.stream import Exit, Line

MEMBERS = {"exec": ExecChannel}


@pytest.fixture(params=MEMBERS)
def channel(request, engine, box):
    return MEMBERS[request.param](engine, box.id)


@pytest.fixture(params=[True, False], ids=["reaped", "evidence"])
def reap(request):
    return request.param


def run(channel, script, **options):
    """The bytes of both streams, and the Exit."""
    *chunks, end = channel.start(["sh", "-c", script], **options)
    streams = {"stdout": b"", "stderr": b""}
    for chunk in chunks:
        streams[chunk.stream] += chunk.data
    return streams["stdout"], streams["stderr"], end


def survivors(channel, name):
    """How many processes of this name run in the box."""
    return len(run(channel, f"pgrep -x {name}")[0].split())


def test_both_streams_and_the_status_come_back(channel, reap):
    stdout, stderr, end = run(channel, "echo out; echo err >&2; exit 7", reap=reap)
    assert (stdout, stderr) == (b"out\n", b"err\n")
    assert end == Exit(7, end.seconds, size=8)


def test_input_arrives_whole_and_ends(channel, reap):
    sent = bytes(range(256)) * 20_000
    assert run(channel, "cat", stdin=sent, reap=reap)[0] == sent


def test_input_that_nobody_reads_does_no_harm(channel, reap):
    assert run(channel, "exit 4", stdin=b"x" * 5_000_000, reap=reap)[2].status == 4


def test_without_input_a_command_finds_the_end_at_once(channel, reap):
    assert run(channel, "wc -c", reap=reap)[0] == b"0\n"


def test_a_signal_shows_in_the_status(channel, reap):
    assert run(channel, "kill -TERM $$", reap=reap)[2].status == 143


def test_a_program_that_is_missing_is_a_value(channel, reap):
    *_, end = channel.start(["no-such-program"], reap=reap)
    assert end.status in (126, 127)


def test_arguments_survive_as_they_are(channel, reap):
    arguments = ["", "a b", "'\"$(id)\n", "ü\u2028", "-n"]
    command = ["sh", "-c", 'printf "%s\\0" "$@"', "sh", *arguments]
    *chunks, _ = channel.start(command, reap=reap)
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
def test_arguments_that_cannot_be_given_are_a_value(channel, reap, arguments, reason):
    chunk, end = channel.start(["echo", *arguments], reap=reap)
    assert (chunk.stream, chunk.data[: len(reason)]) == ("stderr", reason)
    assert end == Exit(126, end.seconds, size=len(chunk.data))


def test_the_largest_arguments_arrive(channel, reap):
    *chunks, _ = channel.start(["printf", "%s", *["x" * 131_071] * 7], reap=reap)
    assert sum(len(chunk.data) for chunk in chunks) == 7 * 131_071


def test_a_folder_and_variables_are_obeyed(channel, reap):
    assert run(channel, "pwd; echo $A", cwd="/tmp", env={"A": "b"}, reap=reap)[0] == b"/tmp\nb\n"


def test_a_missing_folder_is_a_value(channel, reap):
    assert run(channel, "true", cwd="/missing", reap=reap)[2].status in (126, 127)


def test_the_time_limit_ends_what_ignores_signals(channel, reap):
    end = run(channel, "trap '' TERM INT HUP; sleep 61 & wait; sleep 61", seconds=1, reap=reap)[2]
    assert end == Exit(124, end.seconds, timed_out=True)
    assert end.seconds < 6


def test_the_time_limit_ends_processes_in_other_sessions(channel, reap):
    run(channel, "setsid sleep 62 & env -i setsid sleep 62 & sleep 62", seconds=1, reap=reap)
    assert survivors(channel, "sleep") == 0


def test_an_exit_of_124_is_no_time_limit(channel, reap):
    assert not run(channel, "exit 124", reap=reap)[2].timed_out


def test_a_consumer_that_leaves_ends_the_command(channel, reap):
    output = channel.start(["sh", "-c", "setsid sleep 63 & echo on; sleep 63"], reap=reap)
    assert next(output) == Chunk("stdout", b"on\n")
    output.close()
    assert survivors(channel, "sleep") == 0


def test_a_consumer_that_leaves_ends_nothing_else(channel):
    run(channel, "sleep 64 >/dev/null 2>&1 &")
    output = channel.start(["sh", "-c", "echo on; sleep 65"])
    next(output)
    output.close()
    assert survivors(channel, "sleep") == 1
    channel.sweep()


def test_a_flood_on_one_stream_does_not_block_the_other(channel, reap):
    script = "head -c 3000000 /dev/zero >&2; echo done"
    stdout, stderr, _ = run(channel, script, reap=reap)
    assert (stdout, len(stderr)) == (b"done\n", 3_000_000)


def test_two_commands_run_at_once(channel, reap):
    ends = []
    script = "touch /tmp/$A; until [ -e /tmp/$B ]; do sleep 0.05; done; rm /tmp/$B"
    threads = [
        threading.Thread(
            target=lambda env: ends.append(run(channel, script, env=env, reap=reap)[2].status),
            args=[{"A": one, "B": other}],
        )
        for one, other in [("left", "right"), ("right", "left")]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends == [0, 0]


def test_a_large_output_needs_little_memory(channel, reap):
    tracemalloc.start()
    output = channel.start(["head", "-c", "100000000", "/dev/zero"], reap=reap)
    shown = list(lines(output))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert shown[0] == Line("stdout", bytes(CAP), cut=True)
    assert shown[1:] == [Exit(0, shown[1].seconds, size=100_000_000)]
    assert peak < 2 * BACKLOG


def test_a_process_left_behind_stays_until_the_sweep(channel):
    run(channel, "setsid sleep 66 >/dev/null 2>&1 &")
    assert survivors(channel, "sleep") == 1
    channel.sweep()
    assert survivors(channel, "sleep") == 0

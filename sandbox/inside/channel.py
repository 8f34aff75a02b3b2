"""The server of a sandbox: runs commands for whoever holds the other end of stdin and stdout.

    inside.channel      from the toolbox's folder; frames as in `wire`, until stdin ends

It waits for many things and for none of them alone: no command, and no reader that is slow, holds
up another one. Nothing that a process of the same user can do makes it say what is not so: it is
not dumpable, so its memory and its pipes are out of their reach. They can kill it, which shows.
"""

import gc
import os
import select
import signal
import sys
import time
from typing import NoReturn

from . import reaper
from .seat import Ending, Seat, Source, Warden, reap
from .wire import (
    CALL,
    DONE,
    ENDED,
    ENDING,
    ERR,
    HEADER,
    HELLO,
    INPUT,
    INPUT_ROOM,
    LONGEST,
    NUMBER,
    PIECE,
    REFUSED,
    ROOM,
    SIGNAL,
    START,
    STOP,
    Outlet,
)

FROM, TO = 0, 1
BACKLOG = 4 * PIECE
"""Bytes that may wait to be sent before no more output is read."""
IDLE, LATER = 2, 1000
"""Milliseconds without anything to do before a warden is made, and before that is tried again."""
INPUT_LIMIT = 1 << 20
SPARES = 2
ATTEMPTS = 20
PAUSE = 0.05
CLEARED = b"[the limit of processes was reached: all other processes were ended]\n"
NO_PROCESS = b"no process is left to start the command with\n"


class Server:
    """Commands by their number, and wardens kept ready for the next."""

    def __init__(self) -> None:
        self.out = Outlet(TO)
        self.seats: dict[int, Seat] = {}
        self.spares: list[Warden] = []
        self.idle = IDLE
        self.memory = b""
        self._held = b""

    def serve(self) -> None:
        self.send(HELLO, 0)
        while self.turn():
            pass

    def turn(self) -> bool:
        """Wait for something to do, and do it; False when the other side has gone."""
        ready = dict(self.waiting().poll(None if self.spares else self.idle))
        if not ready:
            self.prepare()
            self.idle = IDLE if self.spares else LATER
        if ready.get(TO):
            self.out.push()
        if ready.get(FROM) and not self.take():
            return False
        for seat in list(self.seats.values()):
            self.attend(seat, ready)
        for spare in list(self.spares):
            if ready.get(spare.fd) and spare.hear() is None:
                spare.signal()  # somebody killed it
                self.spares.remove(spare)
        return self.out.fd != -1

    def waiting(self) -> "select.poll":
        poll = select.poll()
        poll.register(FROM, select.POLLIN)
        if self.out.size:
            poll.register(TO, select.POLLOUT)
        for spare in self.spares:
            poll.register(spare.fd, select.POLLIN)
        for seat in self.seats.values():
            if seat.warden:
                more = select.POLLOUT if seat.warden.busy else 0
                poll.register(seat.warden.fd, select.POLLIN | more)
            if seat.stdin.size:
                poll.register(seat.stdin.fd, select.POLLOUT)
            if seat.room > 0 and self.out.size < BACKLOG:
                for source in seat.sources:
                    if not source.finished:
                        poll.register(source.fd, select.POLLIN)
        return poll

    def attend(self, seat: Seat, ready: dict[int, int]) -> None:
        if seat.warden and seat.warden.busy and ready.get(seat.warden.fd):
            seat.warden.push()
        if seat.stdin.size and ready.get(seat.stdin.fd):
            seat.stdin.push()
            self.fed(seat)
        # Before its end is heard: then what is read belongs to the command in any case.
        for source in seat.sources:
            if ready.get(source.fd):
                self.carry(seat, source)
        if seat.warden and ready.get(seat.warden.fd):
            self.hear(seat)
        if seat.ending and (seat.stopped or all(source.finished for source in seat.sources)):
            self.close(seat)

    def carry(self, seat: Seat, source: Source) -> None:
        data = source.read(min(PIECE, seat.room))
        if data and not seat.stopped:
            seat.room -= len(data)
            self.send(source.kind, seat.number, data)

    def hear(self, seat: Seat) -> None:
        wish, free = seat.hear()
        if seat.memory is not None:
            self.memory, seat.memory = seat.memory, None
        if free and not seat.asked and len(self.spares) < SPARES:
            self.spares.append(free)
        elif free:
            free.leave()
        if wish == "started":
            seat.go()
            self.fed(seat)
        elif wish == "crowded":
            self.make_room()
            self.start_anew(seat)
            return
        elif wish == "overrun":
            self.make_room(seat)
        if seat.ending:
            self.ended(seat, seat.ending)

    def ended(self, seat: Seat, ending: Ending) -> None:
        seat.stdin.close()
        seat.end_sources()
        self.send(ENDED, seat.number, ENDING.pack(ending.how, ending.value))

    def close(self, seat: Seat) -> None:
        said = seat.leave()
        if said and not seat.stopped:
            self.send(ERR, seat.number, said)
        self.send(DONE, seat.number)
        del self.seats[seat.number]
        reap()

    def make_room(self, but: Seat | None = None) -> None:
        """End every process of this user except this one; the kernel does it in one go."""
        for seat in self.seats.values():
            if seat is not but and not seat.ending:
                self.send(ERR, seat.number, CLEARED)
        reaper.kill(-1)
        while self.spares:
            self.spares.pop().leave()

    def start_anew(self, seat: Seat) -> None:
        job, early = seat.job, seat.early
        seat.leave()
        del self.seats[seat.number]
        self.start(seat.number, job)
        if again := self.seats.get(seat.number):
            again.room, again.given, again.early = seat.room, seat.given, early

    def prepare(self) -> None:
        if not self.spares and (warden := warden_if_possible()):
            self.spares.append(warden)

    def start(self, number: int, job: bytes) -> None:
        warden = self.spares.pop() if self.spares else None
        for attempt in range(ATTEMPTS):
            if warden := warden or warden_if_possible():
                break
            if not attempt:
                self.make_room()
                self.send(ERR, number, CLEARED)
            time.sleep(PAUSE)
            reap()
        else:
            self.send(ERR, number, NO_PROCESS)
            self.send(ENDED, number, ENDING.pack(REFUSED, 126))
            self.send(DONE, number)
            return
        self.seats[number] = Seat(number, job, self.memory, warden)

    def take(self) -> bool:
        """Read frames of the other side, and obey them."""
        data = os.read(FROM, 1 << 20)
        self._held += data
        at = 0
        while len(self._held) - at >= HEADER.size:
            kind, number, length = HEADER.unpack_from(self._held, at)
            end = at + HEADER.size + length
            if length > LONGEST:
                return False
            if len(self._held) < end:
                break
            self.obey(kind, number, self._held[at + HEADER.size : end])
            at = end
        self._held = self._held[at:]
        return bool(data)

    def obey(self, kind: int, number: int, content: bytes) -> None:
        if kind == START:
            self.start(number, content)
            return
        if kind == CALL:
            self.start(number, content)
            # Its warden does not come back. While it works there is time to make the next one.
            self.prepare()
            return
        seat = self.seats.get(number)
        if seat is None:
            return  # it has ended meanwhile
        if kind == INPUT:
            seat.given -= len(content)
            seat.feed(content)
            self.fed(seat)
        elif kind == ROOM:
            seat.room += NUMBER.unpack(content)[0]
        elif kind == STOP:
            self.stop(seat)
        elif kind == SIGNAL:
            seat.ask(NUMBER.unpack(content)[0])

    def fed(self, seat: Seat) -> None:
        """Say how much more input may come, once that is worth a frame."""
        held = seat.stdin.size + sum(map(len, seat.early))
        room = INPUT_LIMIT - held - seat.given
        if room >= INPUT_LIMIT // 4 and not seat.ending:
            seat.given += room
            self.send(INPUT_ROOM, seat.number, NUMBER.pack(room))

    def stop(self, seat: Seat) -> None:
        """End a command of which nobody wants to know any more."""
        seat.stopped = True
        seat.room = 1 << 40  # what it still says is read and forgotten
        if not seat.ask(reaper.STOP_WANTED):
            self.close(seat)

    def send(self, kind: int, number: int, content: bytes = b"") -> None:
        self.out.put(HEADER.pack(kind, number, len(content)), content)


def warden_if_possible() -> Warden | None:
    try:
        return Warden()
    except OSError:
        return None


def main() -> NoReturn:
    reaper.shield()
    os.chdir("/")
    # Signals of the same user do nothing here; two of them are awaited by the sub-reapers.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    gc.collect()
    gc.freeze()  # or the first collection in a child would copy all pages
    gc.disable()
    status = 1
    try:
        Server().serve()
        status = 0
    finally:
        if status:
            sys.excepthook(*sys.exc_info())
        os._exit(status)


if __name__ == "__main__":
    main()

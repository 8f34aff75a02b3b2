"""What a relay and a gateway add to a request to a model, and to each event of its stream.

A client in a box asks a server in the same box directly over its loopback, and a server on the
host through relay and gateway; both servers are the same program. Each event carries the time at
which it was sent, on the clock that all processes of a machine share: the engine must run on this
machine.
"""

import json
import secrets
import statistics
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.material import prepared, small_repository
from sandbox import Box, Limits, connect, open_box
from sandbox.gateway.budget import Budget, Ledger
from sandbox.gateway.gateway import open_gateway
from sandbox.gateway.models import Models
from sandbox.gateway.provider import Provider
from sandbox.gateway.relay import PORT, Relay
from sandbox.gateway.routes import Route

ROUNDS, REQUESTS, EVENTS = 5, 40, 200
DIRECT = 18080
PEER = Path(__file__).with_name("peer_model.py").read_text("utf-8")


def _ask(box: Box, port: int, token: str) -> dict[str, list[float]]:
    """Seconds of each whole request, and from the sending to the arrival of each event."""
    words = ["ask", str(port), token, str(REQUESTS), str(EVENTS)]
    done = box.run(["python3", "-c", PEER, *words], seconds=120)
    assert done.exit.ok, done.stderr
    return dict(json.loads(done.stdout))


def _row(name: str, taken: list[float], floor: list[float]) -> str:
    median, slow = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
    added = median - statistics.median(floor)
    return (
        f"  {name:<34} {median * 1000:8.2f} ms   p95 {slow * 1000:8.2f}   added {added * 1000:6.2f}"
    )


def _measure(box: Box, token: str) -> None:
    """Both ways take turns."""
    ways = {"direct": DIRECT, "relay and gateway": PORT}
    taken: dict[str, dict[str, list[float]]] = {way: {"request": [], "event": []} for way in ways}
    for _ in range(ROUNDS):
        for way, port in ways.items():
            for kind, times in _ask(box, port, token).items():
                taken[way][kind] += times
    for kind in ("request", "event"):
        for way in ways:
            print(_row(f"{kind}, {way}", taken[way][kind], taken["direct"][kind]))


def main() -> None:
    print("\nA model behind relay and gateway, against the same server reached directly")
    engine, token = connect(), secrets.token_urlsafe()
    with ExitStack() as stack:
        path = stack.enter_context(small_repository())
        home = Path(stack.enter_context(TemporaryDirectory(prefix="benchmark-")))
        served = [sys.executable, "-c", PEER, "serve", "0"]
        server = stack.enter_context(subprocess.Popen(served, stdout=subprocess.PIPE, text=True))
        stack.callback(server.terminate)
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        route = Route("anthropic", url, "key", ("*",))
        models = Models([route], token, Provider(), Ledger(Budget(), lambda model, usage: None))
        relay = Relay(stack.enter_context(open_gateway(models)).accept)
        image = prepared(engine, path, home).image
        opened = open_box(
            engine, image, Limits(), run="benchmark", purpose="work", neighbours=[relay]
        )
        box = stack.enter_context(opened)
        inside = ["sh", "-c", 'python3 -c "$0" serve "$1" >/dev/null 2>&1 &', PEER, str(DIRECT)]
        assert box.run(inside).exit.ok
        _measure(box, token)


if __name__ == "__main__":
    main()

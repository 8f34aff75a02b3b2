import subprocess
import sys

from sandbox.gateway.usage import Usage


def test_usages_add_up():
    assert Usage(1, 2, 3, 4) + Usage(10, 20, 30, 40) == Usage(11, 22, 33, 44)


def test_prices_are_known_without_loading_what_serves():
    program = (
        "import sys, orchestrator.pricing; print(*{'h11', 'httpx2', 'docker'} & {*sys.modules})"
    )
    assert subprocess.check_output([sys.executable, "-c", program]).split() == []

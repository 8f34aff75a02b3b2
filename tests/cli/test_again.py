"""What a run that is asked for once more keeps of the flags of then."""

import pytest

from orchestrator.cli.again import over
from orchestrator.planning import Flags

THEN = Flags(seconds=2.0, timed_by="commands.slow.timeout", turns=3)


@pytest.mark.parametrize(
    ("now", "flags"),
    [
        (Flags(), THEN),
        (Flags(turns=4), Flags(seconds=2.0, timed_by="commands.slow.timeout", turns=4)),
        (Flags(seconds=9.0), Flags(seconds=9.0, turns=3)),
    ],
)
def test_what_set_the_time_stays_until_a_flag_does(now, flags):
    assert over(THEN, now) == flags

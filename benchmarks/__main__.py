"""All benchmarks, or the named ones: `python -m benchmarks [help] [start] [channel] ...`."""

import importlib
import sys

ALL = (
    "help",
    "listing",
    "start",
    "channel",
    "record",
    "gateway",
    "delegate",
    "steps",
    "many",
    "split",
)


def main(names: list[str]) -> None:
    for name in names or ALL:
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])

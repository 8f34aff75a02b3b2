"""All benchmarks, or the named ones: `python -m benchmarks [gateway] [help] [start] [steps]`."""

import importlib
import sys

ALL = ("gateway", "help", "start", "steps")


def main(names: list[str]) -> None:
    for name in names or ALL:
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])

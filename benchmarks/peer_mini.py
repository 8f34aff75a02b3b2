"""mini-swe-agent's own loop, scripted model and Docker environment; run by its own interpreter.

Prints the seconds that N steps took, each of which runs `true` in the container.
"""

import os
import sys
import tempfile
import time

os.environ["MSWEA_SILENT_STARTUP"] = "1"
os.environ["MSWEA_GLOBAL_CONFIG_DIR"] = tempfile.mkdtemp(prefix="benchmark-")

from pathlib import Path

from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.docker import DockerEnvironment
from minisweagent.models.test_models import DeterministicModel, make_output

END = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


def main(steps: int, image: str) -> None:
    outputs = [make_output("next", [{"command": "true"}], cost=0.0) for _ in range(steps)]
    outputs.append(make_output("done", [{"command": END}], cost=0.0))
    environment = DockerEnvironment(image=image)
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        agent = DefaultAgent(
            DeterministicModel(outputs=outputs),
            environment,
            system_template="You are a test.",
            instance_template="{{task}}",
            cost_limit=0.0,
            output_path=Path(folder) / "trajectory.json",
        )
        began = time.perf_counter()
        agent.run("a task")
        print(time.perf_counter() - began)
    environment.cleanup()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])

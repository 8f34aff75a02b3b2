"""A run asked for once more: as it was then, where nothing else is said now."""

from dataclasses import fields, replace

from orchestrator.agent_settings import NONE
from orchestrator.planning import Flags
from orchestrator.record import Record


def over(then: Flags, now: Flags) -> Flags:
    """The flags given now, and those of then for all others."""
    unsaid = Flags()
    said = {
        field.name: getattr(now, field.name)
        for field in fields(Flags)
        if getattr(now, field.name) != getattr(unsaid, field.name)
    }
    if now.seconds is not None:
        said["timed_by"] = now.timed_by
    return replace(then, **said)


def flags(record: Record) -> Flags:
    """The flags that ask for what the run was asked for."""
    task = record.task
    return Flags(
        base=record.base,
        worker=task.worker,
        command=task.command,
        model=task.model,
        image=task.image,
        runtime=task.runtime,
        allow=task.network.allow,
        private_hosts=task.network.private_hosts,
        setup=task.setup,
        checks=task.checks,
        only=task.only,
        setup_network=task.setup_network,
        turns=task.limits.turns,
        cost=task.limits.cost,
        seconds=task.limits.seconds,
        timed_by=task.timed_by,
        input_tokens=task.limits.input_tokens,
        map_tokens=task.map_tokens,
        delegates=task.delegates or (NONE,),
    )

"""Steps of a piece of work on one folder, done by several processes that see it; a single process does all of them.

The steps are rounds over the same chunks of nodes, and chunk c is that of rank c mod W. After every W chunks, and at
the end of a round, the ranks tell each other what they did. Only then does rank 0 note it in the journal, and only then
may anyone read it. So a killed rank costs the chunks that were being worked on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from nodewise.core.errors import InputError
from nodewise.store.journal import Say, Staging, staged
from nodewise.training.shared_checkpoints import require_same
from nodewise.training.team import Alone, losses_in_words


class SharedStaging:
    """The hidden folder of the work, and who does which step of it.

    Args:
        team: the processes.
        staging: rank 0's folder and journal; None on other ranks.
        rounds: the names of the steps, round by round; every process calls `step` for all of them in this order.
    """

    def __init__(self, team: Alone, staging: Staging | None, rounds: Sequence[Sequence[str]]) -> None:
        self._team, self._staging = team, staging
        self._chunk = {name: chunk for names in rounds for chunk, name in enumerate(names)}
        self._chunks = max(map(len, rounds))
        self._fresh: dict[str, Any] = {}
        about: list[Any] = []
        if staging is not None:
            about = [str(staging.path), {name: staging.step(name, dict) for name in self._chunk if staging.has(name)}]
        path, self._known = json.loads(team.texts(json.dumps(about))[0])
        self.path = Path(path)
        if team.largest(int(not self.path.is_dir())):
            raise InputError(f"{self.path}: not there on every machine; give a folder that all processes share")

    def has(self, name: str) -> bool:
        """Tell whether a step is done."""
        return name in self._known

    def wants(self, name: str) -> bool:
        """Tell whether a step is still to be done, and by this process."""
        return not self.has(name) and self._chunk[name] % self._team.size == self._team.rank

    def step(self, name: str, work: Callable[[], Any]) -> None:
        """Do the work of a step if it is this process's and not done."""
        if self.wants(name):
            self._fresh[name] = work()
        if (self._chunk[name] + 1) % self._team.size == 0 or self._chunk[name] == self._chunks - 1:
            self._tell()

    def result(self, name: str) -> Any:
        """Return what a step left, whoever did it."""
        return self._known[name]

    def finish(self, target: Path, keep: Callable[[str], bool]) -> None:
        """Give the folder its name; rank 0 does it."""
        if self._staging is not None:
            self._staging.finish(target, keep)

    def _tell(self) -> None:
        for fresh in map(json.loads, self._team.texts(json.dumps(self._fresh))):
            self._known |= fresh
            if self._staging is not None:
                for name in fresh:
                    self._staging.step(name, partial(fresh.get, name))
        self._fresh = {}


@contextmanager
def shared_staging(
    team: Alone, target: Path, task: Mapping[str, Any], rounds: Sequence[Sequence[str]], say: Say = lambda message: None
) -> Iterator[SharedStaging]:
    """Yield the staging folder of `target`, kept by rank 0; processes with another task are refused."""
    if team.size > 1:
        require_same(team, {name: value for name, value in task.items() if name != "boot"})
    own = staged(target, task, "these vectors", durable=False, say=say) if team.rank == 0 else nullcontext()
    with own as staging, losses_in_words():
        yield SharedStaging(team, staging, rounds)

"""The run folder: everything one run leaves behind, under fixed names."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from nodewise.core import config
from nodewise.core.environment import environment
from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write
from nodewise.core.jsonable import to_json

T = TypeVar("T")

_PARTIAL = ".partial-"


@dataclass(frozen=True)
class RunFolder:
    """A folder with the settings, weights, embeddings and records of one run."""

    path: Path

    NAMES = (
        "config.toml",
        "embeddings.parquet",
        "weights.safetensors",
        "metrics.jsonl",
        "environment.json",
        "labels.parquet",
        "report.html",
    )

    @property
    def config(self) -> Path:
        """The resolved settings."""
        return self.path / "config.toml"

    @property
    def embeddings(self) -> Path:
        """The vectors, keyed by the user's ids."""
        return self.path / "embeddings.parquet"

    @property
    def weights(self) -> Path:
        """The trained parameters."""
        return self.path / "weights.safetensors"

    @property
    def metrics(self) -> Path:
        """One JSON object a line, in the order of training."""
        return self.path / "metrics.jsonl"

    @property
    def environment(self) -> Path:
        """Versions, hardware and the command that made the run."""
        return self.path / "environment.json"

    @property
    def labels(self) -> Path:
        """Labels and split that came with the graph, kept beside the run for evaluation only."""
        return self.path / "labels.parquet"

    @property
    def report(self) -> Path:
        """The page to look at."""
        return self.path / "report.html"

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """Return the run at `path`, which must exist."""
        run = cls(Path(path))
        if not run.path.is_dir():
            raise InputError(f"{path}: no such run folder; make one with 'nodewise embed GRAPH -o {path}'")
        if not run.config.is_file():
            raise InputError(f"{path}: not a run folder: it has no {run.config.name}")
        return run

    @classmethod
    def create(cls, path: str | Path, *, resume: bool = False) -> RunFolder:
        """Make the folder, or take over an empty one or an earlier run's.

        An earlier run's files are removed unless `resume`; a folder that holds anything else is refused.
        """
        run = cls(Path(path))
        run._refuse_foreign(resume)
        try:
            run.path.mkdir(parents=True, exist_ok=True)
            if not resume:
                for name in cls.NAMES:
                    (run.path / name).unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"{path}: cannot make the run folder: {error.strerror}") from None
        return run

    @classmethod
    @contextmanager
    def staged(cls, path: str | Path) -> Iterator[RunFolder]:
        """Yield a hidden folder inside `path` whose files move up only if the block succeeds.

        A failed or interrupted run leaves nothing behind; an earlier run at `path` is untouched until then.
        """
        target = Path(path)
        cls(target)._refuse_foreign(resume=False)
        missing = [folder for folder in (target, *target.parents) if not folder.exists()]
        try:
            target.mkdir(parents=True, exist_ok=True)
            hidden = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=target))
        except OSError as error:
            raise InputError(f"{path}: cannot make the run folder: {error.strerror}") from None
        try:
            yield cls(hidden)
            cls.create(target)
            for entry in hidden.iterdir():
                entry.replace(target / entry.name)
        finally:
            shutil.rmtree(hidden, ignore_errors=True)
            for folder in missing:
                with suppress(OSError):  # not empty: the run is in it
                    folder.rmdir()

    def _refuse_foreign(self, resume: bool) -> None:
        if not self.path.exists():
            return
        if not self.path.is_dir():
            raise InputError(f"{self.path}: is a file; name a folder for the run")
        try:
            occupied = any(not entry.name.startswith(_PARTIAL) for entry in self.path.iterdir())
        except OSError as error:
            raise InputError(f"{self.path}: cannot read the folder: {error.strerror}") from None
        if occupied and not resume and not self.config.is_file():
            raise InputError(f"{self.path}: holds files that are not a run's; name a new or empty folder")

    def write_config(self, settings: object) -> None:
        """Write the resolved settings."""
        with atomic_write(self.config) as temporary:
            temporary.write_text(config.to_toml(settings), encoding="utf-8")

    def read_config(self, cls: type[T]) -> T:
        """Read the settings back."""
        return config.load_toml(cls, self.config)

    def write_environment(self, **facts: object) -> None:
        """Write what `environment` collects now, and further facts about the run."""
        with atomic_write(self.environment) as temporary:
            temporary.write_text(to_json({**environment(), **facts}, indent=2) + "\n", encoding="utf-8")

    def read_environment(self) -> dict[str, Any]:
        """Return what was written about the run; nothing if nothing was."""
        if not self.environment.exists():
            return {}
        try:
            found: dict[str, Any] = json.loads(self.environment.read_bytes())
        except ValueError as error:
            raise InputError(f"{self.environment}: not JSON: {error}") from None
        return found

    def append_metrics(self, record: Mapping[str, Any]) -> None:
        """Append one record as a line of JSON; what is not finite becomes null."""
        with self.metrics.open("a", encoding="utf-8") as file:
            file.write(to_json(record) + "\n")

    def read_metrics(self) -> list[dict[str, Any]]:
        """Return the records; a last line cut off by a crash is left out."""
        if not self.metrics.exists():
            return []
        *lines, _cut_off = self.metrics.read_text(encoding="utf-8").split("\n")
        records = []
        for number, line in enumerate(lines, start=1):
            try:
                records.append(json.loads(line))
            except ValueError as error:
                raise InputError(f"{self.metrics}: line {number} is not JSON: {error}") from None
        return records

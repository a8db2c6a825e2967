"""Make the graph of a company that does not exist: 1,500 customers, 300 products, and who bought what.

    python examples/company.py company       # writes company/purchases.csv, customers.csv, labels.csv and tomorrow/
    nodewise inspect company/purchases.csv --features company/customers.csv

The files are as such files are: semicolons, decimal commas, dates, countries, free text, lists of interests, missing
values, a column that means nothing, and a label for some customers only. In tomorrow/ there are 40 customers more.
The same every time.
"""

from __future__ import annotations

import argparse
import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np

CUSTOMERS, NEW, PRODUCTS = 1500, 40, 300
SEGMENTS = ("sports", "garden", "family", "games")
COUNTRIES = ("Germany", "Austria", "France", "Spain", "Poland", "Italy", "Denmark", "Malta", "Iceland", "Cyprus")
INTERESTS = {
    "sports": ("running", "cycling", "swimming", "hiking", "climbing"),
    "garden": ("roses", "vegetables", "bees", "woodwork", "hiking"),
    "family": ("toys", "baking", "holidays", "swimming", "crafts"),
    "games": ("chess", "consoles", "puzzles", "crafts", "films"),
}
WORDS = {
    "sports": "asked for larger shoes|wants delivery before the race|returned a broken pedal|trains for a marathon",
    "garden": "asked when seeds arrive|wants soil without peat|complained about wilted plants|orders before spring",
    "family": "asked for gift wrapping|wants invoices by post|returned toys twice|birthday orders every summer",
    "games": "asked for the new edition|wants early access|complained about a scratched disc|collects limited boxes",
}
COMMON = ("called in the morning", "prefers e-mail", "was friendly", "no further questions", "moved last year")


def people(random: np.random.Generator, first: int, number: int) -> list[dict[str, str]]:
    """Return the rows of so many customers, with their segment, which only some of the labels tell."""
    rows = []
    for i in range(number):
        place = int(random.integers(4))
        segment = SEGMENTS[place]
        typical = random.random(4) < 0.6  # whether country, age, interests and note are of the segment or anybody's
        country = COUNTRIES[(2 * place if typical[0] else 0) + int(random.integers(2 if typical[0] else 10))]
        age = random.normal(25 + 10 * place if typical[1] else 40, 6)
        revenue = np.exp(random.normal(4 + 0.7 * place, 1.5))
        liked = INTERESTS[segment if typical[2] else SEGMENTS[int(random.integers(4))]]
        said = WORDS[segment if typical[3] else SEGMENTS[int(random.integers(4))]].split("|")
        since = date(2019, 1, 1) + timedelta(days=int(random.integers(2000)))
        gaps = random.random(4) < (0.1, 0.03, 0.3, 0.05)
        rows.append(
            {
                "customer": f"C{first + i:05d}",
                "internal_id": str(900_000 + 7919 * (first + i) % 1_000_003),
                "age": "" if gaps[0] else f"{max(age, 18):.0f}",
                "revenue": f"{revenue:.2f}".replace(".", ","),
                "country": "n/a" if gaps[1] else country,
                "since": since.strftime("%d.%m.%Y"),
                "newsletter": "yes" if random.random() < 0.3 + 0.1 * place else "no",
                "interests": "|".join(random.choice(liked, int(random.integers(1, 4)), replace=False)),
                "note": "" if gaps[2] else f"{random.choice(said)}, {random.choice(COMMON)}",
                "segment": segment,
            }
        )
    return rows


def purchases(random: np.random.Generator, rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return who bought what: products of one's own segment a little more often than others."""
    kind = np.arange(PRODUCTS) % 4
    bought = []
    for row in rows:
        own = kind == SEGMENTS.index(row["segment"])
        chance = np.where(own, 2.5, 1.0) / np.where(own, 2.5, 1.0).sum()
        basket = random.choice(PRODUCTS, int(random.integers(3, 9)), replace=False, p=chance)
        bought += [{"customer": row["customer"], "product": f"P{product:03d}"} for product in basket]
    return bought


def write(path: Path, rows: list[dict[str, str]], columns: list[str]) -> None:
    """Write some columns of the rows, separated by semicolons."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, columns, delimiter=";", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Write the company's files into a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("company"))
    folder: Path = parser.parse_args().folder
    (folder / "tomorrow").mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    today, new = people(random, 1, CUSTOMERS), people(random, 1 + CUSTOMERS, NEW)
    bought, later = purchases(random, today), purchases(random, new)
    known = [row for row in today if random.random() < 0.6]
    new[0]["country"] = "Brazil"  # where no customer was before
    columns = [name for name in today[0] if name != "segment"]
    for place, rows, edges, labels in ((folder, today, bought, known), (folder / "tomorrow", new, later, new)):
        everybody, everything = (rows, edges) if place == folder else (today + rows, bought + edges)
        write(place / "customers.csv", everybody, columns)
        write(place / "purchases.csv", everything, ["customer", "product"])
        write(place / "labels.csv", labels, ["customer", "segment"])
    print(f"{CUSTOMERS:,} customers, {PRODUCTS} products and {len(bought):,} purchases are in {folder}")


if __name__ == "__main__":
    main()

"""Edges of several types: some of them chosen, or the pairs that a metapath leads to.

A metapath is a sequence of types of edges, such as buys, buys: from a customer to what it bought, and on to who else
bought that. Its pairs weigh

    W = A_1 (D_2^-1 A_2) ... (D_k^-1 A_k)

with A_i the edges of the i-th type and D_i the sums of the rows of A_i. The rows of W sum to those of A_1 where no path
ends early, so one step of a walk over W is one walk along the metapath (Dong et al. 2017), and a popular product counts
as much as another one that the customer bought. W, and its transpose unless edges have directions, is the adjacency of
a graph like any other: every walk, encoder, method and store takes it as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.core.environment import available_memory
from nodewise.core.errors import InputError, did_you_mean, require_type
from nodewise.core.messages import excerpt, listing
from nodewise.graph.adjacency import Positions
from nodewise.graph.labels import encode_labels

MOST_TYPES = 1000
_BYTES_A_PAIR = 100  # of a product, and of the graph that is made of it
_WORK = 1 << 24  # multiplications at a time

Codes = npt.NDArray[np.int16]
Found = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]


class EdgeTypes(NamedTuple):
    """The type of each edge: its number among the names, -1 where it has none."""

    codes: Codes
    names: tuple[str, ...]

    @classmethod
    def of(cls, values: Any, source: str) -> EdgeTypes | None:
        """Encode the names of types as the user wrote them; None where no edge has one."""
        if isinstance(values, EdgeTypes):
            return values if values.names else None
        codes, names = encode_labels(values, source)
        if len(names) > MOST_TYPES:
            raise too_many(source, len(names))
        return cls(codes.astype(np.int16), tuple(map(str, names))).in_order() if names else None

    def in_order(self) -> EdgeTypes:
        """Return the same with the names in order."""
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        places = np.full(len(order) + 1, -1, np.int16)
        places[order] = np.arange(len(order))
        return EdgeTypes(places[self.codes], tuple(self.names[i] for i in order))

    def of_edges(self, chosen: npt.NDArray[Any]) -> EdgeTypes:
        """Return the types of some of the edges."""
        return EdgeTypes(self.codes[chosen], self.names)


class TypedEdges(NamedTuple):
    """Edges between positions of nodes as they were given, each with its type; none joins a node with itself.

    Attributes:
        sources: int32 (M,).
        targets: int32 (M,).
        codes: int16 (M,), the type of each edge, -1 where unknown.
        names: the user's name of each type; ``names[codes[i]]``.
        weights: float32 (M,); None where edges have none.
    """

    sources: npt.NDArray[np.int32]
    targets: npt.NDArray[np.int32]
    codes: Codes
    names: tuple[str, ...]
    weights: npt.NDArray[np.float32] | None = None

    @classmethod
    def between(
        cls, sources: Positions, targets: Positions, types: EdgeTypes | None, weights: npt.NDArray[np.float32] | None
    ) -> TypedEdges | None:
        """Return the edges from sources to targets; None where they have no types."""
        if types is None:
            return None
        ends = (sources.astype(np.int32, copy=False), targets.astype(np.int32, copy=False))
        found = cls(*ends, types.codes, types.names, weights)
        return found if (apart := sources != targets).all() else found.some(apart)

    def some(self, chosen: npt.NDArray[Any]) -> TypedEdges:
        """Return some of the edges."""
        weights = None if self.weights is None else self.weights[chosen]
        return TypedEdges(self.sources[chosen], self.targets[chosen], self.codes[chosen], self.names, weights)

    def counts(self) -> dict[str, int]:
        """Return how many edges have each type."""
        found = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        return dict(zip(self.names, found.tolist(), strict=True))

    def of_types(self, names: Sequence[str]) -> TypedEdges:
        """Return the edges of some types."""
        wanted = [number_of(name, self.names) for name in names]
        found = self.some(np.isin(self.codes, wanted))
        places = np.full(len(self.names) + 1, -1, np.int16)
        places[sorted(set(wanted))] = np.arange(len(set(wanted)))
        return found._replace(codes=places[found.codes], names=tuple(self.names[i] for i in sorted(set(wanted))))

    def along(
        self,
        metapath: Sequence[str],
        num_nodes: int,
        *,
        kinds: npt.NDArray[np.int64] | None = None,
        kind_names: Sequence[str | int] = (),
        directed: bool = False,
    ) -> Found:
        """Return sources, targets and weights of the pairs that a metapath joins.

        Args:
            metapath: types of edges, or kinds of nodes and types of edges by turns, kinds first and last. Unless
                `directed`, edges are followed either way; else along, and against where ^ stands before the type.
            num_nodes: N.
            kinds: the kind of each node, and
            kind_names: its name, where there are several.
            directed: whether edges go from sources to targets.
        """
        steps, stops = self._steps(metapath, kind_names)
        known = [str(name) for name in kind_names]
        masks = [None if stop is None else np.asarray(kinds) == known.index(stop) for stop in stops]
        found: Any = None
        for number, step in enumerate(steps):
            matrix = _between(masks[number], self._matrix(step, num_nodes, directed), masks[number + 1])
            found = matrix if found is None else _product(found, _shares(matrix))
            if not found.nnz:
                raise _broken(steps, stops, number)
        pairs = found.tocoo()
        apart = pairs.row != pairs.col
        if not apart.any():
            raise InputError(
                f"the metapath {','.join(metapath)} leads from every node back to itself only; choose another",
                code="bad-metapath",
            )
        return pairs.row[apart].astype(np.int64), pairs.col[apart].astype(np.int64), pairs.data[apart]

    def _steps(self, metapath: Sequence[str], kind_names: Sequence[str | int]) -> tuple[list[str], list[str | None]]:
        """Return the types of edges of a metapath, and the kinds of nodes before, between and after them."""
        known = [str(name) for name in kind_names]
        plain = [name.removeprefix("^") for name in metapath]
        if metapath and all(name in self.names for name in plain):
            return list(metapath), [None] * (len(metapath) + 1)
        if metapath and metapath[0] in known:
            if len(metapath) < 3 or len(metapath) % 2 == 0:
                raise InputError(
                    f"the metapath {','.join(metapath)} must begin and end with a type of nodes, with types of edges "
                    "in between, such as customer,buys,product",
                    code="bad-metapath",
                )
            for name in plain[1::2]:
                number_of(name, self.names)
            for name in metapath[::2]:
                if name not in known:
                    raise InputError(f"no node is of type {name!r}{did_you_mean(name, known)}", code="unknown-type")
            return list(metapath[1::2]), list(metapath[::2])
        for name in plain:
            number_of(name, self.names)
        raise InputError("the metapath is empty; give types of edges, such as buys,buys", code="bad-metapath")

    def _matrix(self, step: str, num_nodes: int, directed: bool) -> Any:
        """Return the edges of one step as a matrix (N, N); those given several times are added up, or one."""
        name = step.removeprefix("^")
        if step != name and not directed:
            raise InputError(
                f"{step} is to go against edges of type {name!r}, which have no directions unless --directed is given",
                code="bad-metapath",
            )
        chosen = self.codes == number_of(name, self.names)
        ends = self.sources[chosen], self.targets[chosen]
        weights = np.ones(len(ends[0])) if self.weights is None else self.weights[chosen].astype(np.float64)
        matrix = sp.coo_array((weights, ends), shape=(num_nodes, num_nodes)).tocsr()
        if not directed:
            matrix = (matrix + matrix.T).tocsr()
        if self.weights is None:
            matrix.data[:] = 1
        return matrix.T.tocsr() if step != name else matrix


def number_of(name: str, names: Sequence[str]) -> int:
    """Return the number of a type of edges."""
    if name not in names:
        raise InputError(f"no edge is of type {name!r}{did_you_mean(name, names)}", code="unknown-type")
    return list(names).index(name)


def no_types(source: str) -> InputError:
    """Return the refusal to choose among types that edges do not have."""
    return InputError(
        f"{source}: edges have no types to choose from; give them a column 'type', or name it with --type-column",
        code="unknown-type",
    )


def too_many(source: str, number: int) -> InputError:
    """Return the refusal of a column that can hardly be one of types."""
    return InputError(
        f"{source}: {number:,} different types of edges; there may be {MOST_TYPES:,} at most", code="unknown-type"
    )


def used_of(names: Sequence[str], used: int, given: int) -> str:
    """Return a note on types that were chosen."""
    return f"edges of type {listing(tuple(names))} used: {used:,} of {given:,}"


def names_of(given: str | Sequence[str] | None) -> list[str] | None:
    """Return names that are written with commas between them, or given as a list; None where there are none.

    >>> names_of("buys, likes")
    ['buys', 'likes']
    """
    if given is None:
        return None
    require_type("types of edges", given, str | Iterable, "names with commas between them, or a list")
    names = given.split(",") if isinstance(given, str) else [str(name) for name in given]
    return [name.strip() for name in names if name.strip()]


def _between(rows: npt.NDArray[np.bool_] | None, matrix: Any, columns: npt.NDArray[np.bool_] | None) -> Any:
    """Return a matrix without the rows and the columns that a mask leaves out."""
    for mask in (rows, columns):
        if mask is not None:
            only = sp.diags_array(mask.astype(np.float64))
            matrix = only @ matrix if mask is rows else matrix @ only
    matrix = matrix.tocsr()
    matrix.eliminate_zeros()
    return matrix


def _shares(matrix: Any) -> Any:
    """Return a matrix whose rows sum to one, or are empty."""
    totals = np.asarray(matrix.sum(axis=1)).ravel()
    inverse = np.divide(1, totals, out=np.zeros_like(totals), where=totals > 0)
    return (sp.diags_array(inverse) @ matrix).tocsr()


def _product(left: Any, right: Any) -> Any:
    """Return the product of two matrices, some rows at a time; refused where it would not fit into memory."""
    memory = available_memory()
    most = None if memory is None else memory // (2 * _BYTES_A_PAIR)
    work = np.concatenate([[0], np.cumsum(np.diff(right.indptr)[left.indices], dtype=np.int64)])[left.indptr]
    parts, start, pairs = [], 0, 0
    while start < left.shape[0]:
        end = max(start + 1, int(np.searchsorted(work, work[start] + _WORK, "right")) - 1)
        parts.append((left[start:end] @ right).tocsr())
        start, pairs = end, pairs + parts[-1].nnz
        if most is not None and pairs > most:
            raise InputError(
                f"the metapath joins more than {most:,} pairs, which do not fit into memory; choose a shorter one, or "
                "leave out nodes that very many edges meet at",
                code="too-little-memory",
            )
    return sp.vstack(parts, format="csr")


def _broken(steps: Sequence[str], stops: Sequence[str | None], number: int) -> InputError:
    step, before, after = steps[number], stops[number], stops[number + 1]
    start = "" if before is None else f" from a node of type {before!r}"
    start = f" on from where {excerpt(steps[number - 1])} leads" if number else start
    end = "" if after is None else f" to a node of type {after!r}"
    return InputError(
        f"the metapath does not chain: no edge of type {step!r} leads{start}{end}; check the order of its types",
        code="bad-metapath",
    )

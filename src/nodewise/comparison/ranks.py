"""Which strategies are ahead over all graphs: mean ranks, Friedman's test, Nemenyi's critical difference (Demšar 2006).

Two strategies whose mean ranks over N graphs differ by less than CD = q sqrt(k (k + 1) / 6N) cannot be told apart;
q is the 95% point of the studentized range of k, over the root of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

_ROW, _LEFT, _RIGHT, _TOP, _LETTER = 18, 20, 20, 46, 6.6


@dataclass(frozen=True)
class Ranks:
    """Mean ranks, 1 being best, and what may be said of them.

    Attributes:
        names: of the strategies, best first.
        mean: their mean ranks over the graphs.
        graphs: over how many.
        p: of Friedman's test that all are alike.
        difference: the critical one.
    """

    names: tuple[str, ...]
    mean: tuple[float, ...]
    graphs: int
    p: float
    difference: float

    def groups(self) -> list[tuple[int, int]]:
        """Return the longest runs of strategies that cannot be told apart, as places of the first and last."""
        found: list[tuple[int, int]] = []
        for first, low in enumerate(self.mean):
            last = max(place for place, mean in enumerate(self.mean) if mean - low <= self.difference)
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return found

    def svg(self, width: int = 640) -> str:
        """Draw the axis of ranks, the strategies on it, and a bar over those that cannot be told apart."""
        k, groups = len(self.names), self.groups()
        half = (k + 1) // 2
        room = _LETTER * max(map(len, self.names)) + 60
        left, right = min(room, 0.36 * width), width - min(room, 0.36 * width)
        low, high = 1, max(k, 2)
        bars = _TOP + 8 + 5 * len(groups)
        height = bars + _ROW * half + 16

        def at(rank: float) -> float:
            return left + (rank - low) / (high - low) * (right - left)

        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'role="img" aria-label="Mean ranks and the critical difference" color="#777" font-size="12" '
            'font-family="system-ui, sans-serif" fill="currentColor" stroke="none">',
            f'<path d="M{at(low):.1f} {_TOP}H{at(high):.1f}" stroke="currentColor"/>',
        ]
        for rank in range(low, high + 1, max(1, round((high - low) / 8))):
            parts.append(f'<path d="M{at(rank):.1f} {_TOP}v-5" stroke="currentColor"/>')
            parts.append(f'<text x="{at(rank):.1f}" y="{_TOP - 9}" text-anchor="middle">{rank}</text>')
        end = min(low + self.difference, high)
        parts.append(f'<path d="M{at(low):.1f} 14v-4H{at(end):.1f}v4" fill="none" stroke="currentColor"/>')
        parts.append(f'<text x="{at(end) + 6:.1f}" y="14">critical difference {self.difference:.1f}</text>')
        for number, (first, last) in enumerate(groups):
            y = _TOP + 7 + 5 * number
            line = f"M{at(self.mean[first]) - 3:.1f} {y}H{at(self.mean[last]) + 3:.1f}"
            parts.append(f'<path d="{line}" stroke="currentColor" stroke-width="3"/>')
        for place, (name, mean) in enumerate(zip(self.names, self.mean, strict=True)):
            on_left = place < half
            y = bars + _ROW * ((place if on_left else k - 1 - place) + 1)
            x, anchor, label = (
                (left - 14, "end", f"{escape(name)} {mean:.1f}")
                if on_left
                else (right + 14, "start", f"{mean:.1f} {escape(name)}")
            )
            path = f"M{at(mean):.1f} {_TOP}V{y - 4}H{x + (4 if on_left else -4):.1f}"
            parts.append(f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity=".55"/>')
            parts.append(f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}">{label}</text>')
        return "\n".join([*parts, "</svg>"]) + "\n"


def ranks(names: tuple[str, ...], scores: np.ndarray) -> Ranks | None:
    """Rank strategies by scores (strategies, graphs), higher being better; None of fewer than three, or two graphs."""
    from scipy import stats

    k, graphs = scores.shape
    if k < 3 or graphs < 2 or not np.isfinite(scores).all():
        return None
    mean = stats.rankdata(-scores, axis=0).mean(1)
    constant = all(len(set(column)) == 1 for column in scores.T)  # nobody differs from anybody
    p = 1.0 if constant else float(stats.friedmanchisquare(*scores).pvalue)
    q = float(stats.studentized_range.ppf(0.95, k, np.inf)) / np.sqrt(2)
    order = np.argsort(mean, kind="stable")
    return Ranks(
        tuple(names[place] for place in order),
        tuple(float(mean[place]) for place in order),
        graphs,
        p,
        float(q * np.sqrt(k * (k + 1) / (6 * graphs))),
    )

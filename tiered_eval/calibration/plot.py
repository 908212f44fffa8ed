"""A picture of a certificate: how many verdicts each tested threshold decides, and how often they are wrong.

The one idea: one picture shows what the promise rests on. Each dot is a tested step, with the bound below which its error
lies at the confidence promised; the line across is alpha; the certified step is the last whose bound stays below it.
Drawn as SVG text, without any package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tiered_eval.calibration.binomial import upper_bound
from tiered_eval.calibration.certificate import Grant
from tiered_eval.calibration.certify import TestedStep
from tiered_eval.calibration.promise import at_most

__all__ = ["path_as_svg"]

_WIDTH, _HEIGHT = 720, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 40, 60
_FONT = 'font-family="sans-serif" font-size="13"'


def path_as_svg(grant: Grant, alpha: float) -> str:
    """The tested steps of a grant, as a stand-alone SVG document.

    The bounds are Clopper and Pearson's, label by label; with clusters the test itself went by cases.
    """
    bounds = [upper_bound(step.errors, step.n, grant.delta) if step.n else 1.0 for step in grant.steps]
    highest = max(2 * alpha, min(1.0, 1.15 * max(bounds[-1:], default=alpha)))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
            "<title>Tested thresholds: share decided early and error among them</title>",
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
            *_axes(highest),
            *_alpha_line(alpha, highest),
            *_dots(grant, bounds, highest),
            "</svg>\n",
        ]
    )


def _x(share: float) -> float:
    return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)


def _y(error: float, highest: float) -> float:
    return round(_HEIGHT - _BOTTOM - min(error / highest, 1.0) * (_HEIGHT - _TOP - _BOTTOM), 1)


def _text(x: float, y: float, text: str, *, anchor: str = "middle", colour: str = "#333") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}" {_FONT}>{text}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, *, width: float = 1.0) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="{width}"/>'


def _axes(highest: float) -> Iterator[str]:
    floor = _y(0.0, highest)
    yield _line(_LEFT, floor, _WIDTH - _RIGHT, floor, "#333")
    yield _line(_LEFT, floor, _LEFT, _TOP, "#333")
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        yield _text(_x(share), floor + 20, f"{share:.0%}")
    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        yield _text(_LEFT - 8, _y(part * highest, highest) + 4, f"{part * highest:.1%}", anchor="end")
    yield _text(_x(0.5), _HEIGHT - 18, "share of expectations decided without the top tier")
    yield _text(_LEFT, _TOP - 16, "error among them: seen (dot), and its upper bound (bar)", anchor="start")


def _alpha_line(alpha: float, highest: float) -> Iterator[str]:
    y = _y(alpha, highest)
    yield _line(_LEFT, y, _WIDTH - _RIGHT, y, "#c0392b", width=1.5)
    yield _text(_WIDTH - _RIGHT, y - 6, f"promised: at most {at_most(alpha)}", anchor="end", colour="#c0392b")


def _dots(grant: Grant, bounds: Sequence[float], highest: float) -> Iterator[str]:
    for step, bound in zip(grant.steps, bounds, strict=True):
        x, y = _x(step.n / grant.n if grant.n else 0.0), _y(step.errors / step.n if step.n else 0.0, highest)
        colour = _colour(step, grant)
        yield _line(x, y, x, _y(bound, highest), colour, width=2.0)
        yield f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>'
        if step is grant.step:
            yield _text(x, y + 18, "certified", colour=colour)


def _colour(step: TestedStep, grant: Grant) -> str:
    """Green is certified, red is refused, grey is a step that passed on the way."""
    if step is grant.step:
        return "#1e8449"
    return "#888" if step.p <= grant.delta else "#c0392b"

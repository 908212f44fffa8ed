"""Whether a text is HTML and nothing else: known elements, each closed as it must be.

The one idea: a parser of HTML reads anything, so what a text lacks can be seen only by pairing its tags as the standard does (WHATWG
HTML, section 13.2.6, read 2026-12-01): some elements end by themselves where another begins, all others must be closed, and in their
order. Tags are cut by the standard library; the first fault ends the reading, so that none takes longer than a sound page.

Why not a package: those that report such faults (html5lib, tinyhtml5) take 14 s for 20,000 characters of unclosed tags and need 10
times as long for a sound page; those that are fast (lxml, turbohtml) mend a page and do not say so. The tests hold the
pairing to tinyhtml5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html.parser import HTMLParser

__all__ = ["find_html_fault"]

_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_MAY_STAY_OPEN = frozenset("p li dt dd option tr td th thead tbody tfoot colgroup optgroup rp rt".split())
_ELEMENTS = (
    frozenset(
        "html head body title style script noscript template div span a abbr address article aside audio b bdi bdo blockquote "
        "button canvas caption cite code data datalist del details dfn dialog em fieldset figcaption figure footer form h1 h2 h3 "
        "h4 h5 h6 header hgroup i iframe ins kbd label legend main map mark menu meter nav object ol output picture pre "
        "progress q ruby s samp search section select slot small strong sub summary sup svg math table textarea time u ul var "
        "video dl center font strike tt big acronym dir marquee nobr".split()
    )
    | _VOID
    | _MAY_STAY_OPEN
)
_BLOCKS = frozenset(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 "
    "header hgroup hr main menu nav ol p pre search section table ul".split()
)
_CELLS = frozenset(("p", "td", "th"))
_ENDS: dict[str, frozenset[str]] = {
    **dict.fromkeys(_BLOCKS, frozenset(("p",))),
    "li": frozenset(("p", "li")),
    **dict.fromkeys(("dt", "dd"), frozenset(("p", "dt", "dd"))),
    "option": frozenset(("option",)),
    "optgroup": frozenset(("option", "optgroup")),
    **dict.fromkeys(("td", "th"), _CELLS),
    "tr": _CELLS | {"tr"},
    **dict.fromkeys(("thead", "tbody", "tfoot"), _CELLS | {"tr", "thead", "tbody", "tfoot", "colgroup"}),
    **dict.fromkeys(("rt", "rp"), frozenset(("rt", "rp"))),
}
"""What ends by itself where an element begins, unless something in it is still open."""
_BARS = frozenset("button table td th caption template object marquee html svg math".split())
_BARS_TO_ITEMS = _BARS | _BLOCKS - {"address", "div", "p"} | {"select"}
"""Elements that keep what is around them open: a paragraph in a button does not end the one outside of it."""
_BARS_TO = {"li": _BARS_TO_ITEMS | {"dt", "dd"}, **dict.fromkeys(("dt", "dd"), _BARS_TO_ITEMS | {"li"})}
_ITEMS = frozenset("p li dt dd".split())
_LOOKED_BACK = 100
"""Open elements, innermost first, among which one is looked for that should have ended."""
_PHRASES = frozenset(
    "a abbr acronym audio b bdi bdo big canvas cite code data datalist del dfn em font i ins kbd label legend map mark meter nobr "
    "output picture progress q ruby s samp slot small span strike strong sub sup time tt u var video".split()
)
"""Their ends end no block: a paragraph inside of a span is closed before it."""
_NEVER_IN_ITSELF = frozenset(("a", "button", "form", "select"))
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
_TEXTS = frozenset(("textarea", "title", "iframe"))
"""Tags in them are text, as in scripts."""
_FOREIGN = ("svg", "math")
"""Inside of these any name is an element, and a tag may close itself."""
_NOT_IN_FOREIGN = frozenset(
    "b big br code dd dt em embed i img li meta nobr ruby s small span strong strike sub sup tt u var".split()
) | _BLOCKS & frozenset("blockquote center div dl h1 h2 h3 h4 h5 h6 hr menu ol p pre table ul".split())


def find_html_fault(text: str) -> str | None:
    """What keeps a text from being HTML and nothing else, in a clause; None where nothing does."""
    if not text.startswith("<"):
        return "there is text outside of its elements" if "<" in text else "there is no element"
    tags = _Tags()
    try:
        tags.feed(text)
        tags.close()
    except _Fault as fault:
        return str(fault)
    return None


class _Fault(Exception):
    """What is wrong, in a clause; it ends the reading."""


class _Tags(HTMLParser):
    """Pairs the tags of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.inside: Counter[str] = Counter()
        """How many of a name are open."""
        self.has_element = False

    @property
    def is_foreign(self) -> bool:
        return any(self.inside[name] for name in _FOREIGN)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.has_element = True
        if tag not in _ELEMENTS and "-" not in tag and not self.is_foreign:
            raise _Fault(f"<{tag[:40]}> is no element of HTML")
        if tag in _NOT_IN_FOREIGN and self.is_foreign and not self.inside["foreignobject"]:
            raise _Fault(f"<{tag}> stands in <svg> or <math>")
        if len(attrs) > 1 and len({name for name, _ in attrs}) < len(attrs):
            raise _Fault(f"<{tag[:40]}> has an attribute twice")
        if tag in _NEVER_IN_ITSELF and self.inside[tag]:
            raise _Fault(f"<{tag}> stands in another <{tag}>")
        self._end_by_itself(tag)
        if tag in _HEADINGS and self.open and self.open[-1] in _HEADINGS:
            raise _Fault(f"<{tag}> stands in <{self.open[-1]}>")
        if tag not in _VOID:
            self.open.append(tag)
            self.inside[tag] += 1
        if tag in _TEXTS and not self.is_foreign:
            self.set_cdata_mode(tag)

    def _end_by_itself(self, tag: str) -> None:
        """Close what a new element ends.

        Raises:
            _Fault: something stands open in what it ends.
        """
        ended = _ENDS.get(tag)
        if ended is None or not any(self.inside[name] for name in ended):
            return
        while self.open and self.open[-1] in ended:
            self._close()
        bars = _BARS_TO.get(tag, _BARS)
        for name in reversed(self.open[-_LOOKED_BACK:]):
            if name in bars:
                return
            if name in ended and name in _ITEMS:
                raise _Fault(f"<{self.open[-1]}> is not closed where <{tag}> ends its <{name}>")

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        is_closed = tag in _VOID or self.is_foreign or tag in _FOREIGN
        self.handle_starttag(tag, attrs)
        if not is_closed:
            raise _Fault(f"<{tag[:40]}/> is not closed: in HTML a tag does not close itself")
        if tag not in _VOID:
            self._close()

    def handle_endtag(self, tag: str) -> None:
        is_phrase = tag in _PHRASES or "-" in tag
        while self.open and self.open[-1] != tag and self.open[-1] in _MAY_STAY_OPEN:
            if is_phrase and self.open[-1] not in ("rt", "rp"):
                break
            self._close()
        if not self.open or self.open[-1] != tag:
            raise _Fault(f"</{tag[:40]}> closes nothing")
        self._close()

    def handle_data(self, data: str) -> None:
        if not self.open and data.strip():
            raise _Fault("there is text outside of its elements")

    def close(self) -> None:
        """Read the rest.

        Raises:
            _Fault: a tag is not finished, an element that must be closed is open, or there is none.
        """
        if self.rawdata.startswith("<"):
            raise _Fault("a tag or a comment is not finished")  # nor read on: that takes time in the square
        super().close()
        while self.open and self.open[-1] in _MAY_STAY_OPEN:
            self._close()
        if self.open:
            raise _Fault(f"<{self.open[-1]}> is not closed")
        if not self.has_element:
            raise _Fault("there is no element")

    def _close(self) -> None:
        self.inside[self.open.pop()] -= 1

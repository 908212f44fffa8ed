"""Builds `tiered_eval/text/data/idf.txt` and `antonyms.txt` from the files of WordNet 3.0.

    python tools/build_idf.py /usr/share/wordnet

Each gloss (definition and examples) of WordNet counts as one document; the table holds, for each stem that
occurs in at least `LEAST` glosses, the number of glosses that hold it: one line a number, its stems behind it. Whatever is not in the table is rare
and weighs the most. The antonyms are WordNet's own pairs, single words only. Both files carry WordNet's notice
(see `tiered_eval/text/data/WORDNET-LICENSE.txt`). Run it again only on purpose: the table is part of every result.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from tiered_eval.text.tokens import fold, stem, tokens

OUT = Path(__file__).parent.parent / "tiered_eval" / "text" / "data"
PARTS = ("noun", "verb", "adj", "adv")
LEAST = 2
NOTICE = "# Derived from WordNet 3.0, Copyright 2006 by Princeton University; see WORDNET-LICENSE.txt\n"


def glosses(folder: Path) -> list[str]:
    """Definition and examples of every synset."""
    return [
        line.partition(" | ")[2].strip()
        for part in PARTS
        for line in (folder / f"data.{part}").read_text(encoding="utf-8").splitlines()
        if not line.startswith("  ")
    ]


def antonym_pairs(folder: Path) -> set[tuple[str, str]]:
    """Pairs of single words that WordNet links as antonyms."""
    words: dict[tuple[str, str], list[str]] = {}
    links: list[tuple[tuple[str, str], int, tuple[str, str], int]] = []
    for part, letter in zip(PARTS, "nvar", strict=True):
        for line in (folder / f"data.{part}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            fields = line.partition(" | ")[0].split()
            here, count = (letter, fields[0]), int(fields[3], 16)
            words[here] = [fields[4 + 2 * at].partition("(")[0] for at in range(count)]
            at = 4 + 2 * count
            for pointer in range(int(fields[at])):
                kind, offset, target, sides = fields[at + 1 + 4 * pointer : at + 5 + 4 * pointer]
                if kind == "!":
                    links.append(
                        (here, int(sides[:2], 16), (target.replace("s", "a"), offset), int(sides[2:], 16))
                    )
    pairs = set()
    for here, mine, (letter, offset), theirs in links:
        one = words[here][mine - 1]
        other = words[(letter, offset)][theirs - 1]
        if "_" not in one + other:
            left, right = sorted((stem(fold(one)), stem(fold(other))))
            if left != right:
                pairs.add((left, right))
    return pairs


def main(folder: Path) -> None:
    texts = glosses(folder)
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({token.stem for token in tokens(text)})
    kept: dict[int, list[str]] = {}
    for word, count in sorted(counts.items()):
        if count >= LEAST:
            kept.setdefault(count, []).append(word)
    lines = [f"{count} {' '.join(words)}" for count, words in sorted(kept.items())]
    (OUT / "idf.txt").write_text(NOTICE + f"{len(texts)}\n" + "\n".join(lines) + "\n", encoding="utf-8")
    pairs = sorted(antonym_pairs(folder))
    (OUT / "antonyms.txt").write_text(
        NOTICE + "\n".join(f"{left} {right}" for left, right in pairs) + "\n", encoding="utf-8"
    )
    print(f"{len(texts)} glosses, {sum(map(len, kept.values()))} stems, {len(pairs)} pairs")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

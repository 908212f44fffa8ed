"""Builds `tiered_eval/text/data/idf.txt`, `antonyms.txt` and `synonyms.txt` from the files of WordNet 3.0.

    python tools/build_idf.py /usr/share/wordnet

Each gloss (definition and examples) of WordNet counts as one document; the table holds, for each stem that
occurs in at least `LEAST` glosses, the number of glosses that hold it: one line a number, its stems behind it. Whatever is not in the table is rare
and weighs the most. The antonyms are WordNet's own pairs, single words only; the synonyms are words of one synset that is among the
first `SENSES` senses of both and was met in WordNet's tagged texts. All files carry WordNet's notice
(see `tiered_eval/text/data/WORDNET-LICENSE.txt`). Run it again only on purpose: the table is part of every result.
"""

from __future__ import annotations

import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

from tiered_eval.text import tokens as reading
from tiered_eval.text.tokens import FUNCTION_WORDS, fold, table_form, tokens


def stem(word: str) -> str:
    """The form in which the tables hold a folded word."""
    return table_form(reading.stem(word))


OUT = Path(__file__).parent.parent / "tiered_eval" / "text" / "data"
PARTS = ("noun", "verb", "adj", "adv")
LEAST = 2
SENSES = 2
SHORTEST = 3
KINDS = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}
UNSAFE = {stem(word) for word in FUNCTION_WORDS} | {
    stem(word)
    for word in """not no never non like may might can all wholly totally entirely completely several various few half
    minute moment second sec instant want miss hopeful doom sanction man manpower market sell fail""".split()
}
"""Stems for which nothing may stand: words of grammar ("noted" is "not"), of amount and time, and of two faces."""
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


def synonym_pairs(folder: Path, opposed: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Pairs of single words that share a common sense, without words of grammar and without opposites."""
    met = set()
    for line in (folder / "cntlist.rev").read_text(encoding="utf-8").splitlines():
        key, sense, _ = line.split()
        lemma, _, kind = key.partition("%")
        met.add((KINDS[kind[0]], lemma, int(sense)))
    senses: dict[tuple[str, str, str], int] = {}
    for part in PARTS:
        for line in (folder / f"index.{part}").read_text(encoding="utf-8").splitlines():
            if not line.startswith("  "):
                lemma, _, _, pointers, *rest = line.split()
                for sense, offset in enumerate(rest[int(pointers) + 2 :], start=1):
                    senses[part, lemma, offset] = sense
    pairs = set()
    for part in PARTS:
        for line in (folder / f"data.{part}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            fields = line.partition(" | ")[0].split()
            words = [fields[4 + 2 * at].partition("(")[0] for at in range(int(fields[3], 16))]
            common = [
                word
                for word in words
                if word.isalpha()
                and word.islower()
                and (sense := senses.get((part, word, fields[0]), SENSES + 1)) <= SENSES
                and (part, word, sense) in met
            ]
            for one, other in combinations(common, 2):
                left, right = sorted((stem(one), stem(other)))
                is_plain = (
                    min(len(left), len(right)) >= SHORTEST
                    and not {left, right} & UNSAFE
                    and not right.endswith(left)  # "underdeveloped" is no "developed"
                    and not left.endswith(right)
                    and (left + right).isalpha()
                )
                if left != right and is_plain and (left, right) not in opposed:
                    pairs.add((left, right))
    return pairs


def main(folder: Path) -> None:
    texts = glosses(folder)
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({table_form(token.stem) for token in tokens(text)})
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
    groups: dict[str, list[str]] = {}
    for left, right in sorted(synonym_pairs(folder, set(pairs))):
        groups.setdefault(left, []).append(right)
    (OUT / "synonyms.txt").write_text(
        NOTICE + "\n".join(f"{left} {' '.join(rights)}" for left, rights in groups.items()) + "\n",
        encoding="utf-8",
    )
    print(f"{len(texts)} glosses, {sum(map(len, kept.values()))} stems, {len(pairs)} pairs")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

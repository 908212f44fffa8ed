"""Builds `tiered_eval/calibration/data/design.json`, the design that ships with the package.

    python -m tools.build_design FOLDER_OF_LABELLED_DATA

The scoring is fitted on labels whose licences allow a derived table to be passed on (MIT, Apache-2.0, CC BY 4.0), at most
`MOST` a source so that none of them rules. Only weights are written: no text, no score of any item. Run it again whenever a
free score means something else (`FREE_VERSION`), or the embedded embedder changes.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.agreement import cases_of
from benchmarks.calibrated import case_of
from tiered_eval.calibration.certificate import design_as_json
from tiered_eval.calibration.collecting import EMBEDDING_SCORE, collect_scores
from tiered_eval.calibration.design import build_design
from tiered_eval.calibration.features import FEATURES, FREE_VERSION
from tiered_eval.calibration.labels import Label, TierSpec
from tiered_eval.calibration.scoring import Table
from tiered_eval.config import RunConfig
from tiered_eval.runner import Evaluator

OUT = Path(__file__).parent.parent / "tiered_eval" / "calibration" / "data" / "design.json"
SOURCES = ("bln600_ocr", "evouna_nq", "evouna_tq", "factcheck_gpt", "openqa_nq301", "realsumm", "sroie_ocr")
MOST = 1_500
TIERS = (
    TierSpec(name="free", scores=FEATURES, cost=0.0),
    TierSpec(name="embedding", scores=(EMBEDDING_SCORE,), cost=0.0),
    TierSpec(name="top", scores=(), cost=1.0),
)


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Every so many-th label of a source."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return rows[:: max(1, -(-len(rows) // MOST))]


async def labels_of(rows: list[dict[str, Any]]) -> tuple[list[Label], str | None]:
    """Rows with their scores, and the embedder that made one of them."""
    cases = list(cases_of(rows))
    with tempfile.TemporaryDirectory() as home:
        async with Evaluator(RunConfig(mode="offline", embedder="local:", home=Path(home))) as evaluator:
            scores = await collect_scores(cases, evaluator)
            assert evaluator.services is not None
            embedder = evaluator.services.embedder_id
    found = [
        Label(
            id=row["id"],
            case=case_of(row),
            kind=case.expectations[0].kind,
            met=row["human"],
            scores=scores[case.id, "0"],
        )
        for row, case in zip(rows, cases, strict=True)
    ]
    return found, embedder


def main(folder: Path) -> None:
    labels: list[Label] = []
    embedder: str | None = None
    for source in SOURCES:
        found, used = asyncio.run(labels_of(rows_of(folder / f"{source}.jsonl")))
        embedder = embedder or used
        labels += found
        print(source, len(found), flush=True)
    table = Table(labels, [*FEATURES, EMBEDDING_SCORE])
    design = build_design(table, TIERS, alpha=0.05)
    data = {
        "name": "shipped-1",
        "about": "Weights of a ridge logistic regression; no text and no item is in here. Fitted by tools/build_design.py.",
        "sources": {source: sum(label.id.startswith(source) for label in labels) for source in SOURCES},
        "scores": FREE_VERSION,
        "embedder": embedder,
        "design": design_as_json(design),
    }
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

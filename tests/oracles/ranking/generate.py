"""Writes ranking.json: areas under the curves of scores by scikit-learn, most with many ties.

Python 3.11, scikit-learn==1.9.1; run by `cargo xtask oracles ranking`.
"""

import json
import pathlib

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

HERE = pathlib.Path(__file__).parent

rng = np.random.default_rng(7)
cases = []


def add(name, scores, classes):
    scores, classes = np.asarray(scores, dtype=float), np.asarray(classes, dtype=int)
    cases.append(
        {
            "name": name,
            "scores": scores.tolist(),
            "classes": classes.tolist(),
            "auroc": float(roc_auc_score(classes, scores)),
            "auprc": float(average_precision_score(classes, scores)),
        }
    )


for count, share, levels in [(20, 0.5, 3), (50, 0.1, 5), (80, 0.3, 0), (120, 0.05, 2), (60, 0.9, 11)]:
    classes = rng.random(count) < share
    classes[:2] = [True, False]
    scores = rng.normal(classes * 1.0, 1.0)
    scores = np.round(scores * levels) / 4 if levels else scores
    add(f"{count} scores, {levels or 'no'} levels", scores, classes)
add("constant", np.full(15, 0.25), np.arange(15) < 4)
add("reversed", -np.arange(12.0), np.arange(12) >= 6)
add("perfect", np.arange(12.0), np.arange(12) >= 6)
add("one of the class", [0.0, 0.0, 1.0, 0.0], [0, 1, 0, 0])
lines = ",\n".join(json.dumps(case) for case in cases)
(HERE / "ranking.json").write_text(f"[\n{lines}\n]\n")

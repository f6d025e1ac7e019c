"""Features of two overlapping classes, and the area under the curve of scikit-learn's forest.

pip install scikit-learn==1.9.1; python generate.py
"""

import csv
import json
import pathlib

import numpy as np
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

FOLDER = pathlib.Path(__file__).parent

rng = np.random.default_rng(20)
count = 600
classes = np.arange(count) % 2
counts = rng.poisson(2.0 + 0.7 * classes[:, None] * np.array([1, 0, 0, 1]), (count, 4))
numbers = rng.normal(0.5 * classes[:, None] * np.array([1, 0, 0, -1, 0]), 1.0, (count, 5))
features = np.hstack([counts, np.round(numbers, 4)])
train = np.arange(count) < 300
areas = []
for seed in range(20):
    forest = RandomForestClassifier(n_estimators=1000, random_state=seed).fit(
        features[train], classes[train]
    )
    areas.append(roc_auc_score(classes[~train], forest.predict_proba(features[~train])[:, 1]))
with (FOLDER / "features.csv").open("w", newline="") as file:
    rows = csv.writer(file, lineterminator="\n")
    for label, row in zip(classes, features):
        rows.writerow([label] + [f"{x:g}" for x in row])
expected = {
    "auc": round(float(np.mean(areas)), 5),
    "spread": round(float(np.std(areas)), 5),
    "train": 300,
    "trees": 1000,
    "scikit-learn": sklearn.__version__,
}
(FOLDER / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")

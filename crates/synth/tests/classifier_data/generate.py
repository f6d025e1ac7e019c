"""Areas under the curves of scikit-learn's classifiers on the frozen features of `../forest_data`.

pip install scikit-learn==1.9.1; python generate.py
"""

import csv
import json
import pathlib

import numpy as np
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

FOLDER = pathlib.Path(__file__).parent

with (FOLDER / "../forest_data/features.csv").open(newline="") as file:
    rows = np.array([[float(cell) for cell in row] for row in csv.reader(file)])
classes, features = rows[:, 0].astype(int), rows[:, 1:]
train = np.arange(len(rows)) < 300
scaler = StandardScaler().fit(features[train])
x, test = scaler.transform(features[train]), scaler.transform(features[~train])
y, truth = classes[train], classes[~train]

scores = {
    "logistic regression": LogisticRegression(tol=1e-9, max_iter=10_000).fit(x, y).decision_function(test),
    "naive Bayes": GaussianNB().fit(x, y).predict_proba(test)[:, 1],
    "nearest neighbours": KNeighborsClassifier(5).fit(x, y).predict_proba(test)[:, 1],
    "random forest": RandomForestClassifier(1000, random_state=0).fit(x, y).predict_proba(test)[:, 1],
}
found = {
    name: {
        "auroc": round(float(roc_auc_score(truth, score)), 6),
        "auprc": round(float(average_precision_score(truth, score)), 6),
    }
    for name, score in scores.items()
}
found["scikit-learn"] = sklearn.__version__
(FOLDER / "expected.json").write_text(json.dumps(found, indent=1) + "\n")

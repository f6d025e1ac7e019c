"""Many correct trainings: bounds stay below the truth, and recordings have no findings.

All seeds are fixed in advance.
"""

import numpy as np
import pytest
import torch
from trainings import ADAPTIVE, Training, records, seeded

import dpscope
from dpscope import opacus as audits

pytestmark = pytest.mark.filterwarnings("ignore")

TRAININGS = 400
RECORDINGS = 200
NOISE = 6.0


def bound(scores, coins):
    return dpscope.audit_one_run(
        scores, coins=coins, independent_coins=True, adjacency="zero-out"
    ).epsilon


def test_bounds_cover_the_truth():
    steps = 20
    truth = dpscope.epsilon(
        "poisson", noise_multiplier=NOISE, sampling_rate=0.1, total_steps=steps, delta=1e-5
    )
    bounds, of_mutant = [], []
    for seed in range(TRAININGS):
        audit = seeded(audits.OneRun(records(), canaries=100), seed)
        torch.manual_seed(seed)
        training = Training(noise=NOISE)(audit, audit.attach, batch_size=50)
        assert audit.steps == training.engine.accountant.history[-1][-1] == steps
        coins = audit.coins
        bounds.append(bound(audit.scores, coins))
        # a score that saw the coins
        of_mutant.append(bound(audit.scores + 0.5 * np.std(audit.scores) * coins, coins))
    most = 0.05 * TRAININGS + 4 * np.sqrt(0.05 * 0.95 * TRAININGS)
    above, of_mutant = (np.sum(np.array(found) > float(truth)) for found in (bounds, of_mutant))
    assert above <= most < of_mutant, (above, of_mutant)


RECORDED = {
    "poisson": {},
    "shuffle": {"poisson_sampling": False},
    "memory manager": {"physical": 16, "poisson_sampling": False},
    "accumulation": {"poisson_sampling": False, "accumulated": 2},
    "adaptive clipping": ADAPTIVE,
}


def test_correct_recordings_have_no_finding():
    found = []
    for seed in range(RECORDINGS):
        name = list(RECORDED)[seed % len(RECORDED)]
        training = Training(epochs=1, **RECORDED[name])
        recording = audits.record(training, records(), runs=14, seed=seed)
        found += [(name, seed, finding["code"]) for finding in recording.audit().findings]
    assert len(found) <= 1, found

"""The bound of Steinke et al. from scores, one-sided guesses beyond an explicit cut, by jax_privacy.

Needs jax_privacy==2.0.0, jax==0.10.2, jaxlib==0.10.2, dp-accounting==0.6.0, scipy==1.17.1 and
numpy==2.4.6.
"""

import json
import os
import time

os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np  # noqa: E402  (after the platform)
from jax_privacy import auditing  # noqa: E402

CANARIES, REPEATS = 1_000, 50
rng = np.random.default_rng(1)
included, excluded = rng.normal(1, 1, CANARIES // 2), rng.normal(0, 1, CANARIES // 2)
auditor = auditing.CanaryScoreAuditor(included, excluded)
cut = auditing.Explicit(1.5)
auditor.epsilon_one_run(0.05, 1e-5, threshold_strategy=cut)
start = time.process_time()
for _ in range(REPEATS):
    auditor.epsilon_one_run(0.05, 1e-5, threshold_strategy=cut)
seconds = time.process_time() - start
print(json.dumps({"audits_per_cpu_second": REPEATS / seconds}))

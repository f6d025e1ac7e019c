"""Measures how much privacy a differentially private training really leaks.

Keywords are the options of the program `dpscope`, which this package contains, and results are its
documents, to the last bit. Arrays may be anything that numpy takes for real numbers, or files.
"""

from dpscope._audits import (
    audit_counts,
    audit_federated,
    audit_generator,
    audit_guesses,
    audit_one_run,
    audit_outputs,
    audit_scores,
    audit_secrets,
    audit_split,
)
from dpscope._command import DpscopeWarning
from dpscope._generators import Utility, generator_utility, run_generator
from dpscope._launch import Launch, launch_kubernetes, launch_slurm
from dpscope._loader_check import LoaderCheck, check_loader
from dpscope._mechanisms import bound_matrix, bound_pate, calibrate_matrix, calibrate_pate
from dpscope._native import DpscopeError, __version__
from dpscope._plans import (
    canary_direction,
    canary_rows,
    make_canaries,
    optimise_canaries,
    plan_bgm,
    plan_federated,
    plan_generator,
    plan_one_run,
    plan_secrets,
    plan_split,
    verify_canaries,
)
from dpscope._reports import Recomputation, Reproduction, recompute, reproduce
from dpscope._results import (
    Accounted,
    Audit,
    Calibration,
    Canaries,
    Check,
    Comparison,
    Drawing,
    Page,
    Plan,
    Result,
    Strategies,
    Sweep,
    Verdict,
    Votes,
)
from dpscope._simulated import (
    audit_bgm,
    audit_dpsgd,
    audit_fedavg,
    audit_gaussian,
    audit_pategan,
)
from dpscope._theory import calibrate, check, compare, delta, epsilon, sweep
from dpscope._widget import Calculator, Explore, calculator, explore

# `__init__.pyi` has them as a list
__all__ = [name for name in dir() if not name.startswith("_")] + ["__version__"]

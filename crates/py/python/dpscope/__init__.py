"""Measures how much privacy a differentially private training really leaks.

Keywords are the options of the program `dpscope`, which this package contains, and results are its
documents, to the last bit. Arrays may be anything that numpy takes for real numbers, or files.
"""

from dpscope._audits import (
    audit_bgm,
    audit_counts,
    audit_federated,
    audit_generator,
    audit_one_run,
    audit_outputs,
    audit_scores,
)
from dpscope._command import DpscopeWarning
from dpscope._results import (
    Accounted,
    Audit,
    Calibration,
    Check,
    Comparison,
    Drawing,
    Page,
    Result,
    Verdict,
)
from dpscope._theory import calibrate, check, compare, delta, epsilon
from dpscope._native import DpscopeError, __version__

__all__ = [
    "Accounted",
    "Audit",
    "Calibration",
    "Check",
    "Comparison",
    "DpscopeError",
    "DpscopeWarning",
    "Drawing",
    "Page",
    "Result",
    "Verdict",
    "__version__",
    "audit_bgm",
    "audit_counts",
    "audit_federated",
    "audit_generator",
    "audit_one_run",
    "audit_outputs",
    "audit_scores",
    "calibrate",
    "check",
    "compare",
    "delta",
    "epsilon",
]

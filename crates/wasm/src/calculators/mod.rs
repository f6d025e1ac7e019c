//! Accountants, calibration, bounds from counts, the exact pair.

//! The statement of a bound: delta, significance and threshold rule.

use clap::{Args, ValueEnum};
use dpscope_core::audit::bound::ThresholdRule;

use super::{confidence, delta, significance};

/// Help of `--delta` where a statement at 0 is refused: Gaussian noise has none, and votes of PATE are
/// accounted for at a delta above 0.
pub(crate) const DELTA_ABOVE_0: &str = "Delta at which epsilon is bounded, above 0";

/// Delta and significance.
#[derive(Debug, Args)]
pub(crate) struct StatementArgs {
    /// Delta at which epsilon is bounded; 0 for pure DP.
    #[arg(long, default_value = "1e-5", value_parser = delta)]
    pub(crate) delta: f64,
    #[command(flatten)]
    level: LevelArgs,
}

impl StatementArgs {
    /// Probability that the bound is wrong.
    pub(crate) fn significance(&self) -> f64 {
        self.level.significance().unwrap_or(0.05)
    }
}

/// Significance or confidence of a bound.
#[derive(Debug, Args)]
pub(crate) struct LevelArgs {
    /// Probability that the bound is wrong, below 0.5 [default: 0.05].
    #[arg(long, value_name = "ALPHA", value_parser = significance)]
    significance: Option<f64>,
    /// Confidence of the bound, in place of --significance: 95% or 0.95.
    #[arg(long, value_name = "LEVEL", value_parser = confidence, conflicts_with = "significance")]
    confidence: Option<f64>,
}

impl LevelArgs {
    /// Probability that the bound is wrong, if either option is present.
    pub(crate) fn significance(&self) -> Option<f64> {
        self.significance.or(self.confidence)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleArg {
    /// Choose the threshold on one part of the data, compute the bound on the rest.
    Split,
    /// Fix a few thresholds in a pilot; they share the significance, and all data count.
    Simultaneous,
    /// Take the largest value over all thresholds, as published: an estimate, not a bound.
    MaxUncorrected,
}

impl From<RuleArg> for ThresholdRule {
    fn from(rule: RuleArg) -> Self {
        match rule {
            RuleArg::Split => ThresholdRule::Split,
            RuleArg::Simultaneous => ThresholdRule::Simultaneous,
            RuleArg::MaxUncorrected => ThresholdRule::MaxUncorrected,
        }
    }
}

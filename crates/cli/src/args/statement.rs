//! The statement of a bound: delta, significance and threshold rule.

use clap::{Args, ValueEnum};
use dpscope_core::audit::bound::ThresholdRule;

use super::open_unit;

/// Delta and significance.
#[derive(Debug, Args)]
pub(crate) struct StatementArgs {
    /// Delta of the statement.
    #[arg(long, default_value = "1e-5", value_parser = open_unit)]
    pub(crate) delta: f64,
    /// Probability that the bound is wrong; 0.05 means 95 % confidence.
    #[arg(long, default_value = "0.05", value_parser = open_unit)]
    pub(crate) significance: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleArg {
    /// Choose the threshold on one half of the data, compute the bound on the other.
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

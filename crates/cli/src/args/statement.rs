//! The statement that an audit makes.

use clap::{Args, ValueEnum};
use dpscope_core::audit::bound::ThresholdRule;

use super::open_unit;

/// The statement that is made.
#[derive(Debug, Args)]
pub(crate) struct StatementArgs {
    /// The delta of the statement.
    #[arg(long, default_value = "1e-5", value_parser = open_unit)]
    pub(crate) delta: f64,
    /// Chance that the bound is wrong: 0.05 is 95 % confidence.
    #[arg(long, default_value = "0.05", value_parser = open_unit)]
    pub(crate) significance: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleArg {
    /// One half of the data chooses the cut, the other gives the bound.
    Split,
    /// A few cuts fixed by a pilot share the significance: a bound from all data.
    Simultaneous,
    /// The largest value over all cuts, as in the paper: an estimate, not a bound.
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

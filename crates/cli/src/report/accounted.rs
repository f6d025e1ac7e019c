//! A value that theory gives, with what it speaks of.

use dpscope_core::accounting::{
    Account, DeltaEstimate, DeltaLowerBound, DeltaUpperBound, Directions, EpsilonEstimate,
    EpsilonLowerBound, EpsilonUpperBound, Method,
};
use dpscope_core::bound::Scope;
use serde::Serialize;

/// On which side of the truth a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Not below the truth.
    Upper,
    /// Not above the truth.
    Lower,
    /// Near the truth, on either side.
    Estimate,
}

/// A pair of ε and δ, one of which was given and the other found.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Accounted {
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    pub(crate) kind: Kind,
    pub(crate) scope: Scope,
    pub(crate) direction: Directions,
    pub(crate) method: Method,
    pub(crate) numeric_error: f64,
    /// Chance that a bound is wrong; none where it is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) significance: Option<f64>,
    /// Of an estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) standard_error: Option<f64>,
}

/// Values with an account: how each becomes a row of a report.
pub(crate) trait ToAccounted {
    /// The value beside the ε or δ that it was asked for.
    fn at(&self, given: f64) -> Accounted;
}

fn accounted(kind: Kind, [epsilon, delta]: [f64; 2], account: &Account) -> Accounted {
    let Account { scope, directions, method, numeric_error } = *account;
    Accounted {
        epsilon,
        delta,
        kind,
        scope,
        direction: directions,
        method,
        numeric_error,
        significance: None,
        standard_error: None,
    }
}

impl ToAccounted for EpsilonUpperBound {
    fn at(&self, delta: f64) -> Accounted {
        accounted(Kind::Upper, [self.value(), delta], self.account())
    }
}

impl ToAccounted for DeltaUpperBound {
    fn at(&self, epsilon: f64) -> Accounted {
        accounted(Kind::Upper, [epsilon, self.value()], self.account())
    }
}

impl ToAccounted for EpsilonLowerBound {
    fn at(&self, delta: f64) -> Accounted {
        let row = accounted(Kind::Lower, [self.value(), delta], self.account());
        Accounted { significance: sampled(self.significance()), ..row }
    }
}

impl ToAccounted for DeltaLowerBound {
    fn at(&self, epsilon: f64) -> Accounted {
        let row = accounted(Kind::Lower, [epsilon, self.value()], self.account());
        Accounted { significance: sampled(self.significance()), ..row }
    }
}

impl ToAccounted for EpsilonEstimate {
    fn at(&self, delta: f64) -> Accounted {
        let row = accounted(Kind::Estimate, [self.value(), delta], self.account());
        Accounted { standard_error: Some(self.standard_error()), ..row }
    }
}

impl ToAccounted for DeltaEstimate {
    fn at(&self, epsilon: f64) -> Accounted {
        let row = accounted(Kind::Estimate, [epsilon, self.value()], self.account());
        Accounted { standard_error: Some(self.standard_error()), ..row }
    }
}

fn sampled(significance: f64) -> Option<f64> {
    (significance > 0.0).then_some(significance)
}

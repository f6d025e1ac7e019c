//! A value of ε or δ as a row of a report.

use crate::accounting::{
    Account, DeltaEstimate, DeltaLowerBound, DeltaUpperBound, Directions, EpsilonEstimate,
    EpsilonLowerBound, EpsilonUpperBound, Method,
};
use crate::adjacency::Scope;

/// On which side of the truth a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Kind {
    /// Not below the truth.
    Upper,
    /// Not above the truth.
    Lower,
    /// Near the truth, on either side.
    Estimate,
}

impl Kind {
    /// Between what is asked and its value.
    #[must_use]
    pub const fn sign(self) -> char {
        match self {
            Kind::Upper => '≤',
            Kind::Lower => '≥',
            Kind::Estimate => '≈',
        }
    }

    /// The name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Upper => "upper",
            Kind::Lower => "lower",
            Kind::Estimate => "estimate",
        }
    }
}

/// A pair of ε and δ, one of which was given and the other found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Accounted {
    /// ε, nats.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// On which side of the truth the found one of the two lies.
    pub kind: Kind,
    /// The pair, or every pair of neighbours.
    pub scope: Scope,
    /// Directions that it covers.
    pub direction: Directions,
    /// How it was found.
    pub method: Method,
    /// What it may be off by, on its safe side.
    pub numeric_error: f64,
    /// Chance that a bound is wrong; none where it is proven.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub significance: Option<f64>,
    /// Of an estimate.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub standard_error: Option<f64>,
}

/// Values with an account: how each becomes a row of a report.
pub trait ToAccounted {
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

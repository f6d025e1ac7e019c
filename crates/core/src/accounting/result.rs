//! Accounted values: of what, in which directions, by which method, how exactly.

use crate::adjacency::Direction;
use crate::adjacency::Scope;

/// Directions that a value covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Directions {
    /// D against D′ alone.
    Remove,
    /// D′ against D alone.
    Add,
    /// The larger of both.
    Both,
}

impl From<Direction> for Directions {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Remove => Directions::Remove,
            Direction::Add => Directions::Add,
        }
    }
}

/// How a value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Method {
    /// A closed formula of the Gaussian mechanism.
    Analytic,
    /// A privacy loss distribution, composed by Fourier transforms.
    PrivacyLossDistribution,
    /// The slices of max_t x_t.
    MaxSlice,
    /// The sum of an epoch's outputs.
    Sum,
    /// Importance sampling of the pair.
    ImportanceSampling,
    /// The law of one epoch as it was drawn, composed: an estimate, never a bound.
    PlugIn,
}

/// What an accounted value speaks of.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Account {
    /// The pair, or every pair of neighbours.
    pub scope: Scope,
    /// Directions that it covers.
    pub directions: Directions,
    /// How it was found.
    pub method: Method,
    /// What the value may be off by, on its safe side: rounding to a grid, truncation.
    pub numeric_error: f64,
}

macro_rules! accounted {
    ($(#[$meta:meta])* $name:ident, $extra:ident: $about:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        #[must_use]
        pub struct $name {
            value: f64,
            $extra: f64,
            account: Account,
        }

        impl $name {
            #[allow(dead_code, reason = "made by the accountants of this module alone")]
            pub(super) fn new(value: f64, $extra: f64, account: Account) -> Self {
                $name { value, $extra, account }
            }

            /// The value: ε in nats, δ a probability; ≥ 0.
            #[must_use]
            pub fn value(&self) -> f64 {
                self.value
            }

            #[doc = $about]
            #[must_use]
            pub fn $extra(&self) -> f64 {
                self.$extra
            }

            /// What it speaks of.
            #[must_use]
            pub fn account(&self) -> &Account {
                &self.account
            }
        }
    };
}

accounted! {
    /// A value that ε does not exceed.
    EpsilonUpperBound, delta: "The δ of the statement."
}
accounted! {
    /// A value that δ does not exceed.
    DeltaUpperBound, epsilon: "The ε of the statement, nats."
}
accounted! {
    /// A value that ε exceeds: proven, or wrong with probability at most `significance`.
    EpsilonLowerBound, significance: "Chance that the bound is wrong; 0 where it is proven."
}
accounted! {
    /// A value that δ exceeds: proven, or wrong with probability at most `significance`.
    DeltaLowerBound, significance: "Chance that the bound is wrong; 0 where it is proven."
}
accounted! {
    /// A value of ε without coverage.
    EpsilonEstimate, standard_error: "Standard error, nats."
}
accounted! {
    /// A value of δ without coverage.
    DeltaEstimate, standard_error: "Standard error."
}

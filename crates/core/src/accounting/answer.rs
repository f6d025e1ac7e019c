//! Answers of accountants.

use super::{AccountingError, Given, Kind, Method, Query};
use crate::adjacency::{Directions, Scope};

/// A pair of ε and δ: one from the query, the other computed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Accounted {
    /// Privacy parameter ε, in nats.
    pub epsilon: f64,
    /// Privacy parameter δ, in [0, 1).
    pub delta: f64,
    /// On which side of the exact value the computed one is.
    pub kind: Kind,
    /// The pair, or every pair of neighbours.
    pub scope: Scope,
    /// Covered directions.
    pub direction: Directions,
    /// How it was computed.
    pub method: Method,
    /// Maximum distance between the computed and the exact value from rounding, grids and
    /// truncation, without sampling error. The error is on the safe side. Nats for ε, absolute for
    /// δ.
    pub numeric_error: f64,
    /// Distance between what is proven below and above, where neither is the exact value of every
    /// training: no smaller numeric error closes it. Nats for ε, absolute for δ. None where both are
    /// exact up to the numeric error, or where the other one was not computed.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub theory_gap: Option<f64>,
    /// Probability that a bound is wrong; none if it is proven.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub significance: Option<f64>,
    /// Standard error of an estimate.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub standard_error: Option<f64>,
}

/// An answer or an error.
pub type AccountingResult = Result<Accounted, AccountingError>;

/// Scope, method and accuracy of a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Basis {
    pub(super) scope: Scope,
    pub(super) directions: Directions,
    pub(super) method: Method,
    pub(super) numeric_error: f64,
}

impl Accounted {
    pub(super) fn new(kind: Kind, given: Given, value: f64, basis: Basis) -> Self {
        let (epsilon, delta) = match given {
            Given::Delta(delta) => (value, delta),
            Given::Epsilon(epsilon) => (epsilon, value),
        };
        let Basis { scope, directions, method, numeric_error } = basis;
        Accounted {
            epsilon,
            delta,
            kind,
            scope,
            direction: directions,
            method,
            numeric_error,
            theory_gap: None,
            significance: None,
            standard_error: None,
        }
    }

    /// The computed one of ε and δ.
    #[must_use]
    pub fn value(&self, given: Given) -> f64 {
        match given {
            Given::Delta(_) => self.epsilon,
            Given::Epsilon(_) => self.delta,
        }
    }

    /// Rejects values that are not finite, or do not cover the directions of the query.
    pub(super) fn checked(self, query: &Query) -> AccountingResult {
        if !(self.epsilon.is_finite() && self.delta.is_finite()) {
            return Err(AccountingError::Infinite { delta: self.delta });
        }
        if query.directions == Directions::Add && self.direction == Directions::Remove {
            return Err(query.refused());
        }
        Ok(self)
    }
}

/// An entry of a table: a value, or the reason for its absence.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum Cell {
    /// The value.
    Value(Accounted),
    /// None.
    Missing {
        /// The reason, as a sentence.
        reason: String,
    },
}

impl From<AccountingResult> for Cell {
    fn from(result: AccountingResult) -> Self {
        match result {
            Ok(row) => Cell::Value(row),
            Err(error) => Cell::Missing { reason: error.to_string() },
        }
    }
}

impl Cell {
    /// The value, if there is one.
    #[must_use]
    pub fn value(&self) -> Option<&Accounted> {
        match self {
            Cell::Value(row) => Some(row),
            Cell::Missing { .. } => None,
        }
    }

    /// No value, with its reason.
    #[must_use]
    pub fn missing(reason: &str) -> Self {
        Cell::Missing { reason: reason.to_owned() }
    }
}

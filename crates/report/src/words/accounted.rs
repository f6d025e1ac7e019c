//! Accounted values in words, rounded outward.

use dpscope_core::accounting::{Accounted, Directions, Kind, Method};
use dpscope_core::adjacency::Scope;
use dpscope_core::format::given;

use crate::number::{confidence, plain, scientific};

/// An accounted value, in words.
pub trait InWords {
    /// The value, where it holds and how sure it is, in one line.
    fn sentence(&self, is_delta: bool) -> String;
    /// What is proven on the other side, where theory leaves a gap.
    fn gap_in_words(&self, is_delta: bool) -> Option<String>;
    /// Whether the value holds for the pair or for the mechanism.
    fn scope_in_words(&self) -> &'static str;
    /// Which of the pair plays P.
    fn direction_in_words(&self) -> &'static str;
    /// How it was computed.
    fn method_in_words(&self) -> &'static str;
    /// For a column of a table.
    fn method_in_a_word(&self) -> &'static str;
}

impl InWords for Accounted {
    fn sentence(&self, is_delta: bool) -> String {
        let sign = self.kind.sign();
        let error =
            |error: &str| self.standard_error.map_or(String::new(), |_| format!(" ± {error}"));
        let standard_error = self.standard_error.unwrap_or(0.0);
        let value = if is_delta {
            let shown = scientific(self.delta, self.kind);
            let error = error(&format!("{standard_error:.1e}"));
            format!("δ {sign} {shown}{error} at ε = {}", given(self.epsilon))
        } else {
            let shown = plain(self.epsilon, self.kind, 4);
            let error = error(&match shown.contains('e') {
                true => format!("{standard_error:.1e}"),
                false => format!("{:.4}", (1e4 * standard_error).ceil() / 1e4),
            });
            format!("ε {sign} {shown}{error} at δ = {:e}", self.delta)
        };
        format!("{value}, {}", standing(self, if is_delta { self.delta } else { self.epsilon }))
    }

    fn gap_in_words(&self, is_delta: bool) -> Option<String> {
        let gap = self.theory_gap.filter(|gap| *gap > 0.0)?;
        let value = if is_delta { self.delta } else { self.epsilon };
        let (other, kind) = match self.kind {
            Kind::Lower => (value + gap, Kind::Upper),
            _ => ((value - gap).max(0.0), Kind::Lower),
        };
        let (symbol, shown) = match is_delta {
            true => ("δ", scientific(other, kind)),
            false => ("ε", plain(other, kind, 4)),
        };
        let sign = kind.sign();
        Some(format!("{symbol} {sign} {shown} is proven as well: the exact value lies in between"))
    }

    fn scope_in_words(&self) -> &'static str {
        scope_in_words(self.scope, self.kind)
    }

    fn direction_in_words(&self) -> &'static str {
        direction_in_words(self.direction)
    }

    fn method_in_words(&self) -> &'static str {
        method_in_words(self.method)
    }

    fn method_in_a_word(&self) -> &'static str {
        match self.method {
            Method::Analytic => "formula",
            Method::PrivacyLossDistribution => "PLD",
            Method::MaxSlice => "max-slice",
            Method::Sum => "sum",
            Method::ImportanceSampling => "sampling",
            Method::PlugIn => "plug-in",
            _ => "other",
        }
    }
}

pub(crate) const fn scope_in_words(scope: Scope, kind: Kind) -> &'static str {
    match (scope, kind) {
        (Scope::Mechanism, _) => "mechanism: every pair of neighbouring data sets",
        (Scope::Pair, Kind::Lower) => {
            "pair: a lower bound on one pair is also one on the mechanism"
        }
        (Scope::Pair, _) => "pair: an upper bound on one pair does not bound the mechanism",
    }
}

pub(crate) const fn direction_in_words(direction: Directions) -> &'static str {
    match direction {
        Directions::Remove => "remove: with the record against without it",
        Directions::Add => "add: without the record against with it",
        Directions::Both => "both: the larger of remove and add",
    }
}

pub(crate) const fn method_in_words(method: Method) -> &'static str {
    match method {
        Method::Analytic => "closed Gaussian formula",
        Method::PrivacyLossDistribution => "privacy loss distribution",
        Method::MaxSlice => "largest output of each epoch",
        Method::Sum => "sum of the outputs of each epoch",
        Method::ImportanceSampling => "importance sampling",
        Method::PlugIn => "simulated distribution of one epoch, composed",
        _ => "other",
    }
}

/// Share of a value from which its numeric error is stated in place of "proven".
const LOOSE: f64 = 0.1;

/// Whether the numeric error of a value is comparable to the value.
#[must_use]
pub fn is_loose(row: &Accounted, value: f64) -> bool {
    row.numeric_error > 0.0 && row.numeric_error >= LOOSE * value
}

fn standing(row: &Accounted, value: f64) -> String {
    match (row.kind, row.significance, row.scope) {
        (Kind::Estimate, ..) => "an estimate, without coverage".to_owned(),
        (_, Some(significance), _) => {
            format!("with {} confidence", confidence(significance))
        }
        (_, None, _) if is_loose(row, value) => {
            let error = scientific(row.numeric_error, Kind::Upper);
            format!("a valid bound, but its numeric error, up to {error}, is comparable to it")
        }
        (Kind::Upper, None, Scope::Pair) => {
            "proven for this pair alone, not for the mechanism".to_owned()
        }
        _ => "proven".to_owned(),
    }
}

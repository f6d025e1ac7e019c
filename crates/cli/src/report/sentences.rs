//! Accounted values in words, rounded outward.

use dpscope_core::accounting::{Directions, Method};
use dpscope_core::bound::Scope;
use dpscope_core::shown::given;
use dpscope_core::theory::{Accounted, Kind};

use super::confidence;

/// An accounted value, told to a reader.
pub(crate) trait InWords {
    /// The value, where it holds and how sure it is, in one line.
    fn sentence(&self, is_delta: bool) -> String;
    fn scope_in_words(&self) -> &'static str;
    fn direction_in_words(&self) -> &'static str;
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
            let error = error(&format!("{:.4}", (1e4 * standard_error).ceil() / 1e4));
            format!("ε {sign} {shown}{error} at δ = {:e}", self.delta)
        };
        format!("{value}, {}", standing(self))
    }

    fn scope_in_words(&self) -> &'static str {
        match (self.scope, self.kind) {
            (Scope::Mechanism, _) => "mechanism: every pair of neighbouring data sets",
            (Scope::Pair, Kind::Lower) => "pair: a lower bound of one pair is one of the mechanism",
            (Scope::Pair, _) => "pair: an upper value of one pair bounds no mechanism",
        }
    }

    fn direction_in_words(&self) -> &'static str {
        match self.direction {
            Directions::Remove => "remove: with the record against without it",
            Directions::Add => "add: without the record against with it",
            Directions::Both => "both: the larger of remove and add",
        }
    }

    fn method_in_words(&self) -> &'static str {
        match self.method {
            Method::Analytic => "closed Gaussian formula",
            Method::PrivacyLossDistribution => "privacy loss distribution",
            Method::MaxSlice => "the largest output of each epoch",
            Method::Sum => "the sum of the outputs of each epoch",
            Method::ImportanceSampling => "importance sampling",
            Method::PlugIn => "the drawn law of one epoch, composed",
            _ => "other",
        }
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

fn standing(row: &Accounted) -> String {
    match (row.kind, row.significance, row.scope) {
        (Kind::Estimate, ..) => "an estimate, without coverage".to_owned(),
        (_, Some(significance), _) => {
            format!("with {} confidence", confidence(significance))
        }
        (Kind::Upper, None, Scope::Pair) => {
            "proven for this pair alone, not for the mechanism".to_owned()
        }
        _ => "proven".to_owned(),
    }
}

/// A value ≥ 0 with so many decimals, rounded to its safe side; very small and very large ones in powers
/// of ten.
pub(crate) fn plain(value: f64, kind: Kind, digits: usize) -> String {
    if (value > 0.0 && value < 0.05) || (value >= 1e15 && value.is_finite()) {
        return scientific(value, kind);
    }
    let digits = digits.min(6);
    let unit = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6][digits];
    let toward = |steps: f64| match kind {
        Kind::Upper => format!("{:.digits$}", ((value * unit).ceil() + steps) / unit),
        Kind::Lower => format!("{:.digits$}", ((value * unit).floor() - steps) / unit),
        Kind::Estimate => format!("{value:.digits$}"),
    };
    let shown = toward(0.0);
    if is_safe(&shown, value, kind) { shown } else { toward(1.0) }
}

/// A value ≥ 0 with three decimals and a power of ten, rounded to its safe side.
pub(crate) fn scientific(value: f64, kind: Kind) -> String {
    let nearest = format!("{value:.3e}");
    if is_safe(&nearest, value, kind) {
        return nearest;
    }
    let Some((mantissa, power)) = nearest.split_once('e') else { return nearest };
    let change = if kind == Kind::Upper { 0.001 } else { -0.001 };
    let moved = mantissa.parse::<f64>().map(|mantissa| format!("{:.3}e{power}", mantissa + change));
    // written anew, as the step may have crossed a power of ten
    let moved = moved.ok().and_then(|text| text.parse::<f64>().ok());
    moved.map_or(nearest, |value| format!("{value:.3e}"))
}

fn is_safe(shown: &str, value: f64, kind: Kind) -> bool {
    shown.parse::<f64>().is_ok_and(|shown| match kind {
        Kind::Upper => shown >= value,
        Kind::Lower => shown <= value,
        Kind::Estimate => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_on_their_safe_side() {
        let values = [0.718_022_8, 4.063_153_5, 349.804_809, 1e-5, 3.002_5e-4, 0.05, 9.999_99, 0.0];
        for value in values {
            for digits in [2, 4] {
                let [low, high] = [Kind::Lower, Kind::Upper].map(|kind| {
                    let shown = [plain(value, kind, digits), scientific(value, kind)];
                    shown.map(|text| text.parse::<f64>().unwrap())
                });
                let margin = if digits == 2 { 0.011 } else { 1.1e-4 };
                for place in 0..2 {
                    assert!(
                        low[place] <= value && value <= high[place],
                        "{value}: {low:?} {high:?}"
                    );
                    assert!(high[place] - low[place] <= margin + 0.003 * value, "{value}");
                }
            }
        }
        assert_eq!(plain(0.718_022_8, Kind::Upper, 4), "0.7181");
        assert_eq!(plain(8.3e-4, Kind::Lower, 4), "8.300e-4");
        assert_eq!(plain(1.0001e300, Kind::Upper, 4), "1.001e300");
        assert_eq!(scientific(9.999_9e-4, Kind::Upper), "1.000e-3");
    }
}

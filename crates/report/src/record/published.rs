//! Published trainings: what was claimed, and what shuffling would leak.

use dpscope_core::accounting::{Accounted, Cell, Schedule};
use dpscope_core::mechanism::SamplerKind;
use serde::Serialize;

use super::PairRange;

/// The document of `dpscope reproduce published`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.published/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Chance that a drawn bound is wrong.
    pub significance: f64,
    /// Decimal digits.
    pub seed: String,
    /// One per training.
    pub rows: Vec<PublishedRow>,
}

/// A published training.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedRow {
    /// A short name; several rows of one source may share it.
    pub name: String,
    /// Where its numbers stand.
    pub source: PublishedSource,
    /// Noise, steps and epochs.
    #[serde(flatten)]
    pub setting: Schedule,
    /// Records; none if the source states steps per epoch.
    pub dataset_size: Option<u64>,
    /// Records per batch; none if the source states steps per epoch.
    pub batch_size: Option<u64>,
    /// Steps in all.
    pub total_steps: u64,
    /// δ of all values.
    pub delta: f64,
    /// As printed.
    pub claimed: String,
    /// The claimed ε as a number.
    pub claimed_epsilon: f64,
    /// The accountant of the claim, which assumes Poisson batches.
    pub accountant: String,
    /// How batches were drawn, as far as stated.
    pub ran: Option<SamplerKind>,
    /// What states it.
    pub ran_note: Option<String>,
    /// What else is to be known of the claim.
    pub remark: Option<String>,
    /// Numbers that do not stand in the source.
    pub unverified: Vec<String>,
    /// Poisson accounting with these numbers, an upper bound.
    pub poisson: Cell,
    /// Whether the claim is that of Poisson accounting.
    pub claim: ClaimReproduction,
    /// Lower bound if batches were shuffled in every epoch.
    pub shuffle_lower: Cell,
    /// The worst-case pair of shuffled batches; none for less than one epoch.
    pub pair: Option<PairRange>,
    /// Upper bound for every shuffle.
    pub shuffle_upper: Cell,
    /// The largest lower bound of shuffled batches, divided by the claim.
    pub shuffle_over_claim: Option<f64>,
}

/// Where the numbers of a training stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedSource {
    /// Authors and title, or project and file.
    pub title: String,
    /// Its address.
    pub url: String,
    /// The place within it.
    pub place: String,
}

/// A printed ε beside that of Poisson accounting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClaimReproduction {
    /// Equal as printed: rounded up, or to the nearest digit.
    Equal,
    /// The printed one is larger: a valid claim, by a looser accountant or of a longer run.
    Larger,
    /// The printed one is smaller than Poisson accounting can prove.
    Smaller,
    /// Poisson accounting has no value.
    Unknown,
}

impl ClaimReproduction {
    /// Compares a claim, as printed, with an upper bound of Poisson accounting.
    #[must_use]
    pub fn new(printed: &str, claimed: f64, poisson: Option<&Accounted>) -> Self {
        let Some(poisson) = poisson else { return ClaimReproduction::Unknown };
        let digits = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
        // a claim in whole numbers is a target
        let unit = (0..digits).fold(1.0, |unit, _| unit / 10.0_f64).min(0.01 * claimed);
        if claimed > poisson.epsilon + unit {
            ClaimReproduction::Larger
        } else if claimed < poisson.epsilon - poisson.numeric_error - 0.5 * unit {
            ClaimReproduction::Smaller
        } else {
            ClaimReproduction::Equal
        }
    }

    /// A sign for a column of a table.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            ClaimReproduction::Equal => "=",
            ClaimReproduction::Larger => ">",
            ClaimReproduction::Smaller => "<",
            ClaimReproduction::Unknown => "?",
        }
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::accounting::{Accountant, Given, Poisson, Query, Training};

    use super::*;

    #[test]
    fn a_claim_is_compared_as_printed() {
        let training = Training {
            noise_multiplier: 1.0,
            steps_per_epoch: 100,
            epochs: 1,
            sampling_rate: None,
        };
        let poisson = Poisson.account(&Query::upper(training, Given::Delta(1e-5))).unwrap();
        assert!(poisson.epsilon > 0.718 && poisson.epsilon < 0.7181);
        let of = |printed: &str| {
            ClaimReproduction::new(printed, printed.parse().unwrap(), Some(&poisson))
        };
        for (printed, expected) in [
            ("0.72", ClaimReproduction::Equal),
            ("0.718", ClaimReproduction::Equal),
            ("0.719", ClaimReproduction::Equal),
            ("0.720", ClaimReproduction::Larger),
            ("0.73", ClaimReproduction::Larger),
            ("1", ClaimReproduction::Larger),
            ("0.71", ClaimReproduction::Smaller),
            ("0.7", ClaimReproduction::Smaller),
        ] {
            assert_eq!(of(printed), expected, "{printed}");
        }
        assert_eq!(ClaimReproduction::new("1", 1.0, None), ClaimReproduction::Unknown);
    }
}

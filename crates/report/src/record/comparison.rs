//! Claimed, proven and audited ε of one training.

use dpscope_core::accounting::{
    Accountant, BallsInBins, Cell, Deterministic, Directions, FixedSize, Given, Kind, Poisson,
    Query, RandomAllocation, Schedule, Shuffle, ShuffleMethod, Training, TruncatedPoisson,
};
use dpscope_core::adjacency::Scope;
use dpscope_core::mechanism::{SamplerKind, Truncation};
use serde::{Deserialize, Serialize};

use crate::words::{Conclusion, InWords, KnownBound, OwnClaim};

/// The document of `dpscope compare`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.comparison/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// The conclusion in one line.
    pub headline: String,
    /// The claim that was tested, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<OwnClaim>,
    /// Noise, steps and epochs.
    #[serde(flatten)]
    pub setting: Schedule,
    /// Parameters of rows that need their own.
    #[serde(flatten)]
    pub other: OtherParameters,
    /// δ of all values.
    pub delta: f64,
    /// Chance that a drawn bound is wrong.
    pub significance: f64,
    /// One per quantity.
    pub rows: Vec<ComparisonLine>,
    /// Decimal digits.
    pub seed: String,
    /// The device that drew.
    pub device: String,
}

/// Parameters of rows that need their own; such a row is shown where they are known.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherParameters {
    /// Of truncated Poisson batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Truncation>,
    /// Epochs, in the steps of all of which a record is used as often, in a uniform set of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated_epochs: Option<u64>,
}

impl OtherParameters {
    /// The quantities of these rows.
    pub fn quantities(self) -> impl Iterator<Item = ComparedQuantity> {
        let truncated = self.truncation.map(|_| ComparedQuantity::TruncatedPoisson);
        let allocated = self.allocated_epochs.map(|_| ComparedQuantity::RandomAllocation);
        truncated.into_iter().chain(allocated)
    }
}

/// A quantity and its value.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparisonLine {
    /// What the value is.
    #[serde(rename = "what")]
    pub quantity: ComparedQuantity,
    /// ε, or why there is none.
    #[serde(flatten)]
    pub value: ComparedValue,
    /// ε divided by the claim of Poisson accounting; none where either is missing.
    pub ratio_to_poisson: Option<f64>,
}

/// A value of ε divided by the claim of Poisson accounting; none where either is missing or the claim
/// is 0.
#[must_use]
pub fn ratio_to_poisson(epsilon: Option<f64>, claimed: Option<f64>) -> Option<f64> {
    epsilon
        .zip(claimed)
        .filter(|(_, claimed)| *claimed > 0.0)
        .map(|(epsilon, claimed)| epsilon / claimed)
}

/// A quantity that `dpscope compare` and `dpscope sweep` show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparedQuantity {
    /// The claim of Poisson accounting.
    Poisson,
    /// Upper bound for truncated Poisson batches.
    TruncatedPoisson,
    /// Upper bound for batches of fixed size.
    FixedSize,
    /// Upper bound for random allocation to the steps of several epochs.
    RandomAllocation,
    /// Upper bound for balls-in-bins batches.
    BallsInBins,
    /// The larger of the two closed forms of shuffled batches.
    ShuffleLower,
    /// Lower bound from the largest output of each epoch.
    ShuffleMaxSlice,
    /// Lower bound from the sum of the outputs of each epoch.
    ShuffleSum,
    /// Lower limit from draws of the exact pair.
    PairLower,
    /// Estimate for the exact pair.
    PairEstimate,
    /// Upper bound for every shuffle.
    Deterministic,
    /// Lower bound from a simulated audit.
    Audit,
}

impl ComparedQuantity {
    /// What an accountant computes of a training at δ; none for what is drawn or simulated.
    ///
    /// Lower values of an incomplete last epoch are those without it.
    #[must_use]
    pub fn computed(self, setting: &Schedule, other: OtherParameters, delta: f64) -> Option<Cell> {
        let query = Query::upper(setting.rounded_up(), Given::Delta(delta));
        let drawn_anew = Query { training: setting.poisson(), ..query };
        let shuffle = |method| {
            let lower = |training| Query { kind: Kind::Lower, training, ..query };
            setting.rounded_down().and_then(|whole| Shuffle(method).account(&lower(whole)))
        };
        let result = match self {
            ComparedQuantity::Poisson => Poisson.account(&drawn_anew),
            ComparedQuantity::FixedSize => FixedSize::ZERO_OUT.account(&drawn_anew),
            ComparedQuantity::TruncatedPoisson => {
                TruncatedPoisson::zero_out(other.truncation?).account(&drawn_anew)
            }
            ComparedQuantity::RandomAllocation => {
                let epochs = other.allocated_epochs?;
                let Training { steps_per_epoch, .. } = query.training;
                let training = Training {
                    steps_per_epoch: steps_per_epoch.saturating_mul(epochs),
                    epochs: query.training.epochs / epochs.max(1),
                    sampling_rate: Some(1.0 / steps_per_epoch as f64),
                    ..query.training
                };
                RandomAllocation.account(&Query { training, ..query })
            }
            ComparedQuantity::BallsInBins => BallsInBins.account(&query),
            ComparedQuantity::ShuffleLower => shuffle(ShuffleMethod::Best),
            ComparedQuantity::ShuffleMaxSlice => shuffle(ShuffleMethod::MaxSlice),
            ComparedQuantity::ShuffleSum => shuffle(ShuffleMethod::Sum),
            ComparedQuantity::Deterministic => Deterministic.account(&query),
            ComparedQuantity::PairLower
            | ComparedQuantity::PairEstimate
            | ComparedQuantity::Audit => return None,
        };
        Some(result.into())
    }

    /// What ε of these quantities imply. The drawn bound is wrong with probability `significance`;
    /// `claim` is an ε that the reader claims.
    #[must_use]
    pub fn conclusion(values: &[(Self, f64)], significance: f64, claim: Option<f64>) -> Conclusion {
        let epsilon = |bound: KnownBound| {
            let value = values.iter().find(|(quantity, _)| quantity.known_bound() == Some(bound));
            value.map(|(_, epsilon)| *epsilon)
        };
        Conclusion::new(SamplerKind::Shuffle, significance, claim, epsilon)
    }

    /// The bound, where a conclusion can rest on it.
    const fn known_bound(self) -> Option<KnownBound> {
        Some(match self {
            ComparedQuantity::Poisson => KnownBound::Poisson,
            ComparedQuantity::BallsInBins => KnownBound::BallsInBins,
            ComparedQuantity::ShuffleLower => KnownBound::ShuffleBest,
            ComparedQuantity::ShuffleMaxSlice => KnownBound::ShuffleMaxSlice,
            ComparedQuantity::ShuffleSum => KnownBound::ShuffleSum,
            ComparedQuantity::PairLower => KnownBound::PairLower,
            ComparedQuantity::Deterministic => KnownBound::Deterministic,
            ComparedQuantity::TruncatedPoisson
            | ComparedQuantity::FixedSize
            | ComparedQuantity::RandomAllocation
            | ComparedQuantity::PairEstimate
            | ComparedQuantity::Audit => return None,
        })
    }
}

/// A value of theory or of an audit.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ComparedValue {
    /// Computed by an accountant or drawn from the exact pair.
    Theory(Cell),
    /// Counted.
    Audit(SimulatedAudit),
}

/// The result of a simulated audit.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulatedAudit {
    /// ε, nats.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// A lower bound or an estimate.
    pub kind: Kind,
    /// The pair.
    pub scope: Scope,
    /// Which world plays P.
    pub direction: Directions,
    /// `counting`.
    pub method: &'static str,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// Observations of both worlds together.
    pub observations: u64,
    /// The largest value that this number of observations can reach.
    pub ceiling: f64,
}

/// A value as a table shows it.
#[derive(Debug, Clone, Copy)]
pub struct ShownValue {
    /// ε, nats.
    pub epsilon: f64,
    /// On which side of the truth it lies.
    pub kind: Kind,
    /// The pair, or every pair of neighbours.
    pub scope: Scope,
    /// Directions that it covers.
    pub direction: Directions,
    /// How it was computed, in a word.
    pub method: &'static str,
}

impl ComparisonLine {
    /// The value; none if there is only a reason.
    #[must_use]
    pub fn shown(&self) -> Option<ShownValue> {
        match &self.value {
            ComparedValue::Theory(cell) => cell.value().map(|row| ShownValue {
                epsilon: row.epsilon,
                kind: row.kind,
                scope: row.scope,
                direction: row.direction,
                method: row.method_in_a_word(),
            }),
            ComparedValue::Audit(row) => Some(ShownValue {
                epsilon: row.epsilon,
                kind: row.kind,
                scope: row.scope,
                direction: row.direction,
                method: row.method,
            }),
        }
    }

    /// The smallest possible exact value, if what is open of an upper one exceeds 1 %: its numeric
    /// error, or the gap to what is proven below.
    #[must_use]
    pub fn at_least(&self) -> Option<f64> {
        let ComparedValue::Theory(cell) = &self.value else { return None };
        let row = cell.value().filter(|row| row.kind == Kind::Upper)?;
        let open = row.theory_gap.unwrap_or(row.numeric_error);
        (open > 0.01 * row.epsilon).then(|| (row.epsilon - open).max(0.0))
    }

    /// Why there is no value.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match &self.value {
            ComparedValue::Theory(Cell::Missing { reason }) => Some(reason),
            _ => None,
        }
    }
}

/// The document of `dpscope sweep`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sweep {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.sweep/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Chance that a drawn bound is wrong.
    pub significance: f64,
    /// Rows of the input.
    pub settings: usize,
    /// Finished rows, in the order of the input.
    pub rows: Vec<SweepRow>,
    /// Decimal digits; none where nothing was drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The device that drew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The quantities of each row, for the columns of a table.
    #[serde(skip)]
    pub quantities: Vec<ComparedQuantity>,
}

/// A training and its values.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepRow {
    /// Its name in the input.
    pub name: String,
    /// Noise, steps and epochs.
    #[serde(flatten)]
    pub setting: Schedule,
    /// δ of all values.
    pub delta: f64,
    /// One per quantity.
    pub values: Vec<ComparisonLine>,
}

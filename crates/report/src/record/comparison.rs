//! Claimed, proven and audited ε of one training.

use std::borrow::Cow;

use dpscope_core::accounting::{
    BOUNDS, Cell, Cost, Directions, Given, Kind, KnownBound, Schedule, Setting, Training,
};
use dpscope_core::adjacency::{Adjacency, Scope};
use dpscope_core::foreign_text::ForeignText;
use dpscope_core::mechanism::{SamplerKind, SamplerParameter, Truncation};
use serde::{Deserialize, Serialize};

use crate::words::{BoundWords, Conclusion, InWords, OwnClaim, bound_words};

/// The document of `dpscope compare`.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = Comparison::SCHEMA)))]
    pub schema: Cow<'static, str>,
    /// Version of the program.
    pub version: Cow<'static, str>,
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

impl Comparison {
    /// The `schema` of these reports.
    pub const SCHEMA: &'static str = "dpscope.comparison/1";
}

/// Parameters of rows that need their own; such a row is shown where they are known.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherParameters {
    /// Number of records, and the most of them in a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Truncation>,
    /// Epochs, in the steps of all of which a record is used as often, in a uniform set of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated_epochs: Option<u64>,
}

/// A quantity and its value.
#[derive(Debug, Serialize, Deserialize)]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
#[serde(into = "String", try_from = "String")]
pub enum ComparedQuantity {
    /// A bound or an estimate of theory.
    Bound(KnownBound),
    /// Lower bound from a simulated audit.
    Audit,
}

const AUDIT: &str = "audit";

impl From<ComparedQuantity> for String {
    fn from(quantity: ComparedQuantity) -> Self {
        quantity.record().to_owned()
    }
}

impl TryFrom<String> for ComparedQuantity {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let bounds = BOUNDS.iter().map(|row| ComparedQuantity::Bound(row.bound));
        let mut all = bounds.chain([ComparedQuantity::Audit]);
        let unknown = || format!("{} is no compared quantity", ForeignText::new(&name));
        all.find(|quantity| quantity.record() == name).ok_or_else(unknown)
    }
}

impl ComparedQuantity {
    /// Every quantity of a comparison, in the order of its table.
    pub fn all(other: OtherParameters, has_audit: bool) -> Vec<Self> {
        let has_parameter = |sampler: SamplerKind| match sampler.parameter() {
            Some(SamplerParameter::MaxBatchSize) => other.truncation.is_some(),
            Some(SamplerParameter::UsesPerEpoch) => other.allocated_epochs.is_some(),
            _ => sampler == SamplerKind::FixedSize,
        };
        let rows = BOUNDS.iter().filter(|row| {
            let is_upper = row.kind == Kind::Upper && has_parameter(row.sampler);
            is_upper || row.is_shown_for(SamplerKind::Shuffle)
        });
        let bounds = rows.map(|row| ComparedQuantity::Bound(row.bound));
        bounds.chain(has_audit.then_some(ComparedQuantity::Audit)).collect()
    }

    /// Its name in documents.
    #[must_use]
    pub fn record(self) -> &'static str {
        self.words().map_or(AUDIT, |words| words.record)
    }

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.words().map_or(AUDIT, |words| words.name)
    }

    /// Its words; none for an audit.
    #[must_use]
    pub fn words(self) -> Option<BoundWords> {
        match self {
            ComparedQuantity::Bound(bound) => Some(bound_words(bound)),
            ComparedQuantity::Audit => None,
        }
    }

    /// Whether it is drawn from the exact pair.
    #[must_use]
    pub fn is_drawn(self) -> bool {
        matches!(self, ComparedQuantity::Bound(bound) if bound.row().cost == Cost::Draws)
    }

    /// What an accountant computes of a training at δ; none for what is drawn or simulated.
    ///
    /// Lower values of an incomplete last epoch are those without it.
    #[must_use]
    pub fn computed(self, setting: &Schedule, other: OtherParameters, delta: f64) -> Option<Cell> {
        let ComparedQuantity::Bound(bound) = self else { return None };
        let row = bound.row();
        let training = match row.sampler.has_uses() {
            true => Ok(allocated(setting.rounded_up(), other.allocated_epochs?)),
            false => setting.training(row.sampler, row.kind),
        };
        let account = |training| {
            let truncation = other.truncation;
            let setting = Setting { truncation, ..Setting::zero_out(training) };
            bound.account(&setting, Given::Delta(delta))
        };
        training.map_or_else(|error| Some(Err(error)), account).map(Cell::from)
    }

    /// What the ε of these quantities imply. The drawn bound is wrong with probability `significance`;
    /// `claim` is the reader's claimed ε and its adjacency.
    #[must_use]
    pub fn conclusion(
        values: &[(Self, f64)],
        significance: f64,
        claim: Option<(f64, Adjacency)>,
    ) -> Conclusion {
        let epsilon = |bound: KnownBound| {
            let wanted = ComparedQuantity::Bound(bound);
            values.iter().find(|(quantity, _)| *quantity == wanted).map(|(_, epsilon)| *epsilon)
        };
        Conclusion::new(SamplerKind::Shuffle, significance, claim, epsilon)
    }
}

/// The training whose record is in one step of each epoch on average, in a uniform set of the steps of
/// `epochs` epochs.
fn allocated(training: Training, epochs: u64) -> Training {
    Training {
        steps_per_epoch: training.steps_per_epoch.saturating_mul(epochs),
        epochs: training.epochs / epochs.max(1),
        sampling_rate: Some(1.0 / training.steps_per_epoch as f64),
        ..training
    }
}

/// A value of theory or of an audit.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ComparedValue {
    /// Computed by an accountant or drawn from the exact pair.
    Theory(Cell),
    /// Counted.
    Audit(SimulatedAudit),
}

/// The result of a simulated audit.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulatedAudit {
    /// ε, nats.
    pub epsilon: f64,
    /// δ of the result.
    pub delta: f64,
    /// A lower bound or an estimate.
    pub kind: Kind,
    /// The pair.
    pub scope: Scope,
    /// Which world plays P.
    pub direction: Directions,
    /// `counting`.
    pub method: Cow<'static, str>,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// Observations of both worlds together.
    pub observations: u64,
    /// The largest value that this number of observations can reach.
    pub ceiling: f64,
}

/// A value as a table shows it.
#[derive(Debug, Clone, Copy)]
pub struct ShownValue<'a> {
    /// ε, nats.
    pub epsilon: f64,
    /// On which side of the truth it lies.
    pub kind: Kind,
    /// The pair, or every pair of neighbours.
    pub scope: Scope,
    /// Directions that it covers.
    pub direction: Directions,
    /// How it was computed, in a word.
    pub method: &'a str,
}

impl ComparisonLine {
    /// The value; none if there is only a reason.
    #[must_use]
    pub fn shown(&self) -> Option<ShownValue<'_>> {
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
                method: &row.method,
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

//! What an accountant claims of the audited training, and what theory proves of it.

use dpscope_core::audit::AuditResult;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian};
use dpscope_core::theory::{At, Cell, Found, Kind, Setting, ShuffleMethod};
use serde::Serialize;

use super::{plain, row};

/// Theory beside an audit, at the audit's δ.
#[derive(Debug, Serialize)]
pub(crate) struct Beside {
    /// As if batches were Poisson sampled, q = 1/T: what a user would have claimed.
    pub(crate) poisson: Cell,
    /// The audit's ε less Poisson's, nats; negative where the audit shows less.
    pub(crate) gap: Option<f64>,
    /// Proven of the sampler from below, where it has a closed form.
    #[serde(skip_serializing_if = "Option::is_none")]
    lower: Option<Cell>,
    /// Proven of the sampler from above.
    #[serde(skip_serializing_if = "Option::is_none")]
    upper: Option<Cell>,
}

impl Beside {
    /// Of a training whose batches were drawn in a way that is not known.
    pub(crate) fn of_training(setting: Setting, result: &AuditResult) -> Self {
        let poisson = Cell::from(setting.poisson(At::Delta(result.delta)));
        let gap = poisson.value().map(|poisson| result.epsilon - poisson.epsilon);
        Beside { poisson, gap, lower: None, upper: None }
    }

    pub(crate) fn of_mechanism(mechanism: &BatchedGaussian, result: &AuditResult) -> Self {
        let setting = Setting::of(mechanism);
        let at = At::Delta(result.delta);
        let lower: Option<Found> = match mechanism.sampler {
            BatchSampler::Shuffle | BatchSampler::BatchThenShuffle => {
                Some(setting.shuffle_lower(at, ShuffleMethod::Best))
            }
            BatchSampler::PersistentShuffle => {
                Some(setting.persistent_shuffle_lower(at, ShuffleMethod::Best))
            }
            BatchSampler::Deterministic => Some(setting.deterministic_lower(at)),
            _ => None,
        };
        let is_a_shuffle =
            !matches!(mechanism.sampler, BatchSampler::Poisson | BatchSampler::BallsInBins);
        let upper = is_a_shuffle.then(|| setting.deterministic(at));
        Beside {
            lower: lower.map(Cell::from),
            upper: upper.map(Cell::from),
            ..Beside::of_training(setting, result)
        }
    }

    /// Rows of a report in words.
    pub(super) fn to_text(&self, result: &AuditResult) -> String {
        let mut out = row("accountant", &self.claimed(result));
        let value = |cell: &Option<Cell>, sign: char| {
            let row = cell.as_ref().and_then(Cell::value)?;
            Some(format!("ε {sign} {}", plain(row.epsilon, row.kind, 4)))
        };
        let proven = [value(&self.lower, '≥'), value(&self.upper, '≤')];
        let proven: Vec<String> = proven.into_iter().flatten().collect();
        if !proven.is_empty() {
            let text = format!("{} by theory, for batches drawn in this way", proven.join(" and "));
            out.push_str(&row("proven", &text));
        }
        out
    }

    fn claimed(&self, result: &AuditResult) -> String {
        let (poisson, gap) = match (&self.poisson, self.gap) {
            (Cell::Value(poisson), Some(gap)) => (poisson, gap),
            (Cell::Missing { reason }, _) => return format!("no Poisson ε: {reason}"),
            (Cell::Value(_), None) => return String::new(),
        };
        let claimed = format!(
            "ε ≤ {} if batches were Poisson sampled, which is what is usually claimed",
            plain(poisson.epsilon, Kind::Upper, 4)
        );
        if gap <= 0.0 {
            return format!("{claimed}; this audit shows no more, which proves nothing");
        }
        let (least, kind) = match result.kind {
            "bound" => ("at least ", Kind::Lower),
            _ => ("an estimated ", Kind::Estimate),
        };
        let times = if poisson.epsilon > 0.0 {
            format!(" ({} times)", plain(result.epsilon / poisson.epsilon, kind, 1))
        } else {
            String::new()
        };
        format!("{claimed}; this audit shows {least}{} more{times}", plain(gap, kind, 4))
    }
}

//! Theoretical trade-off curves of a setting.

use dpscope_core::accounting::{AccountingError, Schedule, Training};
use dpscope_core::curve::{
    TradeOffCurve, claim_curve, deterministic_curve, max_slice_curve, poisson_curve,
};
use dpscope_core::format::given;
use dpscope_core::mechanism::{BatchedGaussian, SamplerKind};

use super::{Curve, Curves};
use crate::record::{CurveKind, CurvePoint};
use crate::words::epochs_in_words;

/// A training and how its batches are drawn.
#[derive(Debug, Clone, Copy)]
pub struct Sampled {
    /// Noise, steps and epochs.
    pub setting: Schedule,
    /// How batches are drawn.
    pub sampler: SamplerKind,
}

impl From<&BatchedGaussian> for Sampled {
    fn from(mechanism: &BatchedGaussian) -> Self {
        Sampled { setting: mechanism.into(), sampler: mechanism.sampler.kind() }
    }
}

/// A curve of theory; its name, and its words beside the line and in the legend.
fn curve(
    kind: CurveKind,
    [name, short, legend]: [&'static str; 3],
    found: &TradeOffCurve,
) -> Curve {
    let (short, legend) = (short.to_owned(), legend.to_owned());
    let points = found.points().iter().map(CurvePoint::from).collect();
    Curve { name, kind, short, legend, points, is_drawn: true }
}

/// The region that (ε, δ) allows, as a curve; its words hold the numbers.
pub(super) fn line(
    kind: CurveKind,
    name: &'static str,
    [short, legend]: [String; 2],
    [epsilon, delta]: [f64; 2],
) -> Result<Curve, AccountingError> {
    let found = claim_curve(epsilon, delta)?;
    Ok(Curve { short, legend, ..curve(kind, [name, "", ""], &found) })
}

impl Sampled {
    /// The curves, and why any is missing.
    pub(super) fn curves(&self) -> (Vec<Curve>, Vec<String>) {
        let (mut curves, mut notes) = (Vec::new(), Vec::new());
        let mut add = |name: &str, found: Result<Vec<Curve>, AccountingError>| match found {
            Ok(found) => curves.extend(found),
            Err(AccountingError::Grid { .. }) => {
                notes.push(format!("no curve of {name}: its privacy loss needs too large a grid"));
            }
            Err(error) => notes.push(format!("no curve of {name}: {error}")),
        };
        add("Poisson sampling", self.poisson());
        let is_bound = self.sampler != SamplerKind::BallsInBins;
        if is_bound && !self.sampler.has_sampling_rate() {
            add("deterministic batches", self.deterministic());
        }
        if let Some(run) = self.shuffled_epoch() {
            add("the shuffle's attack", self.attack(&run));
        }
        (curves, notes)
    }

    fn poisson(&self) -> Result<Vec<Curve>, AccountingError> {
        let found = poisson_curve(&self.setting.poisson())?;
        let words = [
            "poisson",
            "Poisson",
            "Poisson accountant: proven where batches are Poisson sampled, at rate 1/T",
        ];
        let other = ["poisson-exchanged", "", "Poisson accountant, with the worlds exchanged"];
        let exchanged = curve(CurveKind::Upper, other, &found.exchanged());
        Ok(vec![curve(CurveKind::Upper, words, &found), Curve { is_drawn: false, ..exchanged }])
    }

    fn deterministic(&self) -> Result<Vec<Curve>, AccountingError> {
        let found = deterministic_curve(&self.setting.rounded_up())?;
        let words = [
            "deterministic",
            "deterministic",
            "deterministic batches: proven that no shuffle leaks more than this",
        ];
        Ok(vec![curve(CurveKind::Upper, words, &found)])
    }

    /// The one shuffled epoch that the largest output is known for.
    fn shuffled_epoch(&self) -> Option<Training> {
        let run = self.setting.rounded_down().ok()?;
        match self.sampler {
            SamplerKind::Shuffle if run.epochs == 1 => Some(run),
            SamplerKind::PersistentShuffle => Some(run.persistent()),
            _ => None,
        }
    }

    fn attack(&self, run: &Training) -> Result<Vec<Curve>, AccountingError> {
        let found = max_slice_curve(run)?;
        let words = [
            "shuffle-attack",
            "shuffle attack",
            "largest output of a shuffled epoch: proven that an attack does this well",
        ];
        Ok(vec![curve(CurveKind::Lower, words, &found)])
    }
}

/// The program and its version.
pub(super) fn program() -> String {
    format!("dpscope {}", env!("CARGO_PKG_VERSION"))
}

/// Curves of theory alone.
#[must_use]
pub fn curves_of_sampled(sampled: &Sampled, delta: f64) -> Curves {
    let (curves, notes) = sampled.curves();
    let Training { noise_multiplier, steps_per_epoch, .. } = sampled.setting.whole;
    let epochs = epochs_in_words(&sampled.setting);
    Curves {
        title: "What theory says of the leakage".to_owned(),
        caption: vec![
            format!(
                "σ = {}, T = {steps_per_epoch}, E = {epochs}, sampler {}; δ = {delta:e}",
                given(noise_multiplier),
                sampled.sampler.name()
            ),
            program(),
        ],
        curves,
        notes,
        delta,
        ..Curves::default()
    }
}

//! Observations that come from training: models are trained, and their outputs scored.

use std::fmt;

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditHistograms;
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_core::format;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::backend::{Counted, Work};
use crate::plan::hex;
use crate::{Control, EngineError, ObservationRange};

/// Longest description of a training, in bytes.
const LONGEST_DESCRIPTION: usize = 1 << 16;

/// Units of a standard deviation in which residuals are added up.
const RESIDUAL_UNIT: f64 = 1.0 / 1_048_576.0;

/// Residuals are cut off here: a run that diverges must not hide the others.
const MOST_RESIDUAL: f64 = 1024.0;

/// SHA-256 of a training's description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrainingDigest([u8; 32]);

impl TrainingDigest {
    /// Of a description.
    #[must_use]
    pub fn of(description: &str) -> Self {
        TrainingDigest(Sha256::digest(description.as_bytes()).into())
    }
}

impl From<TrainingDigest> for String {
    fn from(digest: TrainingDigest) -> String {
        hex(&digest.0)
    }
}

impl TryFrom<String> for TrainingDigest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let byte = |pair: &[u8]| {
            let digits = std::str::from_utf8(pair).ok()?;
            digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(())?;
            u8::from_str_radix(digits, 16).ok()
        };
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
        let whole = bytes.filter(|_| text.len() == 64);
        let bytes = whole.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        bytes.map(TrainingDigest).ok_or("a training is named by 64 hexadecimal digits")
    }
}

/// What runs of one world showed beside their scores. Integers: sums in any order are the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingTally {
    /// Runs that were trained.
    pub runs: u64,
    /// Of these, runs whose outputs are not finite. They are counted against the attacker.
    pub failed: u64,
    /// Outputs of the other runs.
    pub outputs: u64,
    /// Σ of their residuals: what an output is above the mean of its batch, in 2⁻²⁰ noise standard
    /// deviations.
    residual_sum: i64,
    /// Σ of the residuals' squares, in 2⁻²⁰.
    residual_squares: u64,
    /// Of the outputs, those of the batch that holds the target, in D, or ⊥, in D′.
    pub canaries: u64,
    /// Σ of their residuals, in 2⁻²⁰.
    canary_sum: i64,
    /// Held-out examples that trained models were asked about.
    pub asked: u64,
    /// Of these, examples classified correctly.
    pub correct: u64,
}

impl TrainingTally {
    /// Adds a residual, in noise standard deviations, of a batch that holds the canary or of
    /// another.
    pub fn add_residual(&mut self, residual: f64, is_canary: bool) {
        let residual = dpscope_core::math::clamp(residual, -MOST_RESIDUAL, MOST_RESIDUAL);
        self.outputs += 1;
        let change = (residual / RESIDUAL_UNIT).round_ties_even() as i64;
        let square = (residual * residual / RESIDUAL_UNIT).round_ties_even() as u64;
        if is_canary {
            self.canaries += 1;
            self.canary_sum = self.canary_sum.saturating_add(change);
        }
        self.residual_sum = self.residual_sum.saturating_add(change);
        self.residual_squares = self.residual_squares.saturating_add(square);
    }

    /// Adds what other runs showed.
    pub fn add(&mut self, other: &TrainingTally) {
        self.runs = self.runs.saturating_add(other.runs);
        self.failed = self.failed.saturating_add(other.failed);
        self.outputs = self.outputs.saturating_add(other.outputs);
        self.residual_sum = self.residual_sum.saturating_add(other.residual_sum);
        self.residual_squares = self.residual_squares.saturating_add(other.residual_squares);
        self.canaries = self.canaries.saturating_add(other.canaries);
        self.canary_sum = self.canary_sum.saturating_add(other.canary_sum);
        self.asked = self.asked.saturating_add(other.asked);
        self.correct = self.correct.saturating_add(other.correct);
    }

    /// Mean residual, in noise standard deviations: what the other records' gradients add.
    #[must_use]
    pub fn bias(&self) -> Option<f64> {
        let mean = self.residual_sum as f64 * RESIDUAL_UNIT / self.outputs as f64;
        (self.outputs > 0).then_some(mean)
    }

    /// How far the canaries' mean residual lies above that of the other outputs, in noise standard
    /// deviations: 0 where the canary's gradient has the length of the clip norm.
    #[must_use]
    pub fn canary_shift(&self) -> Option<f64> {
        let others = self.outputs.checked_sub(self.canaries).filter(|&others| others > 0)?;
        let rest = self.residual_sum.saturating_sub(self.canary_sum);
        let mean = self.canary_sum as f64 / self.canaries as f64 - rest as f64 / others as f64;
        (self.canaries > 0).then_some(mean * RESIDUAL_UNIT)
    }

    /// Variance of the residuals about their mean, in noise variances: 1 where only noise differs.
    #[must_use]
    pub fn residual_variance(&self) -> Option<f64> {
        let bias = self.bias()?;
        let square = self.residual_squares as f64 * RESIDUAL_UNIT / self.outputs as f64;
        Some(square - bias * bias)
    }

    /// The share of held-out examples that are classified correctly.
    #[must_use]
    pub fn correct_share(&self) -> Option<f64> {
        (self.asked > 0).then(|| self.correct as f64 / self.asked as f64)
    }
}

/// The training behind a run's counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingState {
    /// All that determines the training beside the plan, as JSON: model, data, rates.
    pub description: String,
    target: TrainingTally,
    zero_out: TrainingTally,
}

impl TrainingState {
    /// Before the first run.
    #[must_use]
    pub fn new(description: &str) -> Self {
        TrainingState { description: description.to_owned(), ..TrainingState::none() }
    }

    fn none() -> Self {
        let tally = TrainingTally::default();
        TrainingState { description: String::new(), target: tally, zero_out: tally }
    }

    /// What the runs of one world showed.
    #[must_use]
    pub fn tally(&self, world: World) -> &TrainingTally {
        match world {
            World::Target => &self.target,
            World::ZeroOut => &self.zero_out,
        }
    }

    /// Both worlds together.
    #[must_use]
    pub fn whole(&self) -> TrainingTally {
        let mut whole = self.target;
        whole.add(&self.zero_out);
        whole
    }

    pub(crate) fn add(&mut self, [target, zero_out]: &[TrainingTally; 2]) {
        self.target.add(target);
        self.zero_out.add(zero_out);
    }

    pub(crate) fn absorb(&mut self, other: &TrainingState) {
        self.add(&[other.target, other.zero_out]);
    }

    /// Whether it is the training of that digest, with the tallies of so many runs a world.
    pub(crate) fn fits(&self, digest: TrainingDigest, runs: u64) -> bool {
        let is_sound = |tally: &TrainingTally| {
            tally.runs == runs
                && tally.failed <= runs
                && tally.canaries <= tally.outputs
                && tally.correct <= tally.asked
        };
        self.description.len() <= LONGEST_DESCRIPTION
            && serde_json::from_str(&self.description).is_ok_and(|value| is_plain(&value))
            && TrainingDigest::of(&self.description) == digest
            && [&self.target, &self.zero_out].into_iter().all(is_sound)
    }
}

/// Text that a terminal shows as it is.
fn is_plain(value: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Object, String};
    let is_shown = |text: &str| text.chars().all(format::is_plain);
    match value {
        String(text) => is_shown(text),
        Array(values) => values.iter().all(is_plain),
        Object(fields) => fields.iter().all(|(name, value)| is_shown(name) && is_plain(value)),
        _ => true,
    }
}

/// Runs of one wave.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The runs of each world: those that were asked for, or the first of them.
    pub range: ObservationRange,
    /// Scores of each world in nats, run by run; one that is not finite stands for a failed run.
    pub scores: [Vec<f64>; 2],
    /// What else the runs of each world showed.
    pub tallies: [TrainingTally; 2],
    /// Whether the CPU stood in for a device that failed.
    pub is_fallback: bool,
}

/// Who trains. The worlds' runs are independent of each other, and each a function of plan and
/// number.
pub trait Trainer: fmt::Debug + Send + Sync {
    /// All that determines the training beside the plan, as JSON of 65,536 bytes at most, without
    /// control characters in its text.
    fn description(&self) -> &str;

    /// What the report calls the device.
    fn device(&self) -> String;

    /// Runs of each world below which some of the device has nothing to do.
    fn smallest_wave(&self) -> u64;

    /// What the report calls the CPU that stands in where the device fails.
    fn stand_in(&self) -> String {
        self.device()
    }

    /// Trains and scores the runs of both worlds with these numbers, or the first of them.
    ///
    /// # Errors
    /// `control` stops it, or the device fails.
    fn train(&self, range: ObservationRange, control: &dyn Control)
    -> Result<Trained, EngineError>;
}

/// Trains a wave and bins its scores.
pub(crate) fn counted(
    trainer: &dyn Trainer,
    work: Work<'_>,
    range: ObservationRange,
) -> Result<Counted, EngineError> {
    let started = work.control.now_ms();
    let Trained { range, scores, tallies, is_fallback } = trainer.train(range, work.control)?;
    let mut histograms = AuditHistograms::empty(work.bins);
    for (world, scores) in World::BOTH.into_iter().zip(&scores) {
        for (run, &score) in (range.first..range.end).zip(scores) {
            histograms.add(work.bins, world, run, binned(work.bins, world, score));
        }
    }
    Ok(Counted {
        range,
        histograms,
        sampling_ms: work.control.now_ms() - started,
        is_fallback,
        tallies: Some(tallies),
    })
}

/// A score in the bins' unit; a failed run's lies where it is an error at every cut.
fn binned(bins: &ScoreBins, world: World, score: f64) -> i64 {
    if score.is_finite() {
        return (score / bins.unit()).round_ties_even() as i64;
    }
    match world {
        World::Target => i64::MIN,
        World::ZeroOut => i64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;
    use crate::{Artefact, ArtefactError, Backend, Layout, MergeOptions, Plan, Shard, Unattended};
    use crate::{backend::CpuBackend, merge, run};

    /// Scores of a shift between the worlds, each run's from its number; every tenth run fails.
    #[derive(Debug)]
    struct Scripted {
        description: &'static str,
        failing: bool,
        /// From this run on another device trains, 500 runs at a time.
        lost_at: u64,
    }

    impl Trainer for Scripted {
        fn description(&self) -> &str {
            self.description
        }

        fn device(&self) -> String {
            "scripted".to_owned()
        }

        fn stand_in(&self) -> String {
            "understudy".to_owned()
        }

        fn smallest_wave(&self) -> u64 {
            3
        }

        fn train(&self, range: ObservationRange, _: &dyn Control) -> Result<Trained, EngineError> {
            let is_fallback = range.first >= self.lost_at;
            let most = if is_fallback { 500 } else { u64::MAX };
            let end = range.end.min(range.first.saturating_add(most));
            let range = ObservationRange { end, ..range };
            let mut tallies = [TrainingTally::default(); 2];
            let worlds = [(0, 0.5), (1, -0.5)];
            let scores = worlds.map(|(world, shift)| {
                let tally: &mut TrainingTally = &mut tallies[world];
                let mut score = |run: u64| {
                    tally.runs += 1;
                    let spread = (run as f64 * 0.618_033_988_749_894_9).fract() - 0.5;
                    tally.add_residual(spread, run.is_multiple_of(7));
                    let fails = self.failing && run.is_multiple_of(10);
                    tally.failed += u64::from(fails);
                    if fails { f64::NAN } else { shift + 2.0 * spread }
                };
                (range.first..range.end).map(&mut score).collect()
            });
            Ok(Trained { range, scores, tallies, is_fallback })
        }
    }

    const SCRIPTED: Scripted = Scripted { description: "{}", failing: false, lost_at: u64::MAX };

    fn of(trainer: &Scripted) -> Plan {
        Plan { training: Some(TrainingDigest::of(trainer.description)), ..plan() }
    }

    fn counted(trainer: Scripted, shard: Shard) -> Artefact {
        let plan = of(&trainer);
        let (valid, cpu) = (plan.validated().unwrap(), CpuBackend::new(1).unwrap());
        let layout = Layout::of(&valid, &cpu, &|| true).unwrap();
        let start = Artefact::empty(&valid, layout, shard.range(&plan).unwrap())
            .with_training(trainer.description);
        let backend = Backend::Trainer(Box::new(trainer), cpu);
        pollster::block_on(run(&valid, start, &backend, &Unattended)).unwrap()
    }

    #[test]
    fn runs_are_counted_saved_and_merged() {
        let whole = counted(SCRIPTED, Shard::WHOLE);
        assert!(whole.is_complete());
        let tally = whole.training.as_ref().unwrap().whole();
        assert_eq!((tally.runs, tally.outputs, tally.failed), (20_000, 20_000, 0));
        assert!((tally.residual_variance().unwrap() - 1.0 / 12.0).abs() < 1e-3);
        assert!(tally.bias().unwrap().abs() < 1e-3);
        assert!(tally.canary_shift().unwrap().abs() < 1e-2);
        let back = Artefact::from_bytes(&whole.to_bytes()).unwrap();
        assert_eq!((&back.training, back.plan), (&whole.training, whole.plan));
        let parts = (1..=3).map(|index| counted(SCRIPTED, Shard { index, count: 3 })).collect();
        let merged = merge(parts, MergeOptions::default()).unwrap();
        assert_eq!(merged.training, whole.training);
        assert_eq!(merged.histogram_digest(), whole.histogram_digest());
    }

    #[test]
    fn what_stands_in_for_a_lost_device_is_named_and_costs_no_run() {
        let whole = counted(SCRIPTED, Shard::WHOLE);
        assert_eq!((whole.fallback_shards, &whole.devices[..]), (0, &["scripted".to_owned()][..]));
        let lost = counted(Scripted { lost_at: 1_700, ..SCRIPTED }, Shard::WHOLE);
        assert_eq!(lost.devices, ["scripted", "understudy"]);
        assert!((1..=40).contains(&lost.fallback_shards), "{}", lost.fallback_shards);
        assert_eq!(lost.float_modes, whole.float_modes);
        assert_eq!(lost.histogram_digest(), whole.histogram_digest());
        assert_eq!(lost.training, whole.training);
    }

    #[test]
    fn failed_runs_are_errors_at_every_cut() {
        let failing = Scripted { failing: true, ..SCRIPTED };
        let state = counted(failing, Shard::WHOLE);
        let (right, fallen) = (counted(SCRIPTED, Shard::WHOLE), state.outcome().unwrap());
        assert_eq!(state.training.as_ref().unwrap().tally(World::Target).failed, 1_000);
        let errors = fallen.evidence().errors;
        assert!(errors.false_positives >= 1_000 && errors.false_negatives >= 1_000, "{errors:?}");
        assert!(fallen.value() < right.outcome().unwrap().value());
    }

    #[test]
    fn a_training_that_is_not_the_plans_is_refused() {
        let state = counted(SCRIPTED, Shard { index: 1, count: 2 });
        let valid = state.plan.validated().unwrap();
        let refused = |backend: Backend, state: Artefact| {
            let ran = pollster::block_on(run(&valid, state, &backend, &Unattended));
            matches!(ran, Err(EngineError::Artefact(ArtefactError::ForeignTraining { .. })))
        };
        let other = Scripted { description: "[]", ..SCRIPTED };
        assert!(refused(
            Backend::Trainer(Box::new(other), CpuBackend::new(1).unwrap()),
            state.clone()
        ));
        assert!(refused(Backend::Cpu(CpuBackend::new(1).unwrap()), state.clone()));
        let mut without = state.clone();
        without.training = None;
        let bytes = without.to_bytes();
        assert!(matches!(Artefact::from_bytes(&bytes), Err(ArtefactError::Inconsistent { .. })));
        let mut without_tallies = state.clone();
        without_tallies.training = None;
        let ran = pollster::block_on(run(
            &valid,
            without_tallies,
            &Backend::Trainer(Box::new(SCRIPTED), CpuBackend::new(1).unwrap()),
            &Unattended,
        ));
        let inconsistent =
            |error| matches!(error, EngineError::Artefact(ArtefactError::Inconsistent { .. }));
        assert!(ran.is_err_and(inconsistent));
        let mut few = state;
        few.training.as_mut().unwrap().target.runs -= 1;
        let bytes = few.to_bytes();
        assert!(matches!(Artefact::from_bytes(&bytes), Err(ArtefactError::Inconsistent { .. })));
    }

    #[test]
    fn a_description_that_a_terminal_would_obey_is_refused() {
        let fits = |description: &str| {
            let digest = TrainingDigest::of(description);
            TrainingState::new(description).fits(digest, 0)
        };
        assert!(fits(r#"{"data":{"name":"é\\\"x"},"sizes":[1,null,true]}"#));
        for bad in [
            r#"{"data":{"name":"\u001b[2J"}}"#,
            r#"["\u009b2J"]"#,
            r#"{"a\rb":1}"#,
            r#"["\u2066"]"#,
            "{",
        ] {
            assert!(!fits(bad), "{bad}");
        }
    }

    #[test]
    fn digests_are_hexadecimal() {
        let digest = TrainingDigest::of("{}");
        let text = String::from(digest);
        assert_eq!(TrainingDigest::try_from(text.clone()), Ok(digest));
        for bad in [&text[1..], &format!("{text}00"), &format!("+f{}", &text[2..]), "ü"] {
            assert!(TrainingDigest::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}

//! Models trained with many canaries: their audit, and models to watch.
//!
//! A page has one coordinator, which owns a [`CanaryAudit`], and counters in workers: they get its
//! [`CanaryAudit::layout`] and a range of models, and return evidence. Coins, batches and random words are
//! those of the command line, and so is a checkpoint, which `dpscope resume` reads.

mod counter;
pub mod federated;
mod optimiser;
mod report;

use dpscope_engine::{Artefact, Plan, UnitRange};
use dpscope_report::record::page::TrainingOverview;
use dpscope_train::one_run::OneRunPlan;
use dpscope_train::{ModelEvidence, ModelResult};
use js_sys::Object;
use wasm_bindgen::prelude::wasm_bindgen;

pub use optimiser::CanaryOptimiser;
#[cfg(test)]
pub(crate) use optimiser::tests::example as canary_step;

use crate::command::Command;
use crate::coordinator::{Coordinator, DividedPlan, coordinates};
use crate::counting::gpu_counter;
use crate::failure::Failure;
use crate::output::{JsResult, to_js};
use crate::reported::reported;
use crate::training_facts::overview_of;
use counter::{Counter, prepare};

gpu_counter! {
    /// A GPU that trains models with canaries; units are models.
    GpuCanaryCounter(dpscope_train::one_run::OneRunModels), prepare
}

/// A running audit, on the coordinator's side.
#[wasm_bindgen]
#[derive(Debug)]
pub struct CanaryAudit(Coordinator<OneRunPlan>);

coordinates!(CanaryAudit.0);

impl DividedPlan for OneRunPlan {
    fn layout(state: &Artefact<Self>) -> Artefact<Self> {
        layout_of_models(state)
    }
}

#[wasm_bindgen]
impl CanaryAudit {
    /// Plans the audit of `audit dpsgd --protocol one-run`.
    ///
    /// # Errors
    /// What the program prints where it fails; a training that takes too long in a page.
    pub fn planned(command: Command) -> Result<CanaryAudit, Failure> {
        Ok(CanaryAudit(Coordinator::begin(&prepare(command)?, ())?))
    }

    /// Resumes from saved models, of a page or of the command line.
    ///
    /// # Errors
    /// Bytes that are not an artefact of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<CanaryAudit, Failure> {
        Ok(CanaryAudit(Coordinator::from_bytes(bytes)?))
    }

    /// What the canaries of the models so far show: an estimate until all are trained.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "CanaryTrainingsSoFar")]
    pub fn so_far(&self) -> JsResult {
        to_js(&report::so_far(self.0.state()))
    }

    /// The report of the planned models, and what the program prints.
    ///
    /// | argument | meaning | unit |
    /// |---|---|---|
    /// | `claim` | ε that is claimed at the δ of the plan, if any | nats |
    /// | `elapsed_ms` | wall time | ms |
    ///
    /// # Errors
    /// Models are missing, or more than 1 % diverged; a claim outside its domain.
    #[wasm_bindgen(unchecked_return_type = "CanaryTrainingAnswer")]
    pub fn report(&self, claim: Option<f64>, elapsed_ms: f64) -> Result<Object, Failure> {
        reported(&report::report(self.0.state(), claim, elapsed_ms)?)
    }
}

/// The model, its data and its settings, without an audit.
///
/// # Errors
/// As [`CanaryAudit::planned`].
#[wasm_bindgen(unchecked_return_type = "TrainingOverview")]
pub fn canary_training_overview(command: Command) -> JsResult {
    to_js(&overview(command)?)
}

fn overview(command: Command) -> Result<TrainingOverview, Failure> {
    let models = prepare(command)?;
    let training = models.training();
    let records = u64::from(training.base_records());
    let learning_rate = training.settings().learning_rate;
    Ok(overview_of(training.base(), records, training.network(), learning_rate))
}

/// The plan without models, with the description of their training.
fn layout_of_models<P, M>(state: &Artefact<P>) -> Artefact<P>
where
    P: Plan<Stage = (), Evidence = ModelEvidence<M>>,
    M: ModelResult,
{
    let mut layout = Artefact::empty(state.plan.clone(), (), UnitRange { first: 0, end: 0 });
    layout.evidence.description.clone_from(&state.evidence.description);
    layout
}

/// What trains models on the CPU, in a worker.
#[wasm_bindgen]
#[derive(Debug)]
pub struct CanaryCounter(Counter);

#[wasm_bindgen]
impl CanaryCounter {
    /// Creates a counter for the layout of an audit of the same command.
    ///
    /// # Errors
    /// Bytes that are no layout of this command.
    pub fn open(layout: &[u8], command: Command) -> Result<CanaryCounter, Failure> {
        Ok(CanaryCounter(Counter::of(layout, prepare(command)?)?))
    }

    /// Trains models `first..end`; blocks its worker.
    ///
    /// # Errors
    /// No input from a page causes an error.
    pub fn count(&self, first: f64, end: f64) -> Result<Vec<u8>, Failure> {
        self.0.count(first, end)
    }

    /// Trains a model, the same as in the audit, and looks at its canaries after every few steps.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "CanariesAfter[]")]
    pub fn watch(&self, model: f64) -> JsResult {
        to_js(&counter::watch(&self.0, model as u64)?)
    }
}

/// Records of a small audit.
#[cfg(test)]
pub(crate) fn examples() -> (
    dpscope_report::record::page::CanaryTrainingsSoFar,
    Vec<dpscope_report::record::page::CanariesAfter>,
    dpscope_report::record::OneRunReport,
) {
    let audit = tests::audited(u64::MAX);
    let counter = Counter::of(&audit.layout(), prepare(tests::command()).unwrap()).unwrap();
    let watched = counter::watch(&counter, 0).unwrap();
    let report = report::report(audit.state(), Some(1.0), 2.0).unwrap();
    (report::so_far(audit.state()), watched, report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;

    /// 3 audited models and a reference model, with 40 canaries beside 160 base records in 10 batches.
    const LINE: &str = "audit dpsgd --protocol one-run --data location-like --records 200 --batch-size 20 \
                        --noise-multiplier 0.5 --canaries 40 --repeats 3 --reference-models 1 \
                        --delta 1e-5 --seed 7";

    pub(super) fn command() -> Command {
        Command::of(LINE, &[])
    }

    fn opened() -> Coordinator<OneRunPlan> {
        Coordinator::begin(&prepare(command()).unwrap(), ()).unwrap()
    }

    /// An audit by counters that train at most so many models at a time.
    pub(super) fn audited(most: u64) -> Coordinator<OneRunPlan> {
        let mut audit = opened();
        let counter = Counter::of(&audit.layout(), prepare(command()).unwrap()).unwrap();
        while let Some(range) = audit.next(most) {
            let counted = counter.count(range.first as f64, range.end as f64).unwrap();
            audit.add(&counted).unwrap();
        }
        audit
    }

    #[test]
    fn the_last_estimate_is_the_bound() {
        let audit = audited(1);
        let so_far = report::so_far(audit.state());
        let report = report::report(audit.state(), None, 0.0).unwrap();
        assert_eq!(so_far.epsilon, Some(report.bounds[0].epsilon));
        assert_eq!((so_far.models, so_far.repeats, so_far.failed), (4, 3, 0));
        assert_eq!(so_far.auc, report.auc);
        let canaries: u64 = so_far.bins.iter().flat_map(|bin| bin.canaries).sum();
        assert_eq!(canaries, 120);
        let none = report::so_far(opened().state());
        assert_eq!((none.epsilon, none.auc, none.models), (None, None, 0));
    }

    #[test]
    fn other_commands_and_unfinished_audits_are_refused() {
        let refused = report::report(opened().state(), None, 0.0).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Input);
        for bytes in [&b""[..], b"{}", &[0; 64]] {
            let opened = Counter::of(bytes, prepare(command()).unwrap());
            assert_eq!(opened.unwrap_err().kind, FailureKind::File);
            assert!(CanaryAudit::from_bytes(bytes).is_err());
        }
        let other = Command::of(&format!("{LINE} --momentum 0.5"), &[]);
        let refused = Counter::of(&opened().layout(), prepare(other).unwrap()).unwrap_err();
        assert_eq!(refused.kind, FailureKind::File, "{}", refused.message);
    }

    #[test]
    fn the_program_refuses_and_a_page_has_limits() {
        let refused = |options: &str| {
            let command = Command::of(&format!("{LINE} {options}"), &[]);
            let refused = overview(command).unwrap_err();
            (refused.kind, refused.message)
        };
        let (kind, message) = refused("--momentum 1");
        assert!(kind == FailureKind::Input && message.contains("--momentum"), "{message}");
        let (_, message) = refused("--guesses 4 --guesses-out 4");
        assert!(message.contains("--guesses-out"), "{message}");
        let large = LINE
            .replace("--data location-like", "--model cnn")
            .replace("--records 200", "--records 2000 --epochs 1000");
        let large = overview(Command::of(&large, &[])).unwrap_err();
        assert_eq!(large.kind, FailureKind::Limit, "{}", large.message);
        let found = overview(command()).unwrap();
        assert_eq!((found.records, found.held_out), (160, 2_000));
    }

    #[test]
    fn files_have_records_for_batches_and_canaries() {
        let overview_of = |count: u32| {
            let rows: Vec<String> =
                (0..count).map(|row| format!("{},{row},1,0", row % 3)).collect();
            let line = LINE.replace("location-like", "mine.csv");
            overview(Command::of(&line, &[("mine.csv", &rows.join("\n"))]))
        };
        let refused = overview_of(150).unwrap_err();
        assert!(refused.message.contains("mine.csv"), "{}", refused.message);
        assert_eq!(overview_of(300).unwrap().held_out, 100);
    }
}

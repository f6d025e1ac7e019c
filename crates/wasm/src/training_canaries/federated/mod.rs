//! Federated trainings with canary clients: their audit, and trainings to watch.
//!
//! Coordinator and counters are as those of models with canaries.

mod report;

use dpscope_engine::{Artefact, Workload};
use dpscope_report::record::page::FederatedOverview;
use dpscope_train::federated::{FederatedModels, FederatedPlan};
use js_sys::Object;
use wasm_bindgen::prelude::wasm_bindgen;

use super::layout_of_models;
use crate::command::Command;
use crate::coordinator::{Coordinator, DividedPlan, coordinates};
use crate::counting::{Counting, gpu_counter};
use crate::failure::Failure;
use crate::output::{JsResult, to_js};
use crate::reported::reported;
use crate::training_facts::{check_size, overview_of};

gpu_counter! {
    /// A GPU that trains clients; units are federated trainings.
    GpuFederatedCounter(FederatedModels), prepare
}

/// A running audit, on the coordinator's side.
#[wasm_bindgen]
#[derive(Debug)]
pub struct FederatedTrainingAudit(Coordinator<FederatedPlan>);

coordinates!(FederatedTrainingAudit.0);

impl DividedPlan for FederatedPlan {
    fn layout(state: &Artefact<Self>) -> Artefact<Self> {
        layout_of_models(state)
    }
}

#[wasm_bindgen]
impl FederatedTrainingAudit {
    /// Plans the audit of `audit fedavg`.
    ///
    /// # Errors
    /// What the program prints where it fails; a training that takes too long in a page.
    pub fn planned(command: Command) -> Result<FederatedTrainingAudit, Failure> {
        Ok(FederatedTrainingAudit(Coordinator::begin(&prepare(command)?, ())?))
    }

    /// Resumes from saved trainings, of a page or of the command line.
    ///
    /// # Errors
    /// Bytes that are not an artefact of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<FederatedTrainingAudit, Failure> {
        Ok(FederatedTrainingAudit(Coordinator::from_bytes(bytes)?))
    }

    /// What the canaries so far show: an estimate until all trainings are done.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "FederatedTrainingsSoFar")]
    pub fn so_far(&self) -> JsResult {
        to_js(&report::so_far(self.0.state())?)
    }

    /// The report of the planned trainings, and what the program prints.
    ///
    /// | argument | meaning | unit |
    /// |---|---|---|
    /// | `claim` | ε that is claimed at the δ of the plan, if any | nats |
    /// | `elapsed_ms` | wall time | ms |
    ///
    /// # Errors
    /// Trainings are missing, or more than 1 % diverged; a claim outside its domain.
    #[wasm_bindgen(unchecked_return_type = "FederatedTrainingAnswer")]
    pub fn report(&self, claim: Option<f64>, elapsed_ms: f64) -> Result<Object, Failure> {
        reported(&report::report(self.0.state(), claim, elapsed_ms)?)
    }
}

/// The clients, their model and what is proven, without an audit.
///
/// # Errors
/// As [`FederatedTrainingAudit::planned`].
#[wasm_bindgen(unchecked_return_type = "FederatedOverview")]
pub fn federated_training_overview(command: Command) -> JsResult {
    to_js(&overview(command)?)
}

fn overview(command: Command) -> Result<FederatedOverview, Failure> {
    let models = prepare(command)?;
    let training = models.training();
    let settings = training.settings();
    let records = training.clients().iter().map(|client| client.len() as u64).sum();
    let rate = settings.local_learning_rate;
    let delta = models.plan().delta;
    Ok(FederatedOverview {
        training: overview_of(training.examples(), records, training.network(), rate),
        clients: settings.clients,
        cohort: settings.expected_clients(),
        accounted: settings.accounted(delta).map(|accounted| accounted.epsilon),
    })
}

/// What trains on the CPU, in a worker.
#[wasm_bindgen]
#[derive(Debug)]
pub struct FederatedCounter(Counting<FederatedModels>);

#[wasm_bindgen]
impl FederatedCounter {
    /// Creates a counter for the layout of an audit of the same command.
    ///
    /// # Errors
    /// Bytes that are no layout of this command.
    pub fn open(layout: &[u8], command: Command) -> Result<FederatedCounter, Failure> {
        Ok(FederatedCounter(Counting::of(layout, prepare(command)?)?))
    }

    /// Executes trainings `first..end`; blocks its worker.
    ///
    /// # Errors
    /// No input from a page causes an error.
    pub fn count(&self, first: f64, end: f64) -> Result<Vec<u8>, Failure> {
        self.0.count(first, end)
    }

    /// Executes a training, the same as in the audit, and looks at it after every few rounds.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "FederatedAfter[]")]
    pub fn watch(&self, training: f64) -> JsResult {
        to_js(&report::watch(&self.0, training as u64)?)
    }
}

/// The trainings of a command.
///
/// # Errors
/// What the program prints where it fails; trainings that take too long in a page.
fn prepare(command: Command) -> Result<FederatedModels, Failure> {
    let models: FederatedModels = command.prepare()?;
    let training = models.training();
    let settings = training.settings();
    let participants = settings.expected_clients() * f64::from(settings.rounds);
    let of_each = u64::from(settings.local_epochs) * u64::from(settings.records_per_client);
    check_size(training.network(), (participants.ceil() as u64).saturating_mul(of_each))?;
    Ok(models)
}

/// Records of a small audit.
#[cfg(test)]
pub(crate) fn examples() -> (
    dpscope_report::record::page::FederatedTrainingsSoFar,
    Vec<dpscope_report::record::page::FederatedAfter>,
    dpscope_report::record::page::FederatedOverview,
    dpscope_report::record::OneShotReport,
) {
    let audit = tests::audited(u64::MAX);
    let counter = Counting::of(&audit.layout(), prepare(tests::command()).unwrap()).unwrap();
    let watched = report::watch(&counter, 0).unwrap();
    let report = report::report(audit.state(), Some(1.0), 2.0).unwrap();
    let overview = overview(tests::command()).unwrap();
    (report::so_far(audit.state()).unwrap(), watched, overview, report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;

    /// 3 audited trainings and one without canaries, in 6 rounds.
    const LINE: &str = "audit fedavg --data location-like --rounds 6 --participation epochs:2 \
                        --local-epochs 1 --local-batch-size 5 --noise-multiplier 0.3 \
                        --design poisson:30 --repeats 3 --delta 1e-5 --seed 7";

    /// 40 clients with 5 records each.
    fn with(options: &str) -> Command {
        Command::of(&format!("{LINE} --clients 40 --records-per-client 5 {options}"), &[])
    }

    pub(super) fn command() -> Command {
        with("")
    }

    fn opened() -> Coordinator<FederatedPlan> {
        Coordinator::begin(&prepare(command()).unwrap(), ()).unwrap()
    }

    /// An audit by counters that execute at most so many trainings at a time.
    pub(super) fn audited(most: u64) -> Coordinator<FederatedPlan> {
        let mut audit = opened();
        let counter = Counting::of(&audit.layout(), prepare(command()).unwrap()).unwrap();
        while let Some(range) = audit.next(most) {
            audit.add(&counter.count(range.first as f64, range.end as f64).unwrap()).unwrap();
        }
        audit
    }

    #[test]
    fn the_last_estimate_is_the_bound() {
        let audit = audited(1);
        let so_far = report::so_far(audit.state()).unwrap();
        let report = report::report(audit.state(), None, 0.0).unwrap();
        assert_eq!(so_far.epsilon, Some(report.bounds.epsilon));
        assert_eq!((so_far.models, so_far.repeats, so_far.failed), (4, 3, 0));
        assert_eq!(so_far.canaries, report.design.inserted);
        assert_eq!(so_far.bins.iter().map(|bin| bin.canaries).sum::<u64>(), so_far.canaries);
        let expected: f64 = so_far.bins.iter().map(|bin| bin.expected).sum();
        assert!((expected / so_far.canaries as f64 - 1.0).abs() < 1e-3, "{expected}");
        let none = report::so_far(opened().state()).unwrap();
        assert_eq!((none.epsilon, none.models, none.accuracy), (None, 0, None));
    }

    #[test]
    fn other_commands_and_unfinished_audits_are_refused() {
        let refused = report::report(opened().state(), None, 0.0).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Input);
        let other = opened().layout();
        let counter =
            |layout: &[u8], options| Counting::of(layout, prepare(with(options)).unwrap());
        for bytes in [&b""[..], b"{}", &[0; 64]] {
            assert_eq!(counter(bytes, "").unwrap_err().kind, FailureKind::File);
        }
        assert!(counter(&other, "").is_ok());
        assert_eq!(counter(&other, "--clip-norm 2").unwrap_err().kind, FailureKind::File);
    }

    #[test]
    fn the_program_refuses_and_a_page_has_limits() {
        let refused = |options: &str| {
            let refused = overview(with(options)).unwrap_err();
            (refused.kind, refused.message)
        };
        let (kind, message) = refused("--noise-mechanism banded:7");
        assert!(kind == FailureKind::Input && message.contains("--noise-mechanism"), "{message}");
        let (_, message) = refused("--canary-presentations 9");
        assert!(message.contains("--canary-presentations"), "{message}");
        let large = LINE
            .replace("--local-epochs 1", "--local-epochs 1000")
            .replace("--data location-like", "--model cnn --final-model-only");
        let large = overview(Command::of(&large, &[])).unwrap_err();
        assert_eq!(large.kind, FailureKind::Limit, "{}", large.message);
    }

    #[test]
    fn clients_are_those_of_a_column() {
        let rows = (0..90).map(|row| format!("{},{},{row},1", row % 2, row % 3));
        let text = std::iter::once("label,user,x,y".to_owned()).chain(rows).collect::<Vec<_>>();
        let line = LINE.replace("location-like", "mine.csv");
        let file = ("mine.csv", &*text.join("\n"));
        let of = |column: &str| Command::of(&format!("{line} --client-column {column}"), &[file]);
        let found = overview(of("user")).unwrap();
        assert_eq!((found.clients, found.training.records, found.training.held_out), (3, 81, 9));
        assert!(overview(of("who")).unwrap_err().message.contains("who"));
    }

    #[test]
    fn correlated_noise_proves_more_or_less_than_independent_noise() {
        let accounted = |options: &str| overview(with(options)).unwrap().accounted.unwrap();
        let independent = accounted("");
        let tree = accounted("--noise-mechanism tree");
        let banded = accounted("--noise-mechanism banded:3");
        assert!(1.0 < independent && independent < banded && banded < tree);
    }
}

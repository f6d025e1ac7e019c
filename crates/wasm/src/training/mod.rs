//! Trained models: their audit, and runs to watch.
//!
//! The coordinator and its counters are those of [`two_worlds`](crate::two_worlds); a counter trains.
//! Batches and random words are those of the command line, and so is a checkpoint, which
//! `dpscope resume` reads.

mod counter;
mod report;

use dpscope_core::adjacency::World;
use dpscope_report::record::page::TrainingOverview;
use js_sys::Object;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::command::Command;
use crate::counting::gpu_counter;
use crate::failure::Failure;
use crate::output::{JsResult, to_js};
use crate::reported::reported;
use crate::training_facts::overview_of;
use crate::two_worlds::Audit;
use counter::{Counter, opened, prepare, watch};

gpu_counter! {
    /// A GPU that trains models in both worlds; units are runs.
    GpuTrainingCounter(dpscope_train::TrainedModels), prepare
}

#[wasm_bindgen]
impl Audit {
    /// Plans the audit of `audit dpsgd` with two worlds.
    ///
    /// # Errors
    /// What the program prints where it fails; a training that takes too long in a page.
    pub fn of_training(command: Command) -> Result<Audit, Failure> {
        Ok(Audit(opened(command)?))
    }

    /// The report of the planned runs, and what the program prints.
    ///
    /// | argument | meaning | unit |
    /// |---|---|---|
    /// | `claim` | ε that is claimed at the δ of the plan, if any | nats |
    /// | `elapsed_ms` | wall time | ms |
    ///
    /// # Errors
    /// Runs are missing; a claim outside its domain.
    #[wasm_bindgen(unchecked_return_type = "TrainingAnswer")]
    pub fn training_report(&self, claim: Option<f64>, elapsed_ms: f64) -> Result<Object, Failure> {
        reported(&report::report(self.0.state(), claim, elapsed_ms)?)
    }

    /// Histograms of the scores so far, beside those that the simulated mechanism leads to expect.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "ExpectedScoreBin[]")]
    pub fn scores(&mut self) -> JsResult {
        to_js(&report::scores(&mut self.0)?)
    }
}

/// The model, its data and its settings, without an audit.
///
/// # Errors
/// As [`Audit::of_training`].
#[wasm_bindgen(unchecked_return_type = "TrainingOverview")]
pub fn training_overview(command: Command) -> JsResult {
    to_js(&overview(command)?)
}

fn overview(command: Command) -> Result<TrainingOverview, Failure> {
    let models = prepare(command)?;
    let training = models.training();
    let records = training.mechanism().records_per_epoch().unwrap_or(0);
    let learning_rate = training.settings().learning_rate;
    Ok(overview_of(training.examples(), records, training.network(), learning_rate))
}

/// Records of a small audit.
#[cfg(test)]
pub(crate) fn examples() -> (
    TrainingOverview,
    dpscope_report::record::page::WatchedTraining,
    Vec<dpscope_report::record::page::ExpectedScoreBin>,
    dpscope_report::record::Report,
) {
    let mut counted = opened(tests::command()).unwrap();
    let counter =
        Counter::of(&counted.coordinator.layout(), prepare(tests::command()).unwrap()).unwrap();
    let range = counted.coordinator.next(u64::MAX).unwrap();
    counted.coordinator.add(&counter.count(range.first as f64, range.end as f64).unwrap()).unwrap();
    let watched = watch(&counter, World::Target, 0).unwrap();
    let report = report::report(counted.state(), Some(1.0), 2.0).unwrap();
    let bins = report::scores(&mut counted).unwrap();
    (overview(tests::command()).unwrap(), watched, bins, report)
}

/// What trains runs on the CPU, in a worker.
#[wasm_bindgen]
#[derive(Debug)]
pub struct TrainingCounter(Counter);

#[wasm_bindgen]
impl TrainingCounter {
    /// Creates a counter for the layout of an audit of the same command.
    ///
    /// # Errors
    /// Bytes that are no layout of this command.
    pub fn open(layout: &[u8], command: Command) -> Result<TrainingCounter, Failure> {
        Ok(TrainingCounter(Counter::of(layout, prepare(command)?)?))
    }

    /// Trains runs `first..end` in both worlds; blocks its worker.
    ///
    /// # Errors
    /// No input from a page causes an error.
    pub fn count(&self, first: f64, end: f64) -> Result<Vec<u8>, Failure> {
        self.0.count(first, end)
    }

    /// Trains one run of a world, the same as in the audit, step by step.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "WatchedTraining")]
    pub fn watch(
        &self,
        #[wasm_bindgen(unchecked_param_type = "\"target\" | \"zero-out\"")] world: &str,
        run: f64,
    ) -> JsResult {
        let world = if world == "target" { World::Target } else { World::ZeroOut };
        to_js(&watch(&self.0, world, run as u64)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;

    /// 12 runs of 200 records in 10 batches.
    const LINE: &str = "audit dpsgd --records 200 --batch-size 20 --noise-multiplier 1 --runs 12 \
                        --delta 1e-5 --seed 7";

    pub(super) fn command() -> Command {
        Command::of(LINE, &[])
    }

    fn with(options: &str) -> Command {
        Command::of(&format!("{LINE} {options}"), &[])
    }

    #[test]
    fn layouts_of_other_plans_and_unfinished_audits_are_refused() {
        let opens = |layout: &[u8]| Counter::of(layout, prepare(command()).unwrap());
        let simulated = crate::audits::tests::simulation().coordinator.layout();
        let other = opened(with("--clip-norm 2")).unwrap().coordinator.layout();
        for bytes in [&b""[..], b"{}", &[0; 64], &simulated, &other] {
            assert_eq!(opens(bytes).unwrap_err().kind, FailureKind::File);
        }
        let counted = opened(command()).unwrap();
        assert!(opens(&counted.coordinator.layout()).is_ok());
        let refused = report::report(counted.state(), None, 0.0).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Input);
    }

    #[test]
    fn the_program_refuses_and_a_page_has_limits() {
        let refused = |options: &str| {
            let refused = overview(with(options)).unwrap_err();
            (refused.kind, refused.message)
        };
        let (kind, message) = refused("--clip-norm 0");
        assert!(kind == FailureKind::Input && message.contains("--clip-norm"), "{message}");
        let (_, message) = refused("--model gpt");
        assert!(message.contains("--model"), "{message}");
        let (_, message) = refused("--data mine.csv");
        assert!(message.contains("mine.csv"), "{message}");
        let large = LINE.replace("--records 200", "--records 2000 --epochs 1000 --model cnn");
        let large = overview(Command::of(&large, &[])).unwrap_err();
        assert_eq!(large.kind, FailureKind::Limit, "{}", large.message);
    }

    #[test]
    fn models_are_sized_for_the_files() {
        let rows: Vec<String> = (0..300).map(|row| format!("{},{row},1,0", row % 3)).collect();
        let text = rows.join("\n");
        let command = Command::of(&format!("{LINE} --data mine.csv"), &[("mine.csv", &text)]);
        let found = overview(command).unwrap();
        assert_eq!((found.features, found.classes, found.held_out), (3, 3, 100));
        assert_eq!(found.parameters, 3 * 32 + 32 + 32 * 3 + 3);
        let found = overview(with("--data location-like")).unwrap();
        assert_eq!((found.features, found.classes, found.records), (446, 30, 200));
    }
}

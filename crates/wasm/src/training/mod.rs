//! Trained models: their audit, and runs to watch.
//!
//! The coordinator and its counters are those of [`two_worlds`](crate::two_worlds); a counter trains.
//! Batches and random words are those of the command line, and so is a checkpoint, which
//! `dpscope resume` reads.

mod counter;
mod question;
mod report;

use dpscope_core::adjacency::World;
use dpscope_report::record::input::TrainingQuestion;
use dpscope_report::record::page::TrainingOverview;
use js_sys::Object;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::counting::gpu_counter;
use crate::data_set::DataFiles;
use crate::failure::Failure;
use crate::input::read;
use crate::output::{JsResult, to_js};
use crate::reported::reported;
use crate::two_worlds::Audit;
use counter::{Counter, on_cpu, watch};

gpu_counter! {
    /// A GPU that trains models in both worlds; units are runs.
    GpuTrainingCounter(dpscope_train::TrainedModels), counter::models
}

#[wasm_bindgen]
impl Audit {
    /// Plans an audit of trained models, on the files of a page or on synthetic data.
    ///
    /// # Errors
    /// The first field outside its domain; files that are no data set of the model.
    pub fn of_training(
        #[wasm_bindgen(unchecked_param_type = "TrainingQuestion")] asked: &JsValue,
        files: Option<DataFiles>,
    ) -> Result<Audit, Failure> {
        let asked: TrainingQuestion = read(asked, "asked")?;
        Ok(Audit(question::opened(&asked, files.as_ref())?))
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
        reported(&report::report(self.0.scheduler.state(), claim, elapsed_ms)?)
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
pub fn training_overview(
    #[wasm_bindgen(unchecked_param_type = "TrainingQuestion")] asked: &JsValue,
    files: Option<DataFiles>,
) -> JsResult {
    let asked: TrainingQuestion = read(asked, "asked")?;
    to_js(&overview(&asked, files.as_ref())?)
}

fn overview(
    asked: &TrainingQuestion,
    files: Option<&DataFiles>,
) -> Result<TrainingOverview, Failure> {
    let (_, training) = question::training(asked, files)?;
    Ok(question::overview(&training))
}

/// Records of a small audit.
#[cfg(test)]
pub(crate) fn examples() -> (
    TrainingOverview,
    dpscope_report::record::page::WatchedTraining,
    Vec<dpscope_report::record::page::ExpectedScoreBin>,
    dpscope_report::record::Report,
) {
    let asked = question::tests::asked();
    let mut counted = question::opened(&asked, None).unwrap();
    let counter = on_cpu(&counted.layout(), None).unwrap();
    let range = counted.scheduler.assign(u64::MAX).unwrap();
    counted.add(&counter.count(range.first as f64, range.end as f64).unwrap()).unwrap();
    let watched = watch(&counter, World::Target, 0).unwrap();
    let report = report::report(counted.scheduler.state(), Some(1.0), 2.0).unwrap();
    let bins = report::scores(&mut counted).unwrap();
    (overview(&asked, None).unwrap(), watched, bins, report)
}

/// What trains runs on the CPU, in a worker.
#[wasm_bindgen]
#[derive(Debug)]
pub struct TrainingCounter(Counter);

#[wasm_bindgen]
impl TrainingCounter {
    /// Creates a counter for a layout, with the same files as its audit.
    ///
    /// # Errors
    /// Bytes that are no layout; other files.
    pub fn open(layout: &[u8], files: Option<DataFiles>) -> Result<TrainingCounter, Failure> {
        Ok(TrainingCounter(on_cpu(layout, files.as_ref())?))
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

    #[test]
    fn layouts_of_simulations_and_unfinished_audits_are_refused() {
        let simulated = crate::audits::tests::simulation().layout();
        let refused = on_cpu(&simulated, None).unwrap_err();
        assert_eq!(refused.kind, FailureKind::File);
        let counted = question::opened(&question::tests::asked(), None).unwrap();
        let refused = report::report(counted.scheduler.state(), None, 0.0).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Input);
        for bytes in [&b""[..], b"{}", &[0; 64]] {
            assert_eq!(on_cpu(bytes, None).unwrap_err().kind, FailureKind::File);
        }
    }
}

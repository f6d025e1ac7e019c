//! Models trained with many canaries: their audit, and models to watch.
//!
//! A page has one coordinator, which owns a [`CanaryAudit`], and counters in workers: they get its
//! [`CanaryAudit::layout`] and a range of models, and return evidence. Coins, batches and random words are
//! those of the command line, and so is a checkpoint, which `dpscope resume` reads.

mod assigned;
mod counter;
pub mod federated;
mod optimiser;
mod question;
mod report;

use dpscope_report::record::input::CanaryTrainingQuestion;
use dpscope_report::record::page::TrainingOverview;
use dpscope_train::one_run::OneRunPlan;
use js_sys::Object;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use optimiser::CanaryOptimiser;
#[cfg(test)]
pub(crate) use optimiser::tests::example as canary_step;

use crate::counting::gpu_counter;
use crate::data_set::DataFiles;
use crate::failure::Failure;
use crate::input::read;
use crate::output::{JsResult, to_js};
use crate::reported::reported;
use assigned::Assigned;
use counter::Counter;

gpu_counter! {
    /// A GPU that trains models with canaries; units are models.
    GpuCanaryCounter(dpscope_train::one_run::OneRunModels), counter::models
}

/// A running audit, on the coordinator's side.
#[wasm_bindgen]
#[derive(Debug)]
pub struct CanaryAudit(Assigned<OneRunPlan>);

#[wasm_bindgen]
impl CanaryAudit {
    /// Plans an audit, on the files of a page or on synthetic data.
    ///
    /// # Errors
    /// The first field outside its domain; files that are no data set of the model.
    pub fn planned(
        #[wasm_bindgen(unchecked_param_type = "CanaryTrainingQuestion")] asked: &JsValue,
        files: Option<DataFiles>,
    ) -> Result<CanaryAudit, Failure> {
        let asked: CanaryTrainingQuestion = read(asked, "asked")?;
        Ok(CanaryAudit(question::opened(&asked, files.as_ref())?))
    }

    /// Resumes from saved models, of a page or of the command line.
    ///
    /// # Errors
    /// Bytes that are not an artefact of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<CanaryAudit, Failure> {
        Ok(CanaryAudit(Assigned::from_bytes(bytes)?))
    }

    /// All models, as `dpscope resume` reads them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.state().to_bytes()
    }

    /// The plan without models, for counters.
    #[must_use]
    pub fn layout(&self) -> Vec<u8> {
        self.0.layout()
    }

    /// Assigns about this many further models; `undefined` if all are assigned or trained.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "ObservationRange | undefined")]
    pub fn assign(&mut self, models: f64) -> JsResult {
        self.0.assign(models)
    }

    /// Adds the models of a counter.
    ///
    /// # Errors
    /// Models that are not assigned, or of another plan; damaged bytes. Nothing is added then: release the
    /// range.
    pub fn add(&mut self, counted: &[u8]) -> Result<(), Failure> {
        self.0.add(counted)
    }

    /// Releases assigned models whose counter stopped or failed, to be assigned again.
    pub fn release(&mut self, first: f64, end: f64) {
        self.0.release(first, end);
    }

    /// Its progress, in models.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "AuditProgress")]
    pub fn progress(&self) -> JsResult {
        self.0.progress()
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
pub fn canary_training_overview(
    #[wasm_bindgen(unchecked_param_type = "CanaryTrainingQuestion")] asked: &JsValue,
    files: Option<DataFiles>,
) -> JsResult {
    let asked: CanaryTrainingQuestion = read(asked, "asked")?;
    let (_, training) = question::training(&asked, files.as_ref())?;
    let overview: TrainingOverview = question::overview(&training);
    to_js(&overview)
}

/// What trains models on the CPU, in a worker.
#[wasm_bindgen]
#[derive(Debug)]
pub struct CanaryCounter(Counter);

#[wasm_bindgen]
impl CanaryCounter {
    /// Creates a counter for a layout, with the same files as its audit.
    ///
    /// # Errors
    /// Bytes that are no layout; other files.
    pub fn open(layout: &[u8], files: Option<DataFiles>) -> Result<CanaryCounter, Failure> {
        Ok(CanaryCounter(counter::on_cpu(layout, files.as_ref())?))
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
    let counter = counter::on_cpu(&audit.layout(), None).unwrap();
    let watched = counter::watch(&counter, 0).unwrap();
    let report = report::report(audit.state(), Some(1.0), 2.0).unwrap();
    (report::so_far(audit.state()), watched, report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;

    fn opened() -> Assigned<OneRunPlan> {
        question::opened(&question::tests::asked(), None).unwrap()
    }

    /// An audit by counters that train at most so many models at a time.
    pub(super) fn audited(most: u64) -> Assigned<OneRunPlan> {
        let mut audit = opened();
        let counter = counter::on_cpu(&audit.layout(), None).unwrap();
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
    fn other_files_and_unfinished_audits_are_refused() {
        let refused = report::report(opened().state(), None, 0.0).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Input);
        for bytes in [&b""[..], b"{}", &[0; 64]] {
            assert_eq!(counter::on_cpu(bytes, None).unwrap_err().kind, FailureKind::File);
            assert!(CanaryAudit::from_bytes(bytes).is_err());
        }
        let rows: Vec<String> = (0..300).map(|row| format!("{},{row},1,0", row % 3)).collect();
        let files = DataFiles::new("mine.csv".to_owned(), rows.join("\n").into_bytes());
        let refused = counter::on_cpu(&opened().layout(), Some(&files)).unwrap_err();
        assert_eq!(refused.field, Some("data"), "{}", refused.message);
    }
}

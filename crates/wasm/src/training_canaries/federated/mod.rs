//! Federated trainings with canary clients: their audit, and trainings to watch.
//!
//! Coordinator and counters are as those of models with canaries.

mod question;
mod report;

use dpscope_engine::Artefact;
use dpscope_report::record::input::FederatedTrainingQuestion;
use dpscope_train::federated::{FederatedModels, FederatedPlan};
use js_sys::Object;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::assigned::Assigned;
use crate::counting::{Counting, gpu_counter};
use crate::data_set::DataFiles;
use crate::failure::Failure;
use crate::input::read;
use crate::output::{JsResult, to_js};
use crate::reported::reported;

gpu_counter! {
    /// A GPU that trains clients; units are federated trainings.
    GpuFederatedCounter(FederatedModels), models
}

/// A running audit, on the coordinator's side.
#[wasm_bindgen]
#[derive(Debug)]
pub struct FederatedTrainingAudit(Assigned<FederatedPlan>);

#[wasm_bindgen]
impl FederatedTrainingAudit {
    /// Plans an audit, on the files of a page or on synthetic data.
    ///
    /// # Errors
    /// The first field outside its domain; files that are no data set of the model.
    pub fn planned(
        #[wasm_bindgen(unchecked_param_type = "FederatedTrainingQuestion")] asked: &JsValue,
        files: Option<DataFiles>,
    ) -> Result<FederatedTrainingAudit, Failure> {
        let asked: FederatedTrainingQuestion = read(asked, "asked")?;
        Ok(FederatedTrainingAudit(question::opened(&asked, files.as_ref())?))
    }

    /// Resumes from saved trainings, of a page or of the command line.
    ///
    /// # Errors
    /// Bytes that are not an artefact of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<FederatedTrainingAudit, Failure> {
        Ok(FederatedTrainingAudit(Assigned::from_bytes(bytes)?))
    }

    /// All trainings, as `dpscope resume` reads them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.state().to_bytes()
    }

    /// The plan without trainings, for counters.
    #[must_use]
    pub fn layout(&self) -> Vec<u8> {
        self.0.layout()
    }

    /// Assigns about this many further trainings; `undefined` if all are assigned or done.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "ObservationRange | undefined")]
    pub fn assign(&mut self, trainings: f64) -> JsResult {
        self.0.assign(trainings)
    }

    /// Adds the trainings of a counter.
    ///
    /// # Errors
    /// Trainings that are not assigned, or of another plan; damaged bytes. Nothing is added then: release
    /// the range.
    pub fn add(&mut self, counted: &[u8]) -> Result<(), Failure> {
        self.0.add(counted)
    }

    /// Releases assigned trainings whose counter stopped or failed, to be assigned again.
    pub fn release(&mut self, first: f64, end: f64) {
        self.0.release(first, end);
    }

    /// Its progress, in trainings.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "AuditProgress")]
    pub fn progress(&self) -> JsResult {
        self.0.progress()
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
pub fn federated_training_overview(
    #[wasm_bindgen(unchecked_param_type = "FederatedTrainingQuestion")] asked: &JsValue,
    files: Option<DataFiles>,
) -> JsResult {
    let asked: FederatedTrainingQuestion = read(asked, "asked")?;
    let (plan, training) = question::training(&asked, files.as_ref())?;
    to_js(&question::overview(&plan, &training))
}

/// What trains on the CPU, in a worker.
#[wasm_bindgen]
#[derive(Debug)]
pub struct FederatedCounter(Counting<FederatedModels>);

#[wasm_bindgen]
impl FederatedCounter {
    /// Creates a counter for a layout, with the same files as its audit.
    ///
    /// # Errors
    /// Bytes that are no layout; other files.
    pub fn open(layout: &[u8], files: Option<DataFiles>) -> Result<FederatedCounter, Failure> {
        Ok(FederatedCounter(on_cpu(layout, files.as_ref())?))
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

/// The trainings of a layout, on the CPU.
///
/// # Errors
/// Bytes that are no layout; other files than those of the audit.
fn models(
    layout: &[u8],
    files: Option<&DataFiles>,
) -> Result<(FederatedModels, Artefact<FederatedPlan>), Failure> {
    let layout = Artefact::from_bytes(layout)?;
    let training = question::described(&layout, files)?;
    Ok((FederatedModels::new(layout.plan.clone(), training, 1)?, layout))
}

fn on_cpu(layout: &[u8], files: Option<&DataFiles>) -> Result<Counting<FederatedModels>, Failure> {
    let (models, layout) = models(layout, files)?;
    Ok(Counting::new(models, layout))
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
    let watched = report::watch(&on_cpu(&audit.layout(), None).unwrap(), 0).unwrap();
    let report = report::report(audit.state(), Some(1.0), 2.0).unwrap();
    let (plan, training) = question::training(&question::tests::asked(), None).unwrap();
    let overview = question::overview(&plan, &training);
    (report::so_far(audit.state()).unwrap(), watched, overview, report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;

    fn opened() -> Assigned<FederatedPlan> {
        question::opened(&question::tests::asked(), None).unwrap()
    }

    /// An audit by counters that execute at most so many trainings at a time.
    pub(super) fn audited(most: u64) -> Assigned<FederatedPlan> {
        let mut audit = opened();
        let counter = on_cpu(&audit.layout(), None).unwrap();
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
    fn other_files_and_unfinished_audits_are_refused() {
        let refused = report::report(opened().state(), None, 0.0).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Input);
        for bytes in [&b""[..], b"{}", &[0; 64]] {
            assert_eq!(on_cpu(bytes, None).unwrap_err().kind, FailureKind::File);
        }
        let rows: Vec<String> = (0..300).map(|row| format!("{},{row},1,0", row % 3)).collect();
        let files = DataFiles::new("mine.csv".to_owned(), rows.join("\n").into_bytes());
        let refused = on_cpu(&opened().layout(), Some(&files)).unwrap_err();
        assert_eq!(refused.field, Some("data"), "{}", refused.message);
    }
}

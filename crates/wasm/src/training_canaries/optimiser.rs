//! Canaries moved along metagradients, step by step, in a worker.

use dpscope_formats::{Array, Limits, read_npz, write_npz};
use dpscope_report::record::page::CanaryStep;
use dpscope_train::Network;
use dpscope_train::metagradient::{
    CanaryOptimization, CanaryStart, Checkpointing, FeatureRanges, OptimizationSettings,
    OptimizationSetup, OptimizationState, UpdateRule,
};
use js_sys::Float32Array;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::command::Command;
use crate::failure::{Failure, FailureKind};
use crate::output::{JsResult, to_js};
use crate::training_facts;

/// Features of all canaries: a page holds a few copies of them.
const MOST_VALUES: usize = 1 << 23;

/// Most steps: some minutes of a worker.
const MOST_METASTEPS: u32 = 1_000;

/// Saved states of a training, in bytes: a state of the model for each of its steps, as far as they fit.
const STATE_BYTES: u64 = 1 << 29;

/// An optimisation of canaries.
#[wasm_bindgen]
#[derive(Debug)]
pub struct CanaryOptimiser(Optimiser);

#[derive(Debug)]
struct Optimiser {
    setup: OptimizationSetup,
    ranges: FeatureRanges,
    labels: Vec<u32>,
    state: OptimizationState,
}

fn refused(error: impl std::fmt::Display) -> Failure {
    Failure::of(FailureKind::Input, &error.to_string())
}

/// Refuses steps that a page cannot wait for: a step trains two models for each split, and takes a gradient
/// and its derivative, about as long as four gradients, of each batch.
fn check_size(network: &Network, settings: &OptimizationSettings) -> Result<(), Failure> {
    let rows = (settings.steps as u64).saturating_mul(settings.batch_size as u64);
    let models = u64::from(settings.splits).saturating_mul(2 * 4);
    training_facts::check_size(network, rows.saturating_mul(models))
}

impl Optimiser {
    fn open(command: Command, saved: Option<&[u8]>) -> Result<Self, Failure> {
        let setup: OptimizationSetup = command.prepare()?;
        let too_large = |message: &str| Err(Failure::of(FailureKind::Limit, message));
        if setup.settings.metasteps > MOST_METASTEPS {
            return too_large(&format!(
                "so many steps take too long in a browser; use at most {MOST_METASTEPS}"
            ));
        }
        if setup.canaries.saturating_mul(setup.examples.shape().len()) > MOST_VALUES {
            return too_large("canaries have too many features for a browser; use fewer canaries");
        }
        check_size(&setup.network, &setup.settings)?;
        let ranges = FeatureRanges::of(&setup.examples);
        let CanaryStart { canaries, labels, .. } = setup.start().map_err(refused)?;
        let state = OptimizationState::default();
        let mut found = Optimiser { setup, ranges, labels, state };
        let canaries = saved.map_or(Ok(canaries), |bytes| found.resume(bytes))?;
        let start = found.with(|optimization| optimization.start(canaries.clone()))?;
        let start = start.map_err(refused)?;
        if saved.is_none() {
            found.state = start;
        }
        Ok(found)
    }

    /// Continues from a saved state; returns its canaries, which are still to be checked.
    fn resume(&mut self, bytes: &[u8]) -> Result<Vec<f32>, Failure> {
        let unusable = |error: &dyn std::fmt::Display| {
            let message = format!("the saved canaries cannot be used: {error}");
            Failure::of(FailureKind::File, &message)
        };
        let arrays = read_npz(bytes, &Limits::for_page()).map_err(|error| unusable(&error))?;
        self.state = OptimizationState::from_arrays(&arrays);
        let values = self.setup.canaries * self.setup.examples.shape().len();
        self.state.check(values).map_err(|error| unusable(&error))?;
        Ok(self.state.canaries.clone())
    }

    /// The state for [`Self::open`].
    fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        let arrays = self.state.to_arrays().map_err(refused)?;
        let named: Vec<(&str, &Array)> =
            arrays.iter().map(|(name, array)| (*name, array)).collect();
        write_npz(&named).map_err(refused)
    }

    /// As many saved states as fit into the memory of a page.
    fn checkpointing(&self) -> Checkpointing {
        let vectors = 1 + UpdateRule::<f32>::moments(&self.setup.settings.rule);
        let state = (self.setup.network.parameters() * vectors * size_of::<f32>()) as u64;
        let within = Checkpointing::within(self.setup.settings.steps, state, STATE_BYTES);
        within.unwrap_or(Checkpointing::TwoLevel)
    }

    /// Calls `work` with the optimisation.
    fn with<T>(&self, work: impl FnOnce(&CanaryOptimization<'_>) -> T) -> Result<T, Failure> {
        let start = self.setup.start().map_err(refused)?;
        Ok(work(&CanaryOptimization {
            network: &self.setup.network,
            base: &start,
            records: start.base_records(),
            labels: &self.labels,
            ranges: &self.ranges,
            settings: &self.setup.settings,
            checkpointing: self.checkpointing(),
            device: None,
            keep_going: &|| true,
        }))
    }

    fn step(&mut self) -> Result<CanaryStep, Failure> {
        let mut state = std::mem::take(&mut self.state);
        let stepped = self.with(|optimization| {
            if optimization.is_finished(&state) { Ok(()) } else { optimization.step(&mut state) }
        });
        self.state = state;
        stepped?.map_err(refused)?;
        let metasteps = self.state.metasteps();
        let validated = self.state.validations.last().filter(|last| last.metasteps == metasteps);
        Ok(CanaryStep {
            metasteps,
            objective: self.state.objectives.last().copied().flatten().map(|value| -value),
            auc: validated.map(|validation| validation.per_canary.value),
            is_finished: metasteps >= self.setup.settings.metasteps,
        })
    }

    /// The best canaries as a file of the command line.
    fn file(&self) -> Result<Vec<u8>, Failure> {
        let classes = self.setup.examples.load_summary().map(|summary| &summary.classes);
        let label = |&label: &u32| match classes.and_then(|known| known.get(label as usize)) {
            Some(&(in_file, _)) => f64::from(in_file),
            None => f64::from(label),
        };
        let values = self.state.best_canaries().iter().map(|&value| value.into()).collect();
        let axes = vec![self.setup.canaries, self.setup.examples.shape().len()];
        let inputs = Array::new(axes, values).map_err(refused)?;
        let labels = self.labels.iter().map(label).collect();
        let labels = Array::new(vec![self.setup.canaries], labels).map_err(refused)?;
        write_npz(&[("inputs", &inputs), ("labels", &labels)]).map_err(refused)
    }
}

#[wasm_bindgen]
impl CanaryOptimiser {
    /// Draws the canaries that `canaries optimise` moves, or continues from a saved state of the same
    /// command.
    ///
    /// # Errors
    /// What the program prints where it fails; too many steps or features for a page; a state of other
    /// canaries.
    pub fn open(command: Command, saved: Option<Box<[u8]>>) -> Result<CanaryOptimiser, Failure> {
        Ok(CanaryOptimiser(Optimiser::open(command, saved.as_deref())?))
    }

    /// The state so far, for [`CanaryOptimiser::open`].
    ///
    /// # Errors
    /// No input from a page causes an error.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        self.0.to_bytes()
    }

    /// Features of a canary.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn features(&self) -> u32 {
        self.0.setup.examples.shape().len() as u32
    }

    /// The smallest and the largest feature of a record.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn range(&self) -> Float32Array {
        Float32Array::from(&self.0.ranges.all()[..])
    }

    /// The features of the canaries as they are, of so many of them.
    #[must_use]
    pub fn shown(&self, canaries: u32) -> Float32Array {
        let end =
            (canaries as usize).min(self.0.setup.canaries) * self.0.setup.examples.shape().len();
        Float32Array::from(&self.0.state.canaries[..end])
    }

    /// Executes the next step; nothing after the last.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "CanaryStep")]
    pub fn step(&mut self) -> JsResult {
        to_js(&self.0.step()?)
    }

    /// The best canaries so far as npz, for `--canary-file`.
    ///
    /// # Errors
    /// No input from a page causes an error.
    pub fn file(&self) -> Result<Vec<u8>, Failure> {
        self.0.file()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn of(canaries: u32) -> Command {
        let line = format!(
            "canaries optimise --model mlp --data location-like --count {canaries} --metasteps 3 \
             --out canaries.npz --seed 4"
        );
        Command::of(&line, &[])
    }

    pub(crate) fn example() -> CanaryStep {
        Optimiser::open(of(20), None).unwrap().step().unwrap()
    }

    #[test]
    fn saved_canaries_continue_with_the_same_bits() {
        let mut whole = Optimiser::open(of(20), None).unwrap();
        whole.step().unwrap();
        let bytes = whole.to_bytes().unwrap();
        let mut continued = Optimiser::open(of(20), Some(&bytes)).unwrap();
        for optimiser in [&mut whole, &mut continued] {
            for _ in 0..2 {
                optimiser.step().unwrap();
            }
        }
        assert_eq!(whole.state, continued.state);
        let refused =
            |bytes: &[u8], canaries| Optimiser::open(of(canaries), Some(bytes)).unwrap_err().kind;
        assert_eq!(refused(&bytes, 21), FailureKind::File);
        assert_eq!(refused(b"PK", 20), FailureKind::File);
        whole.state.canaries[0] = f32::NAN;
        assert_eq!(refused(&whole.to_bytes().unwrap(), 20), FailureKind::Input);
    }

    #[test]
    fn canaries_of_lenet_are_moved_whatever_states_are_saved() {
        let of = |steps: u32| {
            let line = format!(
                "canaries optimise --model lenet --count 60 --metasteps 1 --steps {steps} \
                 --out canaries.npz --seed 4"
            );
            Optimiser::open(Command::of(&line, &[]), None).unwrap()
        };
        let mut optimiser = of(8);
        assert_eq!(optimiser.checkpointing(), Checkpointing::StoreAll);
        let start = optimiser.state.canaries.clone();
        assert!(optimiser.step().unwrap().is_finished);
        assert!(start != optimiser.state.canaries, "no canary was moved");
        assert!(matches!(of(2_000).checkpointing(), Checkpointing::Revolve { states: 1_099 }));
    }
}

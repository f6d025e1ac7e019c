//! The saved state of an optimisation: an npz file of arrays.

use std::path::Path;

use dpscope_formats::{Array, read_npz, write_npz};
use dpscope_train::ModelSpec;
use dpscope_train::metagradient::{OptimizationSettings, OptimizationState, StartLabels};
use serde::{Deserialize, Serialize};

use crate::failure::{Exit, Failure};
use crate::files::{cannot_write, limits, read_own, write_atomically};

/// What decides every bit of an optimisation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OptimizationPlan {
    pub(super) schema: String,
    pub(super) model: ModelSpec,
    pub(super) data_digest: String,
    pub(super) count: u64,
    pub(super) records: u64,
    pub(super) start: StartLabels,
    pub(super) settings: OptimizationSettings,
}

impl OptimizationPlan {
    pub(super) const SCHEMA: &'static str = "dpscope.canary_optimisation_state/1";

    /// The first field in which two plans differ.
    fn difference(&self, other: &Self) -> Option<&'static str> {
        let (one, two) = (&self.settings, &other.settings);
        let has_equal_data = self.data_digest == other.data_digest;
        let fields = [
            // the shape of the data is part of the model, and built-in models have data of their own
            ("--model or --data", self.model == other.model || has_equal_data),
            ("--model", self.model == other.model),
            ("--data", has_equal_data),
            ("--count", self.count == other.count),
            ("--records", self.records == other.records),
            ("--start", self.start == other.start),
            ("--seed", one.seed == two.seed),
            ("--metasteps", one.metasteps == two.metasteps),
            ("--steps", one.steps == two.steps),
            ("--batch-size", one.batch_size == two.batch_size),
            ("a training option", self == other),
        ];
        fields.iter().find(|(_, is_equal)| !is_equal).map(|(name, _)| *name)
    }
}

/// A state that was saved.
pub(super) struct SavedState {
    pub(super) plan: OptimizationPlan,
    pub(super) state: OptimizationState,
    pub(super) metasmoothness: f64,
    /// What has computed the metasteps.
    pub(super) devices: Vec<String>,
}

impl SavedState {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = read_own(path, &limits())?;
        let invalid = |problem: String| Failure::with(Exit::Artefact, problem).about(path);
        let arrays = read_npz(&bytes, &limits()).map_err(|error| {
            invalid(format!("is not a saved optimisation: {error}; choose another file"))
        })?;
        parsed(&arrays)
            .ok_or_else(|| invalid("is not a saved optimisation; choose another file".to_owned()))
    }

    /// Rejects the state of another optimisation.
    pub(super) fn check(&self, plan: &OptimizationPlan, path: &Path) -> Result<(), Failure> {
        let values = (plan.count as usize).saturating_mul(plan.model.input.len());
        let refuse = |problem: String| Err(Failure::with(Exit::Artefact, problem).about(path));
        if let Some(name) = self.plan.difference(plan) {
            return refuse(format!(
                "was saved with another value of {name}; pass the same options, or remove the file"
            ));
        }
        match self.state.check(values) {
            Ok(()) => Ok(()),
            Err(error) => refuse(error.to_string()),
        }
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), Failure> {
        let internal = |error: &dyn std::fmt::Display| Failure::with(Exit::Internal, error);
        let text = serde_json::to_string(&self.plan).map_err(|error| internal(&error))?;
        let devices = serde_json::to_string(&self.devices).map_err(|error| internal(&error))?;
        let numbers = |values: Vec<f64>| Array::new(vec![values.len()], values);
        let text_array = |text: &str| numbers(text.bytes().map(f64::from).collect());
        let own = [
            ("plan", text_array(&text)),
            ("devices", text_array(&devices)),
            ("metasmoothness", numbers(vec![self.metasmoothness])),
        ];
        let own: Result<Vec<(&str, Array)>, _> =
            own.into_iter().map(|(name, array)| array.map(|array| (name, array))).collect();
        let own = own.map_err(|error| internal(&error))?;
        let state = self.state.to_arrays().map_err(|error| internal(&error))?;
        let named: Vec<(&str, &Array)> =
            own.iter().chain(&state).map(|(name, array)| (*name, array)).collect();
        let bytes = write_npz(&named).map_err(|error| internal(&error))?;
        write_atomically(path, &bytes).map_err(|error| cannot_write(path, &error))
    }
}

fn parsed(arrays: &[(String, Array)]) -> Option<SavedState> {
    let values = |name: &str| -> &[f64] {
        let found = arrays.iter().find(|(known, _)| known == name);
        found.map_or(&[], |(_, array)| array.data())
    };
    let bytes = |name: &str| values(name).iter().map(|&byte| byte as u8).collect::<Vec<u8>>();
    let plan: OptimizationPlan = serde_json::from_slice(&bytes("plan")).ok()?;
    let devices: Vec<String> = serde_json::from_slice(&bytes("devices")).ok()?;
    if plan.schema != OptimizationPlan::SCHEMA {
        return None;
    }
    let metasmoothness = *values("metasmoothness").first()?;
    Some(SavedState {
        plan,
        state: OptimizationState::from_arrays(arrays),
        metasmoothness,
        devices,
    })
}

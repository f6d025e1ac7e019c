//! The state of an optimisation as named arrays, for npz files.

use dpscope_formats::{Array, FormatError};

use super::state::{BestCanaries, MeanAuc, OptimizationState, Validation};

/// Values of a [`Validation`].
const VALIDATION: usize = 5;

impl OptimizationState {
    /// Named arrays of a file; an empty one is left out.
    ///
    /// # Guarantee
    /// [`OptimizationState::from_arrays`] gives the same state
    /// (`crates/train/tests/canary_optimization.rs::states_are_the_same_from_their_arrays`).
    ///
    /// # Errors
    /// None: every array has one axis.
    pub fn to_arrays(&self) -> Result<Vec<(&'static str, Array)>, FormatError> {
        let floats = |values: &[f32]| values.iter().map(|&value| value.into()).collect();
        let validation = |one: &Validation| {
            let Validation { metasteps, raw, per_canary } = one;
            let [raw, own] = [raw, per_canary].map(|auc| [auc.value, auc.standard_error]);
            [f64::from(*metasteps), raw[0], raw[1], own[0], own[1]]
        };
        let objectives = self.objectives.iter().map(|value| value.unwrap_or(f64::NAN));
        let mut arrays: Vec<(&'static str, Vec<f64>)> = vec![
            ("canaries", floats(&self.canaries)),
            ("velocity", floats(&self.velocity)),
            ("objectives", objectives.collect()),
            ("validations", self.validations.iter().flat_map(validation).collect()),
        ];
        if let Some(best) = &self.best {
            arrays.push(("best", floats(&best.canaries)));
            arrays.push(("best_metasteps", vec![best.metasteps.into()]));
        }
        arrays.retain(|(_, values)| !values.is_empty());
        let named = |(name, values): (&'static str, Vec<f64>)| {
            Array::new(vec![values.len()], values).map(|array| (name, array))
        };
        arrays.into_iter().map(named).collect()
    }

    /// The state of the arrays of a file, which may have others; [`OptimizationState::check`] rejects
    /// one that does not fit.
    #[must_use]
    pub fn from_arrays(arrays: &[(String, Array)]) -> Self {
        let values = |name: &str| -> &[f64] {
            let found = arrays.iter().find(|(known, _)| known == name);
            found.map_or(&[], |(_, array)| array.data())
        };
        let floats = |name: &str| values(name).iter().map(|&value| value as f32).collect();
        let objective = |&value: &f64| (!value.is_nan()).then_some(value);
        let auc = |value: f64, standard_error: f64| MeanAuc { value, standard_error };
        let validation = |row: &[f64]| Validation {
            metasteps: row[0] as u32,
            raw: auc(row[1], row[2]),
            per_canary: auc(row[3], row[4]),
        };
        let best = |&metasteps: &f64| BestCanaries {
            metasteps: metasteps as u32,
            canaries: floats("best"),
        };
        OptimizationState {
            canaries: floats("canaries"),
            velocity: floats("velocity"),
            objectives: values("objectives").iter().map(objective).collect(),
            validations: values("validations").chunks_exact(VALIDATION).map(validation).collect(),
            best: values("best_metasteps").first().map(best),
        }
    }
}

//! Scores of one run that calibrate themselves, step by step from a training in Python.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::native::DpscopeError;

/// Scores of canaries from the projections of each step's release; arrays are bytes of little-endian f64.
#[pyclass]
#[derive(Debug)]
pub(crate) struct CalibratedScores(dpscope::CalibratedScores);

#[pymethods]
impl CalibratedScores {
    #[new]
    fn new(canaries: usize, rate: f64) -> PyResult<Self> {
        dpscope::CalibratedScores::new(canaries, rate).map(Self).map_err(refused)
    }

    /// The scores with a state that `state` returned.
    #[staticmethod]
    fn from_state(state: &[u8]) -> PyResult<Self> {
        dpscope::CalibratedScores::from_state(&numbers(state)?).map(Self).map_err(refused)
    }

    /// Add a step: one projection for each canary, in clip norms.
    fn observe(&mut self, projections: &[u8]) -> PyResult<()> {
        self.0.observe(&numbers(projections)?).map_err(refused)
    }

    /// The score of each canary if no further step follows.
    fn scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, &self.0.scores())
    }

    /// The centre of each step.
    fn centres<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.0.centres())
    }

    /// The scale of each step; 0 if it is skipped.
    fn scales<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, &self.0.scales())
    }

    /// Steps without noise, which no score counts.
    #[getter]
    fn skipped(&self) -> usize {
        self.0.skipped()
    }

    /// All that is known, for a checkpoint.
    fn state<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, &self.0.state())
    }
}

fn refused(error: dpscope::ProjectionError) -> PyErr {
    DpscopeError::new_err(error.to_string())
}

fn numbers(bytes: &[u8]) -> PyResult<Vec<f64>> {
    let (numbers, []) = bytes.as_chunks() else {
        let problem =
            format!("{} bytes are no array of f64: pass 8 bytes for each number", bytes.len());
        return Err(DpscopeError::new_err(problem));
    };
    Ok(numbers.iter().copied().map(f64::from_le_bytes).collect())
}

fn bytes<'py>(py: Python<'py>, numbers: &[f64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    PyBytes::new(py, &bytes)
}

//! ε of matrix mechanisms (DP-FTRL).

use dpscope_core::accounting::matrix::{
    LinearBuffers, MatrixAccount, MatrixParticipation, ParticipantEpsilon,
};
use serde::{Deserialize, Serialize};

/// The document of `dpscope bound matrix` and `dpscope calibrate matrix`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatrixReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.matrix/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Number of steps, T.
    pub steps: u64,
    /// The steps in which a participant may take part.
    pub participation: MatrixParticipation,
    /// δ of every ε here.
    pub delta: f64,
    /// The ε that no noise multiplier here exceeds, if they were calibrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_epsilon: Option<f64>,
    /// One strategy, or all that are compared.
    pub strategies: Vec<MatrixStrategyRecord>,
}

/// A strategy.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatrixStrategyRecord {
    /// How it was built.
    pub strategy: MatrixStrategyKind,
    /// Number of diagonals that are not 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bands: Option<u64>,
    /// The first entries of the first column of a banded strategy, at most 64: its bands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coefficients: Option<Vec<f64>>,
    /// The buffers that generate it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers: Option<LinearBuffers>,
    /// What is proven of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<MatrixValue>,
    /// Why nothing is, in a table of several strategies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What is proven of a strategy, and the error of its prefix sums.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatrixValue {
    /// Standard deviation of the noise over the clipping norm, σ.
    pub noise_multiplier: f64,
    /// The most that one participant changes Cx, in clipping norms.
    pub l2_sensitivity: f64,
    /// Whether some participant changes Cx as much.
    pub is_exact: bool,
    /// ε of the worst participant and of the last one.
    #[serde(flatten)]
    pub account: MatrixAccount,
    /// The participant in the steps that were named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub participant: Option<ParticipantEpsilon>,
    /// Root mean square of the noise in all prefix sums, per coordinate, in clipping norms.
    pub mean_error: f64,
    /// Standard deviation of the noise of the noisiest prefix sum, likewise.
    pub largest_error: f64,
}

/// How a strategy is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MatrixStrategyKind {
    /// Independent noise.
    Identity,
    /// Tree aggregation without restarts.
    Tree,
    /// Bands of the square root of the matrix of prefix sums.
    BandedSquareRoot,
    /// Bands that minimise the error of prefix sums.
    BandedOptimised,
    /// A buffered linear Toeplitz matrix.
    Blt,
    /// A matrix from a file.
    File,
}

impl MatrixStrategyKind {
    /// Strategies that are built by name.
    pub const BUILT: [MatrixStrategyKind; 5] = [
        MatrixStrategyKind::Identity,
        MatrixStrategyKind::Tree,
        MatrixStrategyKind::BandedSquareRoot,
        MatrixStrategyKind::BandedOptimised,
        MatrixStrategyKind::Blt,
    ];
}

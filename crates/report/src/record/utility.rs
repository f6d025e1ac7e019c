//! Utility of synthetic rows beside the privacy of their generators.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The document of `dpscope generator utility`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UtilityReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.utility/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// What was found.
    pub utility: Utility,
    /// Duration, milliseconds.
    pub elapsed_ms: f64,
}

/// Classifiers trained on synthetic rows and tested on real ones.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Utility {
    /// The column that they predict.
    pub label: String,
    /// The positive class.
    pub positive: String,
    /// Real rows that they were tested on, which no generator saw.
    pub tested_rows: u64,
    /// Share of the category among these rows: AUPRC of constant scores.
    pub positive_share: f64,
    /// Chance that a measured ε is wrong, for each.
    pub significance: f64,
    /// One per generator.
    pub generators: Vec<GeneratorUtility>,
    /// Figures of the classifiers when they are trained on real rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real: Option<UtilityFigures>,
}

/// A generator: its privacy, and the utility of its rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GeneratorUtility {
    /// What tells it from the others.
    pub name: String,
    /// ε that is claimed or accounted for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed_epsilon: Option<f64>,
    /// Lower bound on ε by an attack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_epsilon: Option<f64>,
    /// Runs whose rows were tested.
    pub runs: u64,
    /// The utility.
    #[serde(flatten)]
    pub figures: UtilityFigures,
}

/// Areas under the curves of classifiers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UtilityFigures {
    /// Area under the receiver operating characteristic, over classifiers and runs.
    pub auroc: UtilityFigure,
    /// Average precision, over classifiers and runs.
    pub auprc: UtilityFigure,
    /// Both areas of each classifier, over runs.
    pub classifiers: Vec<ClassifierFigures>,
}

/// Areas of one classifier.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassifierFigures {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Area under the receiver operating characteristic.
    pub auroc: UtilityFigure,
    /// Average precision.
    pub auprc: UtilityFigure,
}

/// A mean, its standard error and the largest value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UtilityFigure {
    /// The mean.
    pub mean: f64,
    /// Its standard error between runs; absent for one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// The largest value, which published tables report: the best of many is biased upward.
    pub largest: f64,
}

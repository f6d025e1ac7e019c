//! Built-in models with synthetic data of their shape.

use crate::ModelSpec;
use crate::data::{Examples, SyntheticData};
use crate::model::LayerSpec;

/// A built-in model, synthetic data of its shape, and its learning rate on them.
#[derive(Debug, Clone, Copy)]
pub struct BuiltInModel {
    /// Its name.
    pub name: &'static str,
    spec: fn() -> ModelSpec,
    /// The data set that it is trained on if there is no file.
    pub data: SyntheticData,
    /// Found by `--learning-rate search` at B = 100 and a Poisson ε of 4.
    pub learning_rate: f64,
}

impl BuiltInModel {
    /// All of them, from the smallest.
    pub const ALL: [BuiltInModel; 3] = [
        BuiltInModel {
            name: "mlp",
            spec: ModelSpec::mlp,
            data: SyntheticData::P100Like,
            learning_rate: 3.0,
        },
        BuiltInModel {
            name: "lenet",
            spec: ModelSpec::lenet,
            data: SyntheticData::FmnistLike,
            learning_rate: 3.0,
        },
        BuiltInModel {
            name: "cnn",
            spec: ModelSpec::cnn,
            data: SyntheticData::CifarLike,
            learning_rate: 1.0,
        },
    ];

    /// Held-out records of synthetic data.
    pub const HELD_OUT: usize = 2_000;

    /// The model, as it fits its synthetic data.
    #[must_use]
    pub fn spec(&self) -> ModelSpec {
        (self.spec)()
    }

    /// The model with as many outputs as the data have classes, and an MLP with as many inputs as they
    /// have features.
    #[must_use]
    pub fn fitted(&self, examples: &Examples) -> ModelSpec {
        let mut spec = self.spec();
        if matches!(spec.layers.first(), Some(LayerSpec::Linear { .. })) {
            spec.input = examples.shape();
        }
        if let Some(LayerSpec::Linear { outputs }) = spec.layers.last_mut() {
            *outputs = examples.classes();
        }
        spec
    }

    /// The model of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        const ALL: &[BuiltInModel] = &BuiltInModel::ALL;
        ALL.iter().find(|model| model.name == name)
    }
}

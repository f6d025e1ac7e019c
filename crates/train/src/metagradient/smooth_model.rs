//! Built-in models whose metagradients exist: smooth layers, and trainings of a few steps.

use crate::data::SyntheticData;
use crate::{LayerSpec, ModelSpec, Shape};

/// A built-in model with smooth layers and the settings of its trainings.
#[derive(Debug, Clone, Copy)]
pub struct SmoothModel {
    /// Its name.
    pub name: &'static str,
    /// The synthetic data that it is trained on if there is no file.
    pub data: SyntheticData,
    /// Steps of a training.
    pub steps: usize,
    /// Records of a batch.
    pub batch_size: usize,
    /// Learning rate of a training.
    pub learning_rate: f64,
}

const MODELS: [SmoothModel; 3] = [
    SmoothModel {
        name: "mlp",
        data: SyntheticData::LocationLike,
        steps: 150,
        batch_size: 150,
        learning_rate: 0.1,
    },
    SmoothModel {
        name: "lenet",
        data: SyntheticData::FmnistLike,
        steps: 500,
        batch_size: 100,
        learning_rate: 0.02,
    },
    SmoothModel {
        name: "cnn",
        data: SyntheticData::CifarLike,
        steps: 50,
        batch_size: 100,
        learning_rate: 0.02,
    },
];

impl SmoothModel {
    /// Records of synthetic data that models are trained on.
    pub const SYNTHETIC_RECORDS: usize = 3_000;

    /// The built-in model of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static SmoothModel> {
        MODELS.iter().find(|model| model.name == name)
    }

    /// The model for data of some shape and number of classes.
    #[must_use]
    pub fn spec(&self, input: Shape, classes: usize) -> ModelSpec {
        let mut layers = match self.name {
            "mlp" => {
                vec![
                    LayerSpec::Linear { outputs: 32 },
                    LayerSpec::Tanh,
                    LayerSpec::Linear { outputs: 2 },
                ]
            }
            "lenet" => ModelSpec::lenet().layers,
            _ => ModelSpec::cnn().layers,
        };
        for layer in &mut layers {
            if let LayerSpec::MaxPool { size } = *layer {
                *layer = LayerSpec::AveragePool { size };
            }
        }
        if let Some(LayerSpec::Linear { outputs }) = layers.last_mut() {
            *outputs = classes;
        }
        ModelSpec { input, layers }
    }
}

//! The kernels of local training: steps without clipping or noise.

use dpscope_shaders::train::{Kernel, descend_at_own_rate};

use super::layers::{Layers, Purpose};
use super::{Common, GpuPlan, Stages, WordsPerModel, check_words, pass, records};
use crate::TrainError;
use crate::federated::FederatedTraining;

/// A clipping norm that no gradient exceeds: the factor of every record is 1.
const NO_CLIPPING: f32 = 1e30;

impl GpuPlan {
    /// Plans the local training of clients, whose batches and parameters are written by the host.
    ///
    /// The last word of the rows of a model is the rate of its step.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_clients(training: &FederatedTraining, max_rows: usize) -> Result<Self, TrainError> {
        let network = training.network();
        let most = most_rows(training);
        let rows = max_rows.clamp(1, most);
        let parameters = network.parameters() as u32;
        let examples = training.examples();
        let (data, place) = records::pack(training.initial(), &[(examples, examples.len())]);
        let sizes = Common { rows: rows as u32, ..Common::default() };
        let layers = Layers::new(network, &place, &sizes, Purpose::ClippedGradient);
        let inputs = (network.inputs() * rows) as u64;
        check_words(layers.words().max(inputs), data.len() as u64, 1)?;
        let values = layers.words() as u32;
        let common = Common { parameters, values, factors: layers.factors(), ..sizes };
        let stages: Stages<Kernel> = Stages {
            pass: pass(&common, &layers, NO_CLIPPING),
            finish: vec![descend_at_own_rate(&common)],
            ..Stages::default()
        };
        let parameters = parameters as usize;
        Ok(GpuPlan {
            data,
            sizes: WordsPerModel {
                values: values as usize,
                theta: parameters,
                sums: parameters,
                vector: 0,
                rows: common.row_words() as usize,
                outputs: 1,
            },
            shared_vector: Some(vec![0.0]),
            stages,
            seed: 0,
            // the last word of rows is a rate
            clip_norm: 1.0,
            steps: 1,
            orders: 0,
            max_batch: most as u32,
            // parameters to the device and from it
            records: 2 * parameters as u32,
            worlds: 1,
            observed: 0,
            evaluated: 0,
            steps_per_reading: 1,
            common,
        })
    }
}

/// Largest number of records of a local batch.
pub(in crate::gpu) fn most_rows(training: &FederatedTraining) -> usize {
    let settings = training.settings();
    settings.local_batch_size.min(settings.records_per_client).max(1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SyntheticData;
    use crate::federated::{FederatedSettings, NoiseMechanism, Participation, UpdateClipping};
    use crate::{LayerSpec, ModelSpec};

    #[test]
    fn counts_match_the_documentation() {
        let settings = FederatedSettings {
            clients: 30,
            records_per_client: 10,
            concentration: None,
            rounds: 5,
            participation: Participation::Shuffled { epochs: 1 },
            presentations: None,
            local_epochs: 5,
            local_batch_size: 10,
            local_learning_rate: 0.5,
            clipping: UpdateClipping::Fixed { norm: 0.5 },
            noise_multiplier: 0.3,
            noise_mechanism: NoiseMechanism::Gaussian,
            server_learning_rate: 1.0,
            server_momentum: 0.9,
            sees_updates: false,
        };
        let layers =
            [LayerSpec::Linear { outputs: 32 }, LayerSpec::Relu, LayerSpec::Linear { outputs: 2 }];
        let data = SyntheticData::FmnistLike;
        let spec = ModelSpec { input: data.shape(), layers: layers.to_vec() };
        let examples = data.generate(300, 0).unwrap();
        let training = FederatedTraining::new(&spec, examples, settings, 1).unwrap();
        let plan = GpuPlan::of_clients(&training, 100).unwrap();
        let words = plan.words_per_model();
        assert_eq!((words.theta, words.rows, plan.rows()), (25_186, 11, 10));
        assert_eq!(plan.pass().len() + plan.finish().len(), 8);
        assert!(plan.initialize().is_empty() && plan.select_rows().is_empty());
    }
}

//! Kernels of gradients and of products with the Hessian, for batches from the host.

use dpscope_shaders::train::{Common, Kernel, Numbers, Packing, PassParams, Source};

use super::layers::{Layers, Purpose};
use super::records::Records;
use super::{MAX_WORDS, NONE};
use crate::TrainError;
use crate::model::Network;

/// Kernels that sum the gradients of the losses of R rows: values, or dual numbers whose derivatives
/// are the product with the Hessian and the change of the gradients with respect to the examples.
///
/// Layers are those of a training on the GPU. Rows are not clipped.
#[derive(Debug)]
pub struct DerivativePlan {
    common: Common,
    inputs: usize,
    /// Offset of the gradients with respect to the examples, in numbers.
    input_gradients: usize,
    kernels: Vec<Kernel>,
}

impl DerivativePlan {
    /// Plans kernels on `rows` rows; those on dual numbers include the gradients with respect to
    /// the examples.
    ///
    /// # Errors
    /// A model or rows that need more than 2³⁰ words in a buffer.
    pub fn new(network: &Network, rows: usize, numbers: Numbers) -> Result<Self, TrainError> {
        let inputs = network.inputs();
        let words = (rows as u64).saturating_mul(inputs as u64 + 1);
        let too_large = |what, words| TrainError::TooLargeForGpu { what, words, max: MAX_WORDS };
        if words > MAX_WORDS {
            return Err(too_large("words of records", words));
        }
        let first = rows as u32;
        let source = Source::Records { packing: Packing::Floats, first };
        let purpose = match numbers {
            Numbers::Value => Purpose::Gradient,
            Numbers::Dual => Purpose::InputGradient,
        };
        let sizes = Common { rows: rows as u32, numbers, ..Common::default() };
        let layers = Layers::new(network, &Records { source, labels: 0 }, &sizes, purpose);
        let words = layers.words().saturating_mul(numbers.words() as u64);
        if words > MAX_WORDS {
            return Err(too_large("words of activations", words));
        }
        let common = Common {
            parameters: network.parameters() as u32,
            values: layers.words() as u32,
            factors: layers.factors(),
            ..sizes
        };
        let mut kernels = layers.forward(&common);
        kernels.extend(layers.backward(&common));
        kernels.extend(layers.sums(&common));
        Ok(Self { common, inputs, input_gradients: layers.input_gradients() as usize, kernels })
    }

    /// The kernels of a pass, in order.
    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Number R of rows per pass.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.common.rows as usize
    }

    /// Words per number.
    fn number(&self) -> usize {
        self.common.numbers.words()
    }

    /// Sizes of bindings 1 to 7, in words; 4 and 7 are not used.
    #[must_use]
    pub fn buffer_words(&self) -> [usize; 7] {
        let Common { values, parameters, .. } = self.common;
        let [values, parameters] = [values, parameters].map(|count| count as usize * self.number());
        let data = self.rows() * (self.inputs + 1);
        [values, parameters, parameters, 1, data, self.rows() + 1, 1]
    }

    /// The words of `values` that are set before the first pass, all 1, and their offset.
    #[must_use]
    pub fn factors(&self) -> (usize, Vec<u32>) {
        let one = self.numbers(&vec![1.0; self.rows()], None);
        (self.common.factors as usize * self.number(), one)
    }

    /// Numbers in memory: values, with derivatives if they are dual.
    #[must_use]
    pub fn numbers(&self, values: &[f32], derivatives: Option<&[f32]>) -> Vec<u32> {
        let derivative = |at: usize| derivatives.map_or(0.0, |derivatives| derivatives[at]);
        let words = values.iter().enumerate().flat_map(|(at, value)| {
            let pair = [value.to_bits(), derivative(at).to_bits()];
            pair.into_iter().take(self.number())
        });
        words.collect()
    }

    /// Contents of bindings 5 and 6 for at most R rows.
    #[must_use]
    pub fn rows_of_batch(&self, examples: &[f32], labels: &[u32]) -> [Vec<u32>; 2] {
        let mut data = labels.to_vec();
        data.resize(self.rows(), 0);
        data.extend(examples.iter().map(|value| value.to_bits()));
        let mut rows: Vec<u32> = (0..labels.len() as u32).collect();
        rows.resize(self.rows() + 1, NONE);
        [data, rows]
    }

    /// Words of `values` with the gradients with respect to the first examples.
    #[must_use]
    pub fn input_gradients(&self, rows: usize) -> std::ops::Range<usize> {
        let first = self.input_gradients * self.number();
        first..first + rows * self.inputs * self.number()
    }

    /// The last word of each number: the value, or the derivative of dual numbers.
    pub fn last_words(&self, words: &[u32]) -> impl Iterator<Item = f32> {
        let last = self.number() - 1;
        words.iter().skip(last).step_by(self.number()).map(|&word| f32::from_bits(word))
    }

    /// The uniforms of a pass; the first overwrites the sums, others add to them.
    #[must_use]
    pub fn pass_params(&self, is_first_pass: bool) -> PassParams {
        let first_row = if is_first_pass { 0 } else { self.common.rows };
        PassParams { runs: 1, first_row, ..PassParams::default() }
    }
}

//! Memory layout of a layer, and its activation.

use super::kernel::KernelBuilder;
use super::numbers::Numbers;
use crate::wgsl::wgsl;

/// ln 2 as a sum of two terms; products of the first with exponents are exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

/// Constants shared by all kernels of a model. Sizes and offsets are in numbers, of one
/// 4-byte word unless they are dual.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Common {
    /// Rows per pass, R.
    pub rows: u32,
    /// Number of parameters.
    pub parameters: u32,
    /// Numbers of `values` per model.
    pub values: u32,
    /// Offset of the clipping factors of the rows in `values`.
    pub factors: u32,
    /// What `values`, `theta` and `sums` contain; offsets and counts are in these numbers.
    pub numbers: Numbers,
}

/// Source of a layer's inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `values`, R rows from this offset on.
    Values(u32),
    /// Records in `data`, each starting at a word boundary.
    Records {
        /// How they are packed.
        packing: Packing,
        /// Offset of the first record.
        first: u32,
    },
}

/// Packing of the features of a record in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Bits; the first feature is in the lowest bit.
    Bits,
    /// Pixels; the first is in the lowest byte, and a byte represents 2·byte/255 − 1.
    Bytes,
    /// f32 values.
    Floats,
}

impl Packing {
    /// Words per record.
    #[must_use]
    pub const fn words(self, features: usize) -> usize {
        match self {
            Packing::Bits => features.div_ceil(32),
            Packing::Bytes => features.div_ceil(4),
            Packing::Floats => features,
        }
    }
}

/// Activation function of a layer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Activation {
    /// None.
    #[default]
    Identity,
    /// tanh x.
    Tanh,
    /// max(x, 0).
    Relu,
}

/// Memory layout of a layer: offsets in `values`, each of R rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerMemory {
    /// Source of the inputs.
    pub source: Source,
    /// Inputs per row.
    pub inputs: u32,
    /// Outputs per row.
    pub outputs: u32,
    /// Outputs, after the activation.
    pub output: u32,
    /// Gradient of the loss with respect to the outputs before the activation.
    pub output_gradient: u32,
    /// Gradient of the loss with respect to the inputs before the activation of the previous layer.
    pub input_gradient: u32,
    /// Activation of the outputs.
    pub activation: Activation,
    /// Activation of the previous layer.
    pub input_activation: Activation,
    /// Index of the first parameter; weights precede biases.
    pub first_parameter: u32,
    /// Partial sums of squared gradients, one per row and tile.
    pub partials: u32,
    /// Per-example gradients, if they are saved.
    pub gradients: u32,
}

impl LayerMemory {
    /// Starts a kernel of this layer.
    pub(super) fn draft(&self, common: &Common, name: &str, groups: u64) -> KernelBuilder {
        let (source, first, words) = match self.source {
            Source::Values(first) => (0, first, 0),
            Source::Records { packing, first } => {
                let source = match packing {
                    Packing::Bits => 1,
                    Packing::Bytes => 2,
                    Packing::Floats => 3,
                };
                (source, first, packing.words(self.inputs as usize) as u32)
            }
        };
        common
            .draft(name, groups)
            .constants(&[
                ("SOURCE", source),
                ("INPUT", first),
                ("RECORD_WORDS", words),
                ("INPUTS", self.inputs),
                ("OUTPUTS", self.outputs),
                ("OUTPUT", self.output),
                ("OUTPUT_GRADIENT", self.output_gradient),
                ("INPUT_GRADIENT", self.input_gradient),
                ("ACTIVATION", self.activation as u32),
                ("INPUT_ACTIVATION", self.input_activation as u32),
                ("WEIGHTS", self.first_parameter),
                ("PARTIALS", self.partials),
                ("GRADIENTS", self.gradients),
            ])
            .float("LOG2_E", std::f32::consts::LOG2_E)
            .float("ROUNDING", 12_582_912.0)
            .float("LN_2_HIGH", LN_2[0])
            .float("LN_2_LOW", LN_2[1])
            .part(wgsl!("memory.wgsl"))
    }
}

impl Common {
    /// Words of `rows` per model: the records of a pass and the coefficient of the canary.
    #[must_use]
    pub const fn row_words(&self) -> u32 {
        self.rows + 1
    }

    pub(super) fn draft(&self, name: &str, groups: u64) -> KernelBuilder {
        KernelBuilder::new(name, groups, self.numbers).constants(&[
            ("ROWS", self.rows),
            ("PARAMETERS", self.parameters),
            ("VALUES", self.values),
            ("FACTORS", self.factors),
            ("ROW_WORDS", self.row_words()),
        ])
    }
}

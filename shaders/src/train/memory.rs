//! Where the kernels of a layer find their numbers, and its activation.

use super::kernel::Draft;
use crate::wgsl::wgsl;

/// ln 2 = the sum of both, where products of the first with exponents are exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

/// What kernels of a model have in common. Counts and places are of words of 4 bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Common {
    /// R: rows that are worked on together.
    pub rows: u32,
    /// Parameters.
    pub parameters: u32,
    /// Words of `values` that a model has.
    pub values: u32,
    /// Where in them the factors of the rows are, one each.
    pub factors: u32,
}

/// Where the inputs of a layer come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// From `values`, R rows from this place on.
    Values(u32),
    /// From records in `data`, each of which starts at a word of its own.
    Records {
        /// How they are packed.
        packing: Packing,
        /// The first word of the first.
        first: u32,
    },
}

/// How the features of a record lie in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// 0 or 1, the first feature in the lowest bit.
    Bits,
    /// Pixels, the first in the lowest byte, which stand for 2·byte/255 − 1.
    Bytes,
    /// As f32.
    Floats,
}

impl Packing {
    /// Words of a record.
    #[must_use]
    pub const fn words(self, features: usize) -> usize {
        match self {
            Packing::Bits => features.div_ceil(32),
            Packing::Bytes => features.div_ceil(4),
            Packing::Floats => features,
        }
    }
}

/// What happens to each output of a layer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Activation {
    /// Nothing.
    #[default]
    Identity,
    /// tanh x.
    Tanh,
    /// max(x, 0).
    Relu,
}

/// Where a layer's numbers lie: places in `values`, of R rows each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// What comes in.
    pub source: Source,
    /// Values a row that come in.
    pub inputs: u32,
    /// Values a row that come out.
    pub outputs: u32,
    /// What comes out, after the activation.
    pub output: u32,
    /// Slopes of the loss by what comes out, before the activation.
    pub slopes: u32,
    /// The same of the layer before, from which the inputs come.
    pub below: u32,
    /// Of the outputs.
    pub activation: Activation,
    /// Of the inputs.
    pub below_activation: Activation,
    /// The first of its parameters: weights before biases.
    pub first_parameter: u32,
    /// Sums of squares of gradients, as many a row as the layer has tiles.
    pub partials: u32,
    /// Gradients of rows, where they are kept.
    pub gradients: u32,
}

impl Stage {
    /// A kernel of this layer.
    pub(super) fn draft(&self, common: &Common, name: &str, groups: u64) -> Draft {
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
                ("SLOPES", self.slopes),
                ("BELOW", self.below),
                ("ACTIVATION", self.activation as u32),
                ("BELOW_ACTIVATION", self.below_activation as u32),
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
    /// Words of `rows` that a model has: the records of a pass, and the canary's multiple.
    #[must_use]
    pub const fn row_words(&self) -> u32 {
        self.rows + 1
    }

    pub(super) fn draft(&self, name: &str, groups: u64) -> Draft {
        Draft::new(name, groups).constants(&[
            ("ROWS", self.rows),
            ("PARAMETERS", self.parameters),
            ("VALUES", self.values),
            ("FACTORS", self.factors),
            ("ROW_WORDS", self.row_words()),
        ])
    }
}

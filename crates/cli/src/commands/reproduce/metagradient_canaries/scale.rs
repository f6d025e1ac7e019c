//! Models and sizes of the comparison.

use std::collections::BTreeMap;

use clap::ValueEnum;
use serde::Deserialize;

use crate::commands::reproduce::data;
use crate::failure::{Exit, Failure};

/// A model, with sizes that a computer without a GPU can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleArg {
    /// 32 tanh units, 400 canaries, 120 metasteps; one minute on two cores.
    Mlp,
    /// LeNet-5, 200 canaries, 50 metasteps; ten minutes on two cores.
    Lenet,
    /// A CNN, 100 canaries, 5 metasteps; half an hour on two cores.
    Cnn,
}

/// Sizes of a scale; `SOURCE.md` of the paper explains the fields.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sizes {
    pub(super) model: String,
    pub(super) canaries: u32,
    pub(super) slots: u32,
    pub(super) metasteps: u32,
    pub(super) audit: String,
    pub(super) duration: String,
}

impl ScaleArg {
    pub(super) fn sizes(self) -> Result<Sizes, Failure> {
        let text = include_str!("../../../../papers/metagradient_canaries/scales.toml");
        let mut all: BTreeMap<String, Sizes> = data::toml(text)?;
        let name = self.to_possible_value().map(|value| value.get_name().to_owned());
        let sizes = name.and_then(|name| all.remove(&name));
        sizes.ok_or_else(|| Failure::with(Exit::Internal, "a scale without sizes"))
    }
}

//! A row of the table of loaders.

use super::call::Call;
use crate::mechanism::SamplerKind;
use crate::training_check::LoaderKind;

/// What the documentation of a library says about one of its loaders.
///
/// # Guarantee
/// Where the library is installed, batches that are drawn from the loader agree with `batches`
/// (`tests/trainers/loaders.rs::loaders_of_torch_draw_as_documented` and those of other libraries),
/// and those of another kind do not
/// (`tests/trainers/loaders.rs::loaders_of_another_kind_are_rejected`). Keras, Transformers, Datasets
/// and Flower are not drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LibraryLoader {
    /// The name, as in code.
    pub name: &'static str,
    /// The ends of paths that call it, in lower case.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) paths: &'static [&'static str],
    /// Keyword arguments that select it, in lower case; `*` is any value.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) keywords: &'static [(&'static str, &'static str)],
    /// How it forms batches.
    pub batches: LoaderKind,
    /// Documented behaviour.
    pub behaviour: &'static str,
    /// What makes a training differ from its accounting.
    pub traps: &'static [&'static str],
    /// Page of the documentation, with the version.
    pub source: &'static str,
}

impl LibraryLoader {
    /// Whether it draws clients of federated learning, with all of their records, not records.
    #[must_use]
    pub fn draws_clients(&self) -> bool {
        self.name.starts_with("flwr.")
    }

    /// Whether its sampling rate is one over the batches per epoch of the loader that it replaces.
    #[must_use]
    pub fn draws_at_one_over_batches(&self) -> bool {
        let is_poisson = self.batches == LoaderKind::Sampler(SamplerKind::Poisson);
        let has_own_rate = self.paths.contains(&"uniformwithreplacementsampler");
        self.name.starts_with("opacus.") && is_poisson && !has_own_rate
    }

    pub(super) fn has_path_of(&self, call: &Call) -> bool {
        self.paths.iter().any(|path| call.ends_with(path))
    }

    pub(super) fn is_called_by(&self, call: &Call) -> bool {
        let has = |(name, value): &(&str, &str)| {
            call.argument(name).is_some_and(|given| {
                *value == given || (*value == "*" && !given.eq_ignore_ascii_case("none"))
            })
        };
        self.has_path_of(call) && self.keywords.iter().all(has)
    }
}

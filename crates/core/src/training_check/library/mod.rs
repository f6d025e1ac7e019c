//! Loaders of libraries by the names that their users write.

mod call;
mod correlated_noise;
mod library_loader;
mod table;

use std::str::FromStr;

use super::{LoaderKind, OtherBatches, TrainingDescription};
use crate::mechanism::SamplerKind;
use call::Call;
pub use correlated_noise::CorrelatedNoise;
pub use library_loader::LibraryLoader;
pub use table::LIBRARY_LOADERS;

/// A loader as a user names it, with the options in the name.
///
/// # Example
/// ```
/// use dpscope_core::training_check::NamedLoader;
/// let loader: NamedLoader = "DataLoader(data, batch_size=64, shuffle=True, drop_last=True)".parse()?;
/// assert_eq!(loader.batches.name(), "shuffle");
/// assert_eq!((loader.batch_size, loader.drop_last), (Some(64), Some(true)));
/// # Ok::<(), dpscope_core::training_check::UnknownLoader>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedLoader {
    /// How it forms batches.
    pub batches: LoaderKind,
    /// The library's loader; none for the name of a sampler.
    pub library: Option<&'static LibraryLoader>,
    /// The mechanism with correlated noise that it names instead of a loader.
    pub correlated_noise: Option<&'static CorrelatedNoise>,
    /// Whether the last, smaller batch is dropped.
    pub drop_last: Option<bool>,
    /// Records per batch.
    pub batch_size: Option<u64>,
    /// Records in the buffer.
    pub buffer_examples: Option<u64>,
    /// Most records of a batch.
    pub max_batch_size: Option<u64>,
}

/// Loaders within loaders that are followed.
const MOST_NESTED: u32 = 3;

impl NamedLoader {
    fn of(text: &str, depth: u32) -> Option<Self> {
        if let Some(batches) = LoaderKind::named(text.trim()) {
            return Some(Self::without_options(batches));
        }
        let calls = call::calls(text)?;
        if let Some(noise) = CorrelatedNoise::called_by(&calls) {
            let unknown = LoaderKind::Other(OtherBatches::Unknown);
            let correlated_noise = Some(noise);
            return Some(NamedLoader { correlated_noise, ..Self::without_options(unknown) });
        }
        let own = calls.iter().find_map(|call| {
            let own = ["sampler", "batch_sampler"].into_iter().find_map(|name| call.keyword(name));
            let inner = own.filter(|_| depth > 0).and_then(|own| Self::of(own, depth - 1));
            let known = LIBRARY_LOADERS.iter().find(|loader| loader.is_called_by(call));
            inner
                .map(|inner| (inner.batches, inner.library))
                .or_else(|| known.map(|known| (known.batches, Some(known))))
        });
        let (batches, library) = own?;
        let flag = |names: &[&str]| {
            let value = calls.iter().find_map(|call| names.iter().find_map(|n| call.keyword(n)))?;
            match value {
                "true" => Some(true),
                "false" => Some(false),
                _ => None,
            }
        };
        let has_buffer = batches.sampler().is_some_and(SamplerKind::has_buffer);
        let count = |names: &[&str], method: Option<&str>| {
            let of = |call: &Call| {
                let by_name = names.iter().find_map(|name| call.keyword(name));
                let is_method = method.is_some_and(|method| call.path.ends_with(method));
                let by_place = || call.first.as_deref().filter(|_| is_method);
                by_name.or_else(by_place)?.replace('_', "").parse().ok()
            };
            calls.iter().find_map(of)
        };
        let buffer = || count(&["buffer_size", "window_size"], Some(".shuffle"));
        Some(NamedLoader {
            batches,
            library,
            correlated_noise: None,
            drop_last: flag(&["drop_last", "drop_remainder", "dataloader_drop_last"]),
            batch_size: count(&["batch_size"], Some(".batch")),
            buffer_examples: if has_buffer { buffer() } else { None },
            max_batch_size: count(&["truncated_batch_size"], None),
        })
    }

    const fn without_options(batches: LoaderKind) -> Self {
        NamedLoader {
            batches,
            library: None,
            correlated_noise: None,
            drop_last: None,
            batch_size: None,
            buffer_examples: None,
            max_batch_size: None,
        }
    }

    /// Sets the loader of a description, and what its name says where the description is silent.
    pub fn describe(&self, training: &mut TrainingDescription) {
        match self.batches {
            LoaderKind::Sampler(kind) => training.loader = Some(kind),
            LoaderKind::Other(other) => training.other_batches = Some(other),
        }
        training.drop_last = training.drop_last.or(self.drop_last);
        training.batch_size = training.batch_size.or(self.batch_size);
        training.buffer_examples = training.buffer_examples.or(self.buffer_examples);
        training.max_batch_size = training.max_batch_size.or(self.max_batch_size);
    }
}

impl FromStr for NamedLoader {
    type Err = UnknownLoader;

    fn from_str(text: &str) -> Result<Self, UnknownLoader> {
        Self::of(text, MOST_NESTED).ok_or_else(|| UnknownLoader { name: text.to_owned() })
    }
}

/// A name of no loader.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown loader `{}`", crate::format::excerpt(.name, 80))]
pub struct UnknownLoader {
    /// The name.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(text: &str) -> &'static str {
        text.parse::<NamedLoader>().map_or("none", |loader| loader.batches.name())
    }

    #[test]
    fn every_row_is_found_by_its_name_and_complete() {
        for loader in LIBRARY_LOADERS {
            let found: NamedLoader = loader.name.parse().unwrap();
            assert_eq!(found.library.map(|found| found.name), Some(loader.name));
            assert_eq!(found.batches, loader.batches);
            assert!(loader.behaviour.ends_with('.') && !loader.source.is_empty(), "{loader:?}");
            assert!(loader.traps.iter().all(|trap| trap.ends_with('.')), "{loader:?}");
            let spelled = loader.paths.iter().chain(loader.keywords.iter().map(|(name, _)| name));
            for part in spelled {
                assert_eq!(*part, part.to_lowercase(), "{loader:?}");
            }
        }
    }

    #[test]
    fn names_are_read_as_in_code() {
        for (text, expected) in [
            ("shuffle", "shuffle"),
            ("fixed-size", "fixed-size"),
            ("DataLoader(shuffle=True)", "shuffle"),
            ("dataloader( shuffle = true )", "shuffle"),
            ("torch.utils.data.DataLoader(ds, 256, shuffle=True)", "shuffle"),
            ("data.DataLoader(train[:10, {1: 2}], shuffle=False)", "deterministic"),
            ("DataLoader(ds)", "deterministic"),
            ("DataLoader(ds, sampler=RandomSampler(ds, replacement=True))", "with-replacement"),
            ("DataLoader(ds, batch_sampler=my_sampler)", "unknown"),
            ("RandomSampler", "shuffle"),
            ("make_private(module=m, poisson_sampling=False)", "shuffle"),
            ("privacy_engine.make_private", "poisson"),
            ("tf.data.Dataset.shuffle(1000)", "sliding-buffer"),
            ("tf.data.Dataset.shuffle(1000, reshuffle_each_iteration=False)", "once-per-epoch"),
            ("Trainer", "shuffle"),
            (
                "jax_privacy.batch_selection.FixedBatchSampling(4, 2, replace=True)",
                "with-replacement",
            ),
            ("CyclicPoissonSampling(truncated_batch_size=120)", "truncated-poisson"),
            ("CyclicPoissonSampling(truncated_batch_size=None)", "poisson"),
            ("CyclicPoissonSampling(cycle_length=10, truncated_batch_size=120)", "unknown"),
            ("grain.DataLoader(sampler=IndexSampler(9, shuffle=True))", "shuffle"),
            ("Loader", "none"),
            ("MyDataLoader(shuffle=True)", "none"),
            ("Shuffle", "none"),
            ("", "none"),
            ("(((", "none"),
            ("DataLoader(", "none"),
            ("DataLoader('", "none"),
        ] {
            assert_eq!(batches(text), expected, "{text}");
        }
    }

    #[test]
    fn options_in_the_name_are_read() {
        let read = |text: &str| {
            let found: NamedLoader = text.parse().unwrap();
            (found.batch_size, found.buffer_examples, found.drop_last)
        };
        assert_eq!(read("DataLoader(d, batch_size=1_024, shuffle=True)"), (Some(1024), None, None));
        let chain = "tf.data.Dataset.shuffle(10_000).batch(256, drop_remainder=True)";
        assert_eq!(read(chain), (Some(256), Some(10_000), Some(true)));
        let variables = "DataLoader(d, batch_size=args.b, drop_last=cut, shuffle=True)";
        assert_eq!(read(variables), (None, None, None));
        let nested = "DataLoader(d, batch_size=8, drop_last=True, sampler=RandomSampler(d))";
        assert_eq!(read(nested), (Some(8), None, Some(true)));
    }

    #[test]
    fn options_override_the_name() {
        let loader: NamedLoader =
            "DataLoader(d, batch_size=8, drop_last=True, shuffle=True)".parse().unwrap();
        let mut training =
            TrainingDescription { batch_size: Some(9), ..TrainingDescription::default() };
        loader.describe(&mut training);
        assert_eq!((training.batch_size, training.drop_last), (Some(9), Some(true)));
        assert!(training.loader.is_some() && training.other_batches.is_none());
    }

    #[test]
    fn correlated_noise_is_recognised() {
        let noise = |text: &str| {
            let found: Option<NamedLoader> = text.parse().ok();
            found.and_then(|loader| loader.correlated_noise).map(|noise| noise.strategy)
        };
        for (text, expected) in [
            ("tf_privacy.DPFTRLTreeAggregationOptimizer(l2_norm_clip=1.0)", Some(Some("tree"))),
            ("DifferentiallyPrivateFactory.tree_aggregation", Some(Some("tree"))),
            ("jax_privacy.matrix_factorization.buffered_toeplitz", Some(Some("blt"))),
            ("jax_privacy.matrix_factorization", Some(None)),
            ("DP-FTRL", Some(None)),
            ("DPKerasSGDOptimizer", None),
            ("MyDPFTRL", None),
            ("CyclicPoissonSampling", None),
        ] {
            assert_eq!(noise(text), expected, "{text}");
        }
        for row in correlated_noise::CORRELATED_NOISE {
            let found: NamedLoader = row.name.parse().unwrap();
            assert_eq!(found.correlated_noise, Some(row));
        }
    }

    #[test]
    fn deep_nesting_ends() {
        let deep = "DataLoader(sampler=".repeat(50) + &")".repeat(50);
        assert_eq!(batches(&deep), "unknown");
    }
}

//! Loaders of libraries by the names that their users write.

mod argument;
mod call;
mod correlated_noise;
mod library_loader;
mod table;

use std::str::FromStr;

use super::{LoaderKind, OtherBatches, TrainingDescription, TrainingError, TrainingSetup};
use crate::mechanism::SamplerKind;
use argument::{Argument, Quantity};
use call::Call;
pub use correlated_noise::CorrelatedNoise;
pub use library_loader::LibraryLoader;
pub use table::LIBRARY_LOADERS;

/// A loader as a user names it, with the arguments of the call.
///
/// # Example
/// ```
/// use dpscope_core::training_check::{NamedLoader, TrainingDescription};
/// let loader: NamedLoader = "DataLoader(data, batch_size=64, shuffle=True, drop_last=True)".parse()?;
/// assert_eq!(loader.batches.name(), "shuffle");
/// let mut training = TrainingDescription::default();
/// loader.describe(&mut training);
/// assert_eq!((training.batch_size, training.drop_last), (Some(64), Some(true)));
/// # Ok::<(), dpscope_core::training_check::UnknownLoader>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedLoader {
    /// How it forms batches.
    pub batches: LoaderKind,
    /// The library's loader; none for the name of a sampler.
    pub library: Option<&'static LibraryLoader>,
    /// The mechanism with correlated noise that it names instead of a loader.
    pub correlated_noise: Option<&'static CorrelatedNoise>,
    /// Arguments, including those of loaders within the call.
    arguments: Vec<Argument>,
}

/// Loaders within loaders that are followed.
const MOST_NESTED: u32 = 3;

impl NamedLoader {
    fn of(text: &str, depth: u32) -> Option<Self> {
        if let Some(batches) = LoaderKind::named(text.trim()) {
            return Some(Self::without_arguments(batches));
        }
        let calls = call::calls(text)?;
        if let Some(noise) = CorrelatedNoise::called_by(&calls) {
            let unknown = LoaderKind::Other(OtherBatches::Unknown);
            let correlated_noise = Some(noise);
            return Some(NamedLoader { correlated_noise, ..Self::without_arguments(unknown) });
        }
        let own = calls.iter().find_map(|call| {
            let own = ["sampler", "batch_sampler"].into_iter().find_map(|name| call.argument(name));
            let inner = own.filter(|_| depth > 0).and_then(|own| Self::of(own, depth - 1));
            let known = LIBRARY_LOADERS.iter().find(|loader| loader.is_called_by(call));
            inner
                .map(|inner| (inner.batches, inner.library))
                .or_else(|| known.map(|known| (known.batches, Some(known))))
        });
        let (batches, library) = own?;
        let arguments = arguments(calls, MOST_NESTED);
        Some(NamedLoader { batches, library, correlated_noise: None, arguments })
    }

    const fn without_arguments(batches: LoaderKind) -> Self {
        NamedLoader { batches, library: None, correlated_noise: None, arguments: Vec::new() }
    }

    /// Sets the loader of a description, and what the call says where the description is silent.
    pub fn describe(&self, training: &mut TrainingDescription) {
        match self.batches {
            LoaderKind::Sampler(kind) => training.loader = Some(kind),
            LoaderKind::Other(other) => training.other_batches = Some(other),
        }
        let count = |quantity| self.find(quantity, Argument::whole);
        let has_buffer = self.batches.sampler().is_some_and(SamplerKind::has_buffer);
        let buffer = || count(Quantity::BufferExamples).filter(|_| has_buffer);
        training.drop_last =
            training.drop_last.or_else(|| self.find(Quantity::DropLast, Argument::flag));
        training.batch_size = training.batch_size.or_else(|| count(Quantity::BatchSize));
        training.buffer_examples = training.buffer_examples.or_else(buffer);
        let library = self.library;
        training.draws_at_one_over_batches =
            library.is_some_and(LibraryLoader::draws_at_one_over_batches);
        let kind = self.batches.sampler();
        let has_rate = kind.is_some_and(SamplerKind::draws_each_record);
        let rate = || self.find(Quantity::SamplingRate, Argument::number).filter(|_| has_rate);
        training.sampling_rate = training.sampling_rate.or_else(rate);
        // without replacement, more draws than records would use some records twice
        let is_once = kind == Some(SamplerKind::Shuffle);
        let is_possible =
            |&draws: &u64| !is_once || training.dataset_size.is_none_or(|all| draws <= all);
        training.draws_per_epoch = count(Quantity::DrawsPerEpoch).filter(is_possible);
        training.max_batch_size = training.max_batch_size.or_else(|| count(Quantity::MaxBatchSize));
    }

    fn find<T>(&self, quantity: Quantity, read: fn(&Argument) -> Option<T>) -> Option<T> {
        self.arguments.iter().filter(|it| it.quantity() == Some(quantity)).find_map(read)
    }

    /// Compares the arguments with the training.
    ///
    /// # Errors
    /// [`TrainingError::Contradicted`] for the first argument that differs.
    pub fn compare(
        &self,
        training: &TrainingDescription,
        setup: &TrainingSetup,
    ) -> Result<(), TrainingError> {
        self.arguments.iter().try_for_each(|argument| argument.compare(training, setup))
    }

    /// Numbers in the call that may change batches, noise or steps, and that nothing compares.
    #[must_use]
    pub fn unread(&self) -> Vec<String> {
        self.arguments.iter().filter(|it| it.is_unread()).map(Argument::shown).collect()
    }

    /// The error with the argument that has the missing field.
    #[must_use]
    pub fn explain(&self, error: TrainingError) -> TrainingError {
        let TrainingError::Missing { name } = error else { return error };
        let quantities = match name {
            "batch_size" => &[Quantity::SamplingRate][..],
            "dataset_size" => &[Quantity::DatasetSize],
            "epochs" => &[Quantity::Epochs, Quantity::StepsInAll, Quantity::Steps],
            "noise_multiplier" => &[Quantity::NoiseMultiplier],
            _ => &[],
        };
        let argument = |quantity: &Quantity| {
            self.find(*quantity, |argument| argument.number().map(|_| argument.shown()))
        };
        match quantities.iter().find_map(argument) {
            Some(argument) => TrainingError::MissingButInCall { name, argument },
            None => error,
        }
    }
}

/// The arguments of calls, and of loaders in these arguments.
fn arguments(calls: Vec<Call>, depth: u32) -> Vec<Argument> {
    let mut found = Vec::new();
    for argument in calls.into_iter().flat_map(|call| call.arguments) {
        let inner = Some(&argument.value).filter(|value| depth > 0 && value.contains('('));
        let mut inner = inner.and_then(|value| call::calls(value)).unwrap_or_default();
        inner.retain(|call| LIBRARY_LOADERS.iter().any(|loader| loader.has_path_of(call)));
        found.push(argument);
        let inner = arguments(inner, depth.saturating_sub(1));
        // it drops records that do not fill all processes, not a batch
        found.extend(inner.into_iter().filter(|it| {
            !(it.function == "distributedsampler" && it.quantity() == Some(Quantity::DropLast))
        }));
    }
    found
}

impl FromStr for NamedLoader {
    type Err = UnknownLoader;

    fn from_str(text: &str) -> Result<Self, UnknownLoader> {
        Self::of(text, MOST_NESTED).ok_or_else(|| UnknownLoader { name: text.to_owned() })
    }
}

/// A name of no loader.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown loader `{}`", crate::foreign_text::ForeignText::new(.name))]
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

    fn described(text: &str, mut training: TrainingDescription) -> TrainingDescription {
        text.parse::<NamedLoader>().unwrap().describe(&mut training);
        training
    }

    #[test]
    fn arguments_are_read() {
        let read = |text: &str| {
            let found = described(text, TrainingDescription::default());
            (found.batch_size, found.buffer_examples, found.drop_last)
        };
        assert_eq!(read("DataLoader(d, batch_size=1_024, shuffle=True)"), (Some(1024), None, None));
        assert_eq!(read("DataLoader(d, 1_024, True)"), (Some(1024), None, None));
        let chain = "tf.data.Dataset.shuffle(10_000).batch(256, drop_remainder=True)";
        assert_eq!(read(chain), (Some(256), Some(10_000), Some(true)));
        let variables = "DataLoader(d, batch_size=args.b, drop_last=cut, shuffle=True)";
        assert_eq!(read(variables), (None, None, None));
        let nested = "DataLoader(d, batch_size=8, drop_last=True, sampler=RandomSampler(d))";
        assert_eq!(read(nested), (Some(8), None, Some(true)));
        let private = "make_private(data_loader=DataLoader(d, 8))";
        assert_eq!(read(private), (Some(8), None, None));
    }

    #[test]
    fn arguments_that_contradict_the_training_are_refused() {
        let training = TrainingDescription {
            dataset_size: Some(1000),
            batch_size: Some(10),
            epochs: Some(3.0),
            noise_multiplier: Some(1.0),
            claim: Some(1.0),
            delta: Some(1e-5),
            ..TrainingDescription::default()
        };
        let differs = |text: &str| {
            let loader: NamedLoader = text.parse().unwrap();
            let described = described(text, training);
            let (setup, ..) = described.complete().unwrap();
            loader.compare(&described, &setup).is_err()
        };
        for (text, expected) in [
            ("DPDataLoader(d, batch_size=10)", false),
            ("DPDataLoader(d, batch_size=1_000)", true),
            ("DPDataLoader(d, batch_size=b)", false),
            ("DataLoader(d, 11, shuffle=True)", true),
            ("UniformWithReplacementSampler(num_samples=1000, sample_rate=0.01, steps=100)", false),
            ("UniformWithReplacementSampler(sample_rate=1/100, steps=300)", false),
            ("UniformWithReplacementSampler(sample_rate=1/10)", true),
            ("UniformWithReplacementSampler(num_samples=100)", true),
            ("UniformWithReplacementSampler(steps=301)", true),
            ("CyclicPoissonSampling(sampling_prob=0.9)", true),
            ("CyclicPoissonSampling(0.01, 100)", true),
            ("CyclicPoissonSampling(0.01, 300)", false),
            ("make_private(noise_multiplier=0.3)", true),
            ("make_private(noise_multiplier=1.0, max_grad_norm=2)", false),
            ("make_private(data_loader=DataLoader(d, batch_size=20))", true),
            ("make_private_with_epsilon(epochs=3)", false),
            ("make_private_with_epsilon(epochs=4)", true),
            ("Model.fit(steps_per_epoch=100, epochs=3)", false),
            ("Model.fit(steps_per_epoch=300)", true),
            ("tf.data.Dataset.shuffle(50).batch(10).repeat(3)", false),
            ("tf.data.Dataset.shuffle(50).repeat(4)", true),
        ] {
            assert_eq!(differs(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_that_nothing_compares_are_listed() {
        let unread = |text: &str| text.parse::<NamedLoader>().unwrap().unread().join(" ");
        for (text, expected) in [
            ("DataLoader(d, 8, shuffle=True, num_workers=4, prefetch_factor=2)", ""),
            ("DataLoader(d, batch_size=4*64, shuffle=True)", "batch_size=4*64"),
            (
                "Trainer(gradient_accumulation_steps=4, learning_rate=1e-3)",
                "gradient_accumulation_steps=4",
            ),
            ("tf.data.Dataset.shuffle(9).take(100).prefetch(2)", "take(100)"),
            ("make_private_with_epsilon(target_epsilon=8)", "target_epsilon=8"),
            ("DataLoader(d, sampler=DistributedSampler(d, 8, rank=0))", "num_replicas=8"),
            ("DataLoader(MNIST(mean=0.13), shuffle=True)", ""),
        ] {
            assert_eq!(unread(text), expected, "{text}");
        }
    }

    #[test]
    fn options_come_before_arguments() {
        let training =
            TrainingDescription { batch_size: Some(9), ..TrainingDescription::default() };
        let found =
            described("DataLoader(d, batch_size=8, drop_last=True, shuffle=True)", training);
        assert_eq!((found.batch_size, found.drop_last), (Some(9), Some(true)));
        assert!(found.loader.is_some() && found.other_batches.is_none());
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

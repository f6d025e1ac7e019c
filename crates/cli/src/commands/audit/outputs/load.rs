//! Recorded outputs from files, on the scale of sums in clip norms.

use std::path::{Path, PathBuf};

use dpscope_core::mechanism::{BatchedGaussian, SamplerKind, rescale_averaged};
use dpscope_formats::{Array, Dataset, FormatError};

use super::OutputsArgs;
use crate::commands::audit::recorded::{array_in, check_finite, taken};
use crate::failure::Failure;

/// Arrays of both worlds, and the numbers that a file may bring along.
pub(super) struct Loaded {
    target: (Array, PathBuf),
    zero_out: (Array, PathBuf),
    numbers: Numbers,
}

/// The training, as far as a file says it.
struct Numbers {
    noise_multiplier: Option<f64>,
    clip_norm: Option<f64>,
    batch_size: Option<f64>,
}

impl Numbers {
    fn of(dataset: &Dataset<'_>, path: &Path) -> Result<Self, Failure> {
        let number = |name: &str| -> Result<Option<f64>, Failure> {
            let array = match dataset.array(name) {
                Err(FormatError::NotFound { .. }) => return Ok(None),
                array => array.map_err(|error| Failure::from(error).about(path))?,
            };
            match array.data() {
                [value] => Ok(Some(*value)),
                _ => Err(Failure::input(format!("`{name}` is not a single number")).about(path)),
            }
        };
        Ok(Numbers {
            noise_multiplier: number("noise_multiplier")?,
            clip_norm: number("clip_norm")?,
            batch_size: number("batch_size")?,
        })
    }

    /// What two files say together.
    fn agreed(self, other: Numbers) -> Result<Self, Failure> {
        let agreed = |name: &str, first: Option<f64>, second: Option<f64>| match (first, second) {
            (Some(first), Some(second)) if first != second => Err(Failure::input(format!(
                "{name} is {first:?} in the target's file and {second:?} in the other; both worlds \
                 are runs of one training"
            ))),
            _ => Ok(first.or(second)),
        };
        Ok(Numbers {
            noise_multiplier: agreed(
                "noise_multiplier",
                self.noise_multiplier,
                other.noise_multiplier,
            )?,
            clip_norm: agreed("clip_norm", self.clip_norm, other.clip_norm)?,
            batch_size: agreed("batch_size", self.batch_size, other.batch_size)?,
        })
    }
}

/// Runs of one world, on the scale of sums in clip norms.
pub(super) struct Outputs {
    pub(super) runs: usize,
    pub(super) epochs: usize,
    pub(super) steps: usize,
    pub(super) values: Vec<f64>,
}

impl Outputs {
    /// Outputs of each run, epoch-major.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.epochs * self.steps)
    }
}

pub(super) fn load(args: &OutputsArgs) -> Result<Loaded, Failure> {
    if let (Some(target), Some(zero_out)) = (&args.target, &args.zero_out) {
        let world = |path: &Path, name: &str| {
            taken(path, |dataset| {
                let numbers = Numbers::of(&dataset, path)?;
                Ok((array_in(dataset, path, name)?, numbers))
            })
        };
        let (in_target, numbers) = world(target, "target")?;
        let (in_zero_out, others) = world(zero_out, "zero_out")?;
        return Ok(Loaded {
            target: (in_target, target.clone()),
            zero_out: (in_zero_out, zero_out.clone()),
            numbers: numbers.agreed(others)?,
        });
    }
    let path = args.runs.as_deref().unwrap_or(Path::new(""));
    taken(path, |dataset| {
        let world = |name: &str| {
            match dataset.array(name) {
            Err(error @ FormatError::NotFound { .. }) => Err(Failure::input(format!(
                "{error}; an audit needs both worlds: save them as `target` and `zero_out`, or pass \
                 --target FILE --zero-out FILE"
            ))
            .about(path)),
            array => {
                let array = array.map_err(|error| Failure::from(error).about(path))?;
                Ok((array, path.to_path_buf()))
            }
        }
        };
        Ok(Loaded {
            target: world("target")?,
            zero_out: world("zero_out")?,
            numbers: Numbers::of(&dataset, path)?,
        })
    })
}

/// Checks shapes and numbers, and brings outputs to the scale of sums in clip norms.
pub(super) fn prepare(
    args: &OutputsArgs,
    loaded: Loaded,
) -> Result<(BatchedGaussian, Outputs, Outputs, serde_json::Value), Failure> {
    let Loaded { target, zero_out, numbers } = loaded;
    for (array, path) in [&target, &zero_out] {
        check_finite(array, path, args.recorded.count_non_finite)?;
    }
    let (from, clip_norm) = (
        [target.1.display().to_string(), zero_out.1.display().to_string()],
        args.clip_norm.or(numbers.clip_norm),
    );
    let (target, zero_out) = (world(args, target)?, world(args, zero_out)?);
    if (target.epochs, target.steps) != (zero_out.epochs, zero_out.steps) {
        return Err(Failure::input(format!(
            "the worlds' shapes differ: target has {} epochs of {} steps, zero_out {} of {}; record \
             both with the same code",
            target.epochs, target.steps, zero_out.epochs, zero_out.steps
        )));
    }
    let noise_multiplier = args.noise_multiplier.or(numbers.noise_multiplier).ok_or_else(|| {
        Failure::input(
            "--noise-multiplier is missing, and the file holds no number noise_multiplier",
        )
    })?;
    let batch_size = batch_size(args, numbers.batch_size)?;
    let steps_per_epoch = whole(target.steps, "steps")?;
    let searches = searches_buffer(args);
    let sampler = if searches {
        // Every prefix is scored as a full shuffle of its own.
        SamplerKind::Shuffle.with_buffer(None)?
    } else {
        args.sampler.sampler()?
    };
    let mechanism = BatchedGaussian {
        noise_multiplier,
        steps_per_epoch,
        epochs: whole(target.epochs, "epochs")?,
        sampler,
        threat_model: args.sampler.threat_model(),
        batch_size,
    };
    mechanism.distribution()?;
    let input = serde_json::json!({
        "target": from[0], "zero_out": from[1],
        "sampler": args.sampler.sampler, "clip_norm": clip_norm, "per_batch_mean": args.per_batch_mean,
        "runs": [target.runs, zero_out.runs], "buffer_search": searches,
    });
    let rescaled = |mut outputs: Outputs| -> Result<Outputs, Failure> {
        rescale_averaged(
            &mut outputs.values,
            args.per_batch_mean.unwrap_or(1),
            clip_norm.unwrap_or(1.0),
        )?;
        Ok(outputs)
    };
    Ok((mechanism, rescaled(target)?, rescaled(zero_out)?, input))
}

/// A partial shuffle whose buffer is not given is searched for it.
pub(super) fn searches_buffer(args: &OutputsArgs) -> bool {
    args.sampler.sampler == SamplerKind::PartialShuffle && args.sampler.buffer_examples.is_none()
}

fn whole(value: usize, name: &str) -> Result<u32, Failure> {
    u32::try_from(value).map_err(|_| Failure::input(format!("{value} {name} are too many")))
}

/// The batch size that flags and file agree on.
fn batch_size(args: &OutputsArgs, in_file: Option<f64>) -> Result<Option<u32>, Failure> {
    let in_file = in_file.map(whole_batch_size).transpose()?;
    let said = [
        ("--batch-size", args.sampler.batch_size),
        ("--per-batch-mean", args.per_batch_mean),
        ("the file's batch_size", in_file),
    ];
    let mut said = said.into_iter().filter_map(|(name, size)| Some((name, size?)));
    let Some((name, size)) = said.next() else { return Ok(None) };
    match said.find(|&(_, other)| other != size) {
        None => Ok(Some(size)),
        Some((other_name, other)) => Err(Failure::input(format!(
            "{name} is {size} and {other_name} is {other}; a run has one batch size"
        ))),
    }
}

fn whole_batch_size(value: f64) -> Result<u32, Failure> {
    let good = value.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&value);
    let bad = || Failure::input(format!("the file's batch_size is {value}, not a whole number"));
    if good { Ok(value as u32) } else { Err(bad()) }
}

/// Reads an array's shape: (runs, epochs, steps), or (runs, entries) with the epochs beside it.
fn world(args: &OutputsArgs, (array, path): (Array, PathBuf)) -> Result<Outputs, Failure> {
    let (shape, values) = array.into_parts();
    let asked = args.epochs.map(|epochs| epochs as usize);
    let (runs, epochs, steps) = match *shape.as_slice() {
        [runs, epochs, steps] => match asked {
            Some(asked) if asked != epochs => {
                let what = format!("has {epochs} epochs (shape {shape:?}), --epochs says {asked}");
                return Err(Failure::input(what).about(&path));
            }
            _ => (runs, epochs, steps),
        },
        [runs, entries] => {
            let epochs = asked.unwrap_or(1);
            if epochs == 0 || entries % epochs != 0 {
                let what = format!("has rows of {entries} outputs, which are not {epochs} epochs");
                return Err(Failure::input(what).about(&path));
            }
            (runs, epochs, entries / epochs)
        }
        _ => {
            return Err(Failure::input(format!(
                "has shape {shape:?}; (runs, epochs, steps) or (runs, steps) is needed"
            ))
            .about(&path));
        }
    };
    Ok(Outputs { runs, epochs, steps, values })
}

//! Recorded outputs from files, on the scale of sums in clip norms.

use std::path::{Path, PathBuf};

use dpscope_core::mechanism::{
    BatchedGaussian, MechanismError, ParameterProblem, SamplerKind, rescale_averaged,
};
use dpscope_formats::{Array, Dataset, FormatError};

use super::OutputsArgs;
use crate::commands::audit::recorded::{array_in, check_runs, with_runs};
use crate::failure::{Failure, option};

/// Arrays of both worlds, and the numbers in their files.
pub(super) struct RecordedArrays {
    target: (Array, PathBuf),
    zero_out: (Array, PathBuf),
    /// Sums before noise: `sums_target` and `sums_zero_out`.
    sums: Option<[(Array, PathBuf); 2]>,
    /// Uses of the target per step: `uses_target` and `uses_zero_out`.
    uses: Option<[(Array, PathBuf); 2]>,
    numbers: FileParameters,
}

/// Optional arrays recorded with the outputs of both worlds.
#[derive(Default)]
pub(super) struct Beside {
    /// Sums before noise in D and D′, on the scale of the outputs.
    pub(super) sums: Option<[Outputs; 2]>,
    /// Number of times each step used the target, in D and D′.
    pub(super) uses: Option<[Outputs; 2]>,
}

/// Parameters of the training that a file contains.
struct FileParameters {
    noise_multiplier: Option<f64>,
    clip_norm: Option<f64>,
    batch_size: Option<f64>,
}

impl FileParameters {
    fn read(dataset: &Dataset<'_>, path: &Path) -> Result<Self, Failure> {
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
        Ok(FileParameters {
            noise_multiplier: number("noise_multiplier")?,
            clip_norm: number("clip_norm")?,
            batch_size: number("batch_size")?,
        })
    }

    /// Joins the parameters of two files, which must not contradict each other.
    fn joined(self, other: FileParameters) -> Result<Self, Failure> {
        let joined = |name: &str, first: Option<f64>, second: Option<f64>| match (first, second) {
            (Some(first), Some(second)) if first != second => Err(Failure::input(format!(
                "{name} is {first:?} in the target's file and {second:?} in the other; both worlds must \
                 be runs of one training"
            ))),
            _ => Ok(first.or(second)),
        };
        Ok(FileParameters {
            noise_multiplier: joined(
                "noise_multiplier",
                self.noise_multiplier,
                other.noise_multiplier,
            )?,
            clip_norm: joined("clip_norm", self.clip_norm, other.clip_norm)?,
            batch_size: joined("batch_size", self.batch_size, other.batch_size)?,
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

pub(super) fn load(args: &OutputsArgs) -> Result<RecordedArrays, Failure> {
    if let (Some(target), Some(zero_out)) = (&args.target, &args.zero_out) {
        let world = |path: &Path, name: &str| {
            with_runs(path, args.recorded.count_non_finite, |dataset| {
                let numbers = FileParameters::read(&dataset, path)?;
                Ok((array_in(dataset, path, name)?, numbers))
            })
        };
        let (in_target, numbers) = world(target, "target")?;
        let (in_zero_out, others) = world(zero_out, "zero_out")?;
        return Ok(RecordedArrays {
            target: (in_target, target.clone()),
            zero_out: (in_zero_out, zero_out.clone()),
            sums: None,
            uses: None,
            numbers: numbers.joined(others)?,
        });
    }
    let path = args.runs.as_deref().unwrap_or(Path::new(""));
    with_runs(path, args.recorded.count_non_finite, |dataset| {
        let world = |name: &str| match dataset.array(name) {
            Ok(array) => Ok((array, path.to_path_buf())),
            Err(error @ FormatError::NotFound { .. }) => {
                let advice = "an audit needs both worlds: save them as `target` and `zero_out`, or \
                              pass --target FILE --zero-out FILE";
                Err(Failure::input(format!("{error}; {advice}")).about(path))
            }
            Err(error) => Err(Failure::from(error).about(path)),
        };
        Ok(RecordedArrays {
            target: world("target")?,
            zero_out: world("zero_out")?,
            sums: optional_pair(&dataset, path, ["sums_target", "sums_zero_out"])?,
            uses: optional_pair(&dataset, path, ["uses_target", "uses_zero_out"])?,
            numbers: FileParameters::read(&dataset, path)?,
        })
    })
}

/// Two arrays of which a file must have both or neither.
fn optional_pair(
    dataset: &Dataset<'_>,
    path: &Path,
    names: [&str; 2],
) -> Result<Option<[(Array, PathBuf); 2]>, Failure> {
    let read = |name: &str| match dataset.array(name) {
        Err(FormatError::NotFound { .. }) => Ok(None),
        array => array
            .map(|array| Some((array, path.to_path_buf())))
            .map_err(|error| Failure::from(error).about(path)),
    };
    match (read(names[0])?, read(names[1])?) {
        (Some(target), Some(zero_out)) => Ok(Some([target, zero_out])),
        (None, None) => Ok(None),
        (found, _) => {
            let [present, absent] = if found.is_some() { names } else { [names[1], names[0]] };
            let what = format!("contains `{present}` but not `{absent}`; save both or neither");
            Err(Failure::input(what).about(path))
        }
    }
}

/// Checks that optional arrays have the shape of their world's outputs.
fn beside(
    args: &OutputsArgs,
    arrays: Option<[(Array, PathBuf); 2]>,
    name: &str,
    outputs: [&Outputs; 2],
) -> Result<Option<[Outputs; 2]>, Failure> {
    let Some([target, zero_out]) = arrays else { return Ok(None) };
    let read = |array: (Array, PathBuf), outputs: &Outputs, of: &str| {
        let path = array.1.clone();
        check_runs(&array.0, &path, args.recorded.count_non_finite)?;
        let read = world(args, array)?;
        let [shape, expected] = [&read, outputs].map(|it| [it.runs, it.epochs, it.steps]);
        if shape == expected {
            return Ok(read);
        }
        let what = format!(
            "`{name}_{of}` has shape {shape:?} and `{of}` {expected:?}; record one number per step for \
             both"
        );
        Err(Failure::input(what).about(&path))
    };
    Ok(Some([read(target, outputs[0], "target")?, read(zero_out, outputs[1], "zero_out")?]))
}

/// Checks shapes and numbers, and brings outputs to the scale of sums in clip norms.
pub(super) fn prepare(
    args: &OutputsArgs,
    loaded: RecordedArrays,
) -> Result<(BatchedGaussian, [Outputs; 2], Beside, serde_json::Value), Failure> {
    let RecordedArrays { target, zero_out, sums, uses, numbers } = loaded;
    for (array, path) in [&target, &zero_out] {
        check_runs(array, path, args.recorded.count_non_finite)?;
    }
    let from = [target.1.display().to_string(), zero_out.1.display().to_string()];
    let clip_norm = agreed(args, "clip_norm", args.clip_norm, numbers.clip_norm)?;
    let (target, zero_out) = (world(args, target)?, world(args, zero_out)?);
    if (target.epochs, target.steps) != (zero_out.epochs, zero_out.steps) {
        return Err(Failure::input(format!(
            "the shapes of the worlds differ: target has {} epochs of {} steps, zero_out {} of {}; \
             record both with the same code",
            target.epochs, target.steps, zero_out.epochs, zero_out.steps
        )));
    }
    let requested = args.noise_multiplier;
    let noise_multiplier = agreed(args, "noise_multiplier", requested, numbers.noise_multiplier)?
        .ok_or_else(|| {
        Failure::input(
            "--noise-multiplier is missing, and the file contains no number noise_multiplier",
        )
    })?;
    let batch_size = batch_size(args, numbers.batch_size)?;
    let steps_per_epoch = whole(target.steps, "steps")?;
    let searches = searches_buffer(args);
    let dataset_size = args.records.of(args.sampler.sampler)?;
    let sampler = if searches {
        // Every prefix is scored as a full shuffle.
        SamplerKind::Shuffle.with_buffer(None)?
    } else {
        args.sampler.sampler(dataset_size)?
    };
    // truncated batches have the rate 1/T unless these are the steps of N records in batches of B
    let has_rate = |records: u64| match batch_size {
        Some(size) if sampler.kind().truncates() => {
            records.div_ceil(size.into()) == u64::from(steps_per_epoch)
        }
        size => size.is_some() || !sampler.kind().truncates(),
    };
    let mechanism = BatchedGaussian {
        noise_multiplier,
        steps_per_epoch,
        epochs: whole(target.epochs, "epochs")?,
        sampler,
        threat_model: args.sampler.threat_model(),
        batch_size,
        dataset_size: dataset_size.filter(|records| has_rate(*records)),
    };
    mechanism.distribution().map_err(|error| refused(args, &error))?;
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
        )
        .map_err(|error| refused(args, &error))?;
        Ok(outputs)
    };
    let beside = Beside {
        sums: match beside(args, sums, "sums", [&target, &zero_out])? {
            Some([target, zero_out]) => Some([rescaled(target)?, rescaled(zero_out)?]),
            None => None,
        },
        uses: beside(args, uses, "uses", [&target, &zero_out])?,
    };
    Ok((mechanism, [rescaled(target)?, rescaled(zero_out)?], beside, input))
}

/// Names the option of a parameter, or its number in the file.
pub(super) fn refused(args: &OutputsArgs, error: &MechanismError) -> Failure {
    let is_of_file = |name: &str| match name {
        "noise_multiplier" => args.noise_multiplier.is_none(),
        "clip_norm" => args.clip_norm.is_none(),
        "steps_per_epoch" | "epochs" => true,
        _ => false,
    };
    let name =
        |field| if is_of_file(field) { format!("the file's {field}") } else { option(field) };
    Failure::input(match error {
        MechanismError::Parameter {
            name: "batch_size",
            problem: problem @ ParameterProblem::Missing { .. },
        } => format!("--batch-size {problem}, or --per-batch-mean B if outputs are means"),
        other => other.in_terms_of(name),
    })
}

/// Whether the buffer of a partial shuffle is unknown.
pub(super) fn searches_buffer(args: &OutputsArgs) -> bool {
    args.sampler.sampler == SamplerKind::PartialShuffle && args.sampler.buffer_examples.is_none()
}

fn whole(value: usize, name: &str) -> Result<u32, Failure> {
    u32::try_from(value).map_err(|_| Failure::input(format!("too many {name}: {value}")))
}

/// A parameter of the training, on which option and file must agree.
fn agreed(
    args: &OutputsArgs,
    name: &str,
    requested: Option<f64>,
    in_file: Option<f64>,
) -> Result<Option<f64>, Failure> {
    match (requested, in_file) {
        // files may store numbers as 32-bit floats
        (Some(value), Some(other))
            if !((value - other).abs() <= 1e-6 * value.abs() || args.overrides) =>
        {
            let option = name.replace('_', "-");
            Err(Failure::input(format!(
                "--{option} is {value}, but the file contains {name} = {other}; leave the option \
                 out, or pass --override to use it"
            )))
        }
        _ => Ok(requested.or(in_file)),
    }
}

/// The batch size, on which options and file must agree.
fn batch_size(args: &OutputsArgs, in_file: Option<f64>) -> Result<Option<u32>, Failure> {
    let in_file = in_file.map(whole_batch_size).transpose()?;
    let is_requested = args.sampler.batch_size.is_some() || args.per_batch_mean.is_some();
    let in_file = in_file.filter(|_| !(args.overrides && is_requested));
    let sizes = [
        ("--batch-size", args.sampler.batch_size),
        ("--per-batch-mean", args.per_batch_mean),
        ("the file's batch_size", in_file),
    ];
    let mut sizes = sizes.into_iter().filter_map(|(name, size)| Some((name, size?)));
    let Some((name, size)) = sizes.next() else { return Ok(None) };
    match sizes.find(|&(_, other)| other != size) {
        None => Ok(Some(size)),
        Some((other_name, other)) => Err(Failure::input(format!(
            "{name} is {size} and {other_name} is {other}; a run has one batch size"
        ))),
    }
}

fn whole_batch_size(value: f64) -> Result<u32, Failure> {
    let is_valid = value.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&value);
    let invalid =
        || Failure::input(format!("the file's batch_size is {value}; expected a positive integer"));
    if is_valid { Ok(value as u32) } else { Err(invalid()) }
}

/// Interprets an array's shape: (runs, epochs, steps), or (runs, entries) with `--epochs`.
fn world(args: &OutputsArgs, (array, path): (Array, PathBuf)) -> Result<Outputs, Failure> {
    let (shape, values) = array.into_parts();
    let requested = args.epochs.map(|epochs| epochs as usize);
    let (runs, epochs, steps) = match *shape.as_slice() {
        [runs, epochs, steps] => match requested {
            Some(requested) if requested != epochs => {
                let what =
                    format!("has {epochs} epochs (shape {shape:?}), but --epochs is {requested}");
                return Err(Failure::input(what).about(&path));
            }
            _ => (runs, epochs, steps),
        },
        [runs, entries] => {
            let epochs = requested.unwrap_or(1);
            if epochs == 0 || entries % epochs != 0 {
                let what = format!(
                    "has rows of {entries} outputs, which cannot be split into {epochs} epochs"
                );
                return Err(Failure::input(what).about(&path));
            }
            (runs, epochs, entries / epochs)
        }
        _ => {
            return Err(Failure::input(format!(
                "has shape {shape:?}; expected (runs, epochs, steps) or (runs, steps)"
            ))
            .about(&path));
        }
    };
    Ok(Outputs { runs, epochs, steps, values })
}

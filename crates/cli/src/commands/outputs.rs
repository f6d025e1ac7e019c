//! `dpscope audit outputs`: outputs recorded from the user's own training runs.

use std::path::{Path, PathBuf};

use dpscope_core::audit::Outcome;
use dpscope_core::bound::{EpsilonEstimate, ThresholdRule};
use dpscope_core::mechanism::{
    BatchedGaussian, OutputOptions, OutputReference, OutputScorer, SamplerKind, ThreatModel,
    partial_shuffle_candidates, rescale_averaged,
};
use dpscope_engine::{RecordedAudit, RecordedScores};
use dpscope_formats::{Array, Dataset, Limits};

use super::independence::Independence;
use super::recorded::{Recorded, audit_of, check_finite, only_array};
use crate::args::OutputsArgs;
use crate::failure::{Done, Failure};
use crate::files::read;
use crate::report::{Subject, check_claim};
use crate::seed::seed_or_fresh;

/// Arrays of both worlds, and the numbers that a file may bring along.
struct Loaded {
    target: (Array, PathBuf),
    zero_out: (Array, PathBuf),
    noise_multiplier: Option<f64>,
    clip_norm: Option<f64>,
    batch_size: Option<f64>,
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

pub(crate) fn run(args: &OutputsArgs) -> Done {
    let started = std::time::Instant::now();
    check_claim(&args.claim, args.statement.delta)?;
    let (seed, seed_source) = seed_or_fresh(args.seed)?;
    let loaded = load(args)?;
    let (mechanism, target, zero_out, input) = prepare(args, loaded)?;
    let rule: ThresholdRule = args.threshold_rule.into();
    let audit = audit_of(rule, &args.statement, seed);
    let scored = Scored::new(args, &mechanism, &target, &zero_out)?;
    let (best, outcome, uncorrected) = scored.audit(&audit)?;
    let look = &scored.looks[best];
    let independence = Independence::of(mechanism.sampler, &target, &zero_out, look)?;
    let findings = [scored.notes(best), independence.findings()].concat();
    let recorded = Recorded {
        subject: Subject::RecordedOutputs,
        target: &look.target,
        zero_out: &look.zero_out,
        outcome,
        uncorrected,
        findings,
        independence: Some(independence),
        input,
    };
    recorded.report(&audit, seed_source, started, &args.claim)?.finish(args.show.json)
}

fn load(args: &OutputsArgs) -> Result<Loaded, Failure> {
    if let (Some(target), Some(zero_out)) = (&args.target, &args.zero_out) {
        return Ok(Loaded {
            target: (only_array(target)?, target.clone()),
            zero_out: (only_array(zero_out)?, zero_out.clone()),
            noise_multiplier: None,
            clip_norm: None,
            batch_size: None,
        });
    }
    let path = args.runs.as_deref().unwrap_or(Path::new(""));
    let limits = Limits::default();
    let bytes = read(path, &limits)?;
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let about = |error| Failure::from(error).about(path);
    let dataset = Dataset::open(&bytes, &name, &limits).map_err(about)?;
    let names: Vec<String> = dataset.names().into_iter().map(str::to_owned).collect();
    for needed in ["target", "zero_out"] {
        if !names.iter().any(|name| name == needed) {
            let found = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(Failure::input(format!(
                "has no array `{needed}` (found: {found}); an audit needs both worlds, save them as \
                 `target` and `zero_out`, or pass --target FILE --zero-out FILE"
            ))
            .about(path));
        }
    }
    let array = |name: &str| dataset.array(name).map_err(about);
    let number = |name: &str| -> Result<Option<f64>, Failure> {
        if !names.iter().any(|known| known == name) {
            return Ok(None);
        }
        let array = array(name)?;
        match array.data() {
            [value] => Ok(Some(*value)),
            _ => Err(Failure::input(format!("`{name}` is not a single number")).about(path)),
        }
    };
    Ok(Loaded {
        target: (array("target")?, path.to_path_buf()),
        zero_out: (array("zero_out")?, path.to_path_buf()),
        noise_multiplier: number("noise_multiplier")?,
        clip_norm: number("clip_norm")?,
        batch_size: number("batch_size")?,
    })
}

/// Checks shapes and numbers, and brings outputs to the scale of sums in clip norms.
fn prepare(
    args: &OutputsArgs,
    loaded: Loaded,
) -> Result<(BatchedGaussian, Outputs, Outputs, serde_json::Value), Failure> {
    let Loaded { target, zero_out, .. } = loaded;
    for (array, path) in [&target, &zero_out] {
        check_finite(array, path, args.count_non_finite)?;
    }
    let (from, clip_norm) = (
        [target.1.display().to_string(), zero_out.1.display().to_string()],
        args.clip_norm.or(loaded.clip_norm),
    );
    let (target, zero_out) = (world(args, target)?, world(args, zero_out)?);
    if (target.epochs, target.steps) != (zero_out.epochs, zero_out.steps) {
        return Err(Failure::input(format!(
            "the worlds' shapes differ: target has {} epochs of {} steps, zero_out {} of {}; record \
             both with the same code",
            target.epochs, target.steps, zero_out.epochs, zero_out.steps
        )));
    }
    let noise_multiplier = args.noise_multiplier.or(loaded.noise_multiplier).ok_or_else(|| {
        Failure::input(
            "--noise-multiplier is missing, and the file holds no number noise_multiplier",
        )
    })?;
    let batch_size = match args.sampler.batch_size.or(args.per_batch_mean) {
        Some(size) => Some(size),
        None => loaded.batch_size.map(whole_batch_size).transpose()?,
    };
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
    mechanism.law()?;
    let input = serde_json::json!({
        "target": from[0], "zero_out": from[1],
        "mechanism": mechanism, "clip_norm": clip_norm, "per_batch_mean": args.per_batch_mean,
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
fn searches_buffer(args: &OutputsArgs) -> bool {
    args.sampler.sampler == SamplerKind::PartialShuffle && args.sampler.buffer_examples.is_none()
}

fn whole(value: usize, name: &str) -> Result<u32, Failure> {
    u32::try_from(value).map_err(|_| Failure::input(format!("{value} {name} are too many")))
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

/// Scores of one way to look at the outputs.
pub(super) struct Look {
    /// Batches of an epoch that were scored.
    prefix: Option<u32>,
    pub(super) target: Vec<f64>,
    pub(super) zero_out: Vec<f64>,
}

struct Scored {
    looks: Vec<Look>,
}

impl Scored {
    fn new(
        args: &OutputsArgs,
        mechanism: &BatchedGaussian,
        target: &Outputs,
        zero_out: &Outputs,
    ) -> Result<Self, Failure> {
        let options =
            OutputOptions { reference: OutputReference::Sum, target_slot: args.target_step };
        let scorer = OutputScorer::new(mechanism, options).map_err(|error| {
            let hint = match mechanism.threat_model {
                ThreatModel::WorstCase if mechanism.batch_size.is_none() => {
                    "; pass --batch-size B, or --per-batch-mean B where outputs are means"
                }
                _ => "",
            };
            Failure::input(format!("{error}{hint}"))
        })?;
        if !searches_buffer(args) {
            // A run that has no finite score counts against the attack.
            let score = |outputs: &Outputs| -> Vec<f64> {
                outputs.iter().map(|run| scorer.score(run).unwrap_or(f64::NAN)).collect()
            };
            let look = Look { prefix: None, target: score(target), zero_out: score(zero_out) };
            return Ok(Scored { looks: vec![look] });
        }
        let prefixes = partial_shuffle_candidates(mechanism.steps_per_epoch);
        let mut looks: Vec<Look> = prefixes
            .iter()
            .map(|&k| Look { prefix: Some(k), target: Vec::new(), zero_out: Vec::new() })
            .collect();
        for (outputs, is_target) in [(target, true), (zero_out, false)] {
            for run in outputs.iter() {
                let scores = scorer.prefix_scores(run, &prefixes);
                let scores = scores.unwrap_or_else(|_| vec![f64::NAN; prefixes.len()]);
                for (look, score) in looks.iter_mut().zip(scores) {
                    let into = if is_target { &mut look.target } else { &mut look.zero_out };
                    into.push(score);
                }
            }
        }
        Ok(Scored { looks })
    }

    /// The best look and its outcome; a bound shares its significance among the looks.
    fn audit(&self, audit: &RecordedAudit) -> Result<(usize, Outcome, EpsilonEstimate), Failure> {
        let significance = audit.significance / self.looks.len() as f64;
        let shared = RecordedAudit { significance, ..*audit };
        let mut outcomes = Vec::with_capacity(self.looks.len());
        let mut estimates = Vec::with_capacity(self.looks.len());
        for look in &self.looks {
            let Look { target, zero_out, .. } = look;
            let scores = RecordedScores { target, zero_out, likelihood_ratios: true };
            let uncorrected = audit.threshold_rule == ThresholdRule::MaxUncorrected;
            let (outcome, estimate) = scores.audit(if uncorrected { audit } else { &shared })?;
            outcomes.push(outcome);
            estimates.push(estimate);
        }
        let values = outcomes.iter().map(Outcome::value).enumerate();
        let best = values.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(index, _)| index);
        let outcome = Outcome::best_of(&outcomes)
            .ok_or_else(|| Failure::input("the significance is too large for this many looks"))?;
        Ok((best, outcome, estimates[best]))
    }

    fn notes(&self, best: usize) -> Vec<String> {
        let Some(k) = self.looks[best].prefix else { return Vec::new() };
        let looks = self.looks.len();
        vec![format!(
            "the buffer was searched for: of {looks} prefixes the first {k} batches of an epoch \
             leak most; a bound shares its significance among the {looks} looks"
        )]
    }
}

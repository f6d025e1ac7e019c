//! Runs trained on the GPU agree with those of the CPU step by step, whatever the waves and faults.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dpscope_core::adjacency::World;
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::mechanism::{
    BatchSampler, BatchedGaussian, OutputOptions, OutputReference, OutputScorer, SamplerKind,
    ThreatModel, Truncation,
};
use dpscope_engine::{Control, EngineError, Unattended, UnitRange, begin, run};
use dpscope_shaders::train::Kernel;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Artefact, Plan, TrainingDigest, TrainingTally};
use dpscope_tests::simulate::sampler_with;
use dpscope_train::data::SyntheticData;
use dpscope_train::gpu::{OpenError, WaveLimits};
use dpscope_train::{
    Canary, CanaryDirection, DpSgd, LayerSpec, ModelSpec, OutputSink, Shape, TrainedModels,
    Training, TrainingSettings, WaveScores,
};
use libtest_mimic::{Failed, Trial};

use crate::audits::adapter;
use crate::training_runs::{Watch, edited, ensure};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("runs_do_not_depend_on_waves", runs_do_not_depend_on_waves),
        Trial::test("every_sampler_trains_as_on_the_cpu", every_sampler),
        Trial::test("broken_training_kernels_are_rejected", broken_training_kernels_are_rejected),
        Trial::test("models_that_do_not_fit_are_refused_with_the_reason", refusals),
        Trial::test("a_wave_that_does_not_fit_is_halved", a_wave_that_does_not_fit_is_halved),
        Trial::test("a_lost_device_costs_no_run", a_lost_device_costs_no_run),
        Trial::test("the_cpu_trains_without_a_device", the_cpu_trains_without_a_device),
        Trial::test("a_stopped_wave_is_trained_again", a_stopped_wave_is_trained_again),
        Trial::test("drawing_batches_can_be_stopped", drawing_batches_can_be_stopped),
        Trial::test("diverging_runs_fail_as_on_the_cpu", a_run_that_diverges),
        Trial::test("trained_runs_have_the_distribution_of_the_cpu", distributions),
    ]
}

const SEED: u64 = 11;
const STEPS: u32 = 5;
const BATCH: u32 = 20;

const MECHANISM: BatchedGaussian = BatchedGaussian {
    noise_multiplier: 1.0,
    steps_per_epoch: STEPS,
    epochs: 2,
    sampler: BatchSampler::Shuffle,
    threat_model: ThreatModel::PartiallyInformed,
    batch_size: Some(BATCH),
    dataset_size: None,
};

const SETTINGS: TrainingSettings = TrainingSettings {
    clip_norm: 0.7,
    learning_rate: 0.5,
    canary: Canary { direction: CanaryDirection::Random, is_fresh: true },
    debias_records: 0,
};

fn training(
    mechanism: BatchedGaussian,
    settings: TrainingSettings,
    seed: u64,
) -> Result<Training, Failed> {
    deep(1, mechanism, settings, seed)
}

/// A training of a model with `hidden` hidden layers.
fn deep(
    hidden: usize,
    mechanism: BatchedGaussian,
    settings: TrainingSettings,
    seed: u64,
) -> Result<Training, Failed> {
    let mut layers = [LayerSpec::Linear { outputs: 3 }, LayerSpec::Relu].repeat(hidden);
    layers.push(LayerSpec::Linear { outputs: 100 });
    let spec = ModelSpec { input: Shape::flat(600), layers };
    let examples = SyntheticData::P100Like.generate((BATCH * STEPS) as usize, 30)?;
    Ok(Training::new(&spec, examples, mechanism, settings, seed)?)
}

fn usual() -> Result<Training, Failed> {
    training(MECHANISM, SETTINGS, SEED)
}

/// Outputs by world and run.
type Outputs = BTreeMap<(usize, u64), Vec<f32>>;

#[derive(Debug, Clone, Default)]
struct SavedOutputs(Arc<Mutex<Outputs>>);

impl OutputSink for SavedOutputs {
    fn save(
        &self,
        world: World,
        range: UnitRange,
        outputs: &[f32],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let mut saved = self.0.lock().map_err(|_| "panicked")?;
        let length = outputs.len() / range.len() as usize;
        for (run, outputs) in (range.first..range.end).zip(outputs.chunks(length)) {
            if saved.insert((world.index(), run), outputs.to_vec()).is_some() {
                return Err(format!("run {run} is saved twice").into());
            }
        }
        Ok(())
    }
}

impl SavedOutputs {
    /// All bits, run by run.
    fn bits(&self) -> Vec<u32> {
        let saved = self.0.lock().expect("nothing panicked");
        saved.values().flatten().map(|output| output.to_bits()).collect()
    }
}

fn limits() -> WaveLimits {
    WaveLimits::of_memory(1 << 26)
}

fn reason(refused: Box<OpenError<DpSgd>>) -> String {
    refused.error.to_string()
}

/// A trainer on the adapter under test, and its outputs.
fn gpu(
    training: Training,
    limits: WaveLimits,
    change: Option<fn(&Kernel) -> String>,
) -> Result<(DpSgd, SavedOutputs), String> {
    let saved = SavedOutputs::default();
    let cpu = DpSgd::new(training, 0).map_err(|error| error.to_string())?;
    let cpu = cpu.with_sink(Box::new(saved.clone()));
    let adapter = adapter().ok_or("no adapter")?;
    let opening = cpu.on_device_within(adapter, limits, change, &|| true);
    let opened = pollster::block_on(opening);
    Ok((opened.map_err(reason)?, saved))
}

/// Scores and tallies of the first runs of each world, wave by wave.
fn trained(
    trainer: &DpSgd,
    runs: u64,
    control: &dyn Control,
) -> Result<(Vec<WaveScores>, [TrainingTally; 2]), EngineError> {
    let (mut waves, mut tallies) = (Vec::new(), [TrainingTally::default(); 2]);
    let mut first = 0;
    while first < runs {
        let range = UnitRange { first, end: runs };
        let trained = pollster::block_on(trainer.train(range, control))?;
        first = trained.range.end;
        tallies.iter_mut().zip(&trained.tallies).for_each(|(sum, tally)| sum.add(tally));
        waves.push(trained);
    }
    Ok((waves, tallies))
}

fn runs_do_not_depend_on_waves() -> Result<(), Failed> {
    let outputs = |limits: WaveLimits, seed: u64| -> Result<_, Failed> {
        let (trainer, saved) = gpu(training(MECHANISM, SETTINGS, seed)?, limits, None)?;
        let (waves, tallies) = trained(&trainer, 9, &Watch::new(&|_| true))?;
        Ok((waves, tallies, saved))
    };
    let (waves, tallies, saved) = outputs(limits(), SEED)?;
    let length = (2 * STEPS) as usize;
    ensure(saved.bits().len() == 2 * 9 * length, "outputs are missing")?;
    ensure(tallies[0].runs == 9 && tallies[1].evaluated == 8 * 30, format!("{tallies:?}"))?;
    let most = waves.iter().map(|wave| wave.range.len()).max();
    ensure(most.is_some_and(|most| most > 4), "waves are small already")?;
    let narrow = [
        WaveLimits { runs: 1, ..limits() },
        WaveLimits { runs: 4, ..limits() },
        WaveLimits { granted_bytes: 1 << 17, ..limits() },
        WaveLimits { work: 1 << 20, ..limits() },
        // dispatches are cut to single workgroups
        WaveLimits { work: 1, ..limits() },
        WaveLimits::of_memory(1 << 19),
    ];
    for limits in narrow {
        let (more, other_tallies, other) = outputs(limits, SEED)?;
        ensure(more.len() > waves.len(), format!("{limits:?}: {} waves", more.len()))?;
        ensure(other.bits() == saved.bits(), format!("{limits:?}: other outputs"))?;
        ensure(other_tallies == tallies, format!("{limits:?}: {other_tallies:?}"))?;
    }
    // the saved outputs are those that are scored
    let options = OutputOptions { reference: OutputReference::Sum, target_slot: 0 };
    let scorer = OutputScorer::new(&MECHANISM, options)?;
    let saved_outputs = saved.0.lock().expect("nothing panicked").clone();
    for (world, run) in [(0, 0), (0, 8), (1, 3)] {
        let outputs: Vec<f64> =
            saved_outputs[&(world, run)].iter().copied().map(f64::from).collect();
        let wave = waves.iter().find(|wave| wave.range.first <= run && run < wave.range.end);
        let wave = wave.ok_or("no such run")?;
        let score = wave.scores[world][(run - wave.range.first) as usize];
        ensure(scorer.score(&outputs)? == score, format!("run {run} of world {world}: {score}"))?;
    }
    let (_, _, other) = outputs(limits(), SEED + 1)?;
    ensure(other.bits() != saved.bits(), "another seed has the same outputs")
}

/// Opening compares steps with the CPU's; here with every sampler, canary and threat model.
fn every_sampler() -> Result<(), Failed> {
    let (records, most) = (u64::from(STEPS * BATCH), u64::from(BATCH) + 2);
    let truncation = Truncation { dataset_size: records, max_batch_size: most };
    for kind in SamplerKind::ALL {
        if kind == SamplerKind::BatchThenShuffle {
            continue; // nothing is trained
        }
        let sampler = match kind {
            SamplerKind::RandomAllocation => BatchSampler::RandomAllocation { uses_per_epoch: 2 },
            _ => sampler_with(kind, 33, truncation),
        };
        let trained_under = |threat_model: &&ThreatModel| **threat_model != ThreatModel::WorstCase;
        let most = if kind == SamplerKind::Shuffle { 2 } else { 1 };
        for &threat_model in kind.threat_models().iter().filter(trained_under).take(most) {
            let mechanism = BatchedGaussian { sampler, threat_model, ..MECHANISM };
            let direction = match threat_model {
                ThreatModel::TargetCanary => CanaryDirection::Dirac,
                _ => CanaryDirection::Random,
            };
            let is_fixed = matches!(kind, SamplerKind::Poisson | SamplerKind::Deterministic);
            let canary = Canary { direction, is_fresh: !is_fixed };
            let settings = TrainingSettings { canary, ..SETTINGS };
            let what = format!("{kind}, {threat_model}");
            let (trainer, _) = gpu(training(mechanism, settings, SEED)?, limits(), None)
                .map_err(|error| format!("{what}: {error}"))?;
            let (_, tallies) = trained(&trainer, 3, &Watch::new(&|_| true))?;
            let cpu = DpSgd::new(training(mechanism, settings, SEED)?, 0)?;
            let (_, expected) = trained(&cpu, 3, &Watch::new(&|_| true))?;
            for (found, expected) in tallies.iter().zip(&expected) {
                let counts = |tally: &TrainingTally| {
                    (tally.runs, tally.outputs, tally.canaries, tally.evaluated)
                };
                ensure(counts(found) == counts(expected), format!("{what}: {found:?}"))?;
                let [found, expected] = [found, expected].map(|tally| tally.bias().unwrap_or(9.0));
                ensure((found - expected).abs() < 0.02, format!("{what}: {found}, {expected}"))?;
            }
        }
    }
    Ok(())
}

fn broken_training_kernels_are_rejected() -> Result<(), Failed> {
    fn refused(what: &str, part: &str, change: fn(&Kernel) -> String) -> Result<(), Failed> {
        match gpu(usual()?, limits(), Some(change)) {
            Ok(_) => Err(format!("the broken twin passes: {what}").into()),
            Err(reason) => ensure(
                reason.contains("self-test: run") && reason.contains(part),
                format!("{what}: {reason}"),
            ),
        }
    }
    gpu(usual()?, limits(), Some(Kernel::source))?;
    refused("noise x 0.9", "output", |kernel| {
        edited(kernel, "finish", "+ NOISE * normal", "+ 0.9 * NOISE * normal")
    })?;
    refused("clipping x sqrt 2", "CPU", |kernel| {
        edited(kernel, "factors", "min(bounded, 1.0)", "min(1.414 * bounded, 1.0)")
    })?;
    refused("the target's own gradient", "row", |kernel| {
        edited(kernel, "select_rows", "has_target && index >= slot", "false")
    })?;
    refused("no canary", "output", |kernel| {
        edited(kernel, "finish", "multiple * direction", "0.0 * direction")
    })?;
    refused("parameters that stay", "parameters", |kernel| {
        edited(kernel, "finish", "theta[place] -= RATE * sum;", "")
    })
}

fn refusals() -> Result<(), Failed> {
    let refused = |training: Training, limits: WaveLimits, parts: &[&str]| -> Result<(), Failed> {
        let reason = gpu(training, limits, None).map_or_else(|reason| reason, |_| String::new());
        let all = parts.iter().all(|part| reason.contains(part));
        ensure(all, format!("`{parts:?}` not in: {reason}"))
    };
    refused(usual()?, WaveLimits::of_memory(1 << 10), &["MiB", "may be used"])?;
    let debiased = TrainingSettings { debias_records: 9, ..SETTINGS };
    refused(training(MECHANISM, debiased, SEED)?, limits(), &["debias_records", "CPU only"])?;
    let cpu = DpSgd::new(usual()?, 0)?;
    let adapter = adapter().ok_or("no adapter")?;
    match pollster::block_on(cpu.on_device_within(adapter, limits(), None, &|| false)) {
        Err(refused) => ensure(matches!(refused.error, EngineError::Stopped), refused.error),
        Ok(_) => Err("the self-test did not stop".into()),
    }
}

fn a_wave_that_does_not_fit_is_halved() -> Result<(), Failed> {
    let runs = 12;
    let (whole, expected) = gpu(usual()?, limits(), None)?;
    trained(&whole, runs, &Watch::new(&|_| true))?;
    let limits = WaveLimits { planned_bytes: Some(u64::MAX), granted_bytes: 1 << 17, ..limits() };
    let (trainer, saved) = gpu(usual()?, limits, None)?;
    let watch = Watch::new(&|_| true);
    let (waves, _) = trained(&trainer, runs, &watch)?;
    let warnings = watch.warnings();
    let is_reported = warnings.len() == 1 && warnings[0].contains("runs of each world at a time");
    ensure(is_reported, format!("{warnings:?}"))?;
    ensure(waves.len() > 1, format!("{} waves", waves.len()))?;
    ensure(saved.bits() == expected.bits(), "other outputs")
}

/// Counts, outputs and warnings of a plan whose device is lost before a submission.
fn losing(
    lost_at: usize,
    may_reopen: bool,
) -> Result<(Artefact, SavedOutputs, Vec<String>), Failed> {
    let limits = WaveLimits { runs: 4, work: 1 << 20, ..limits() };
    let (trainer, saved) = gpu(usual()?, limits, None)?;
    if !may_reopen {
        trainer.forbid_reopening();
    }
    let plan = Plan {
        mechanism: MECHANISM,
        observations: 18,
        delta: 1e-5,
        significance: 0.05,
        threshold_rule: ThresholdRule::Simultaneous,
        cuts: Plan::DEFAULT_CUTS,
        seed: SEED,
        training: Some(TrainingDigest::of(trainer.training().description())),
    };
    let models = TrainedModels::new(plan.validated()?, trainer, CpuBackend::new(0)?)?;
    let lose = |submission: usize| {
        if submission == lost_at {
            models.trainer().lose_device();
        }
        true
    };
    let watch = Watch::new(&lose);
    let start = begin(&models, UnitRange { first: 0, end: 9 }, &Unattended)?;
    let state = pollster::block_on(run(&models, start, &watch))?;
    let is_lost = watch.calls() > lost_at;
    ensure(is_lost && state.is_complete(), format!("not lost at {lost_at}"))?;
    Ok((state, saved, watch.warnings()))
}

fn a_lost_device_costs_no_run() -> Result<(), Failed> {
    let (trainer, expected) = gpu(usual()?, limits(), None)?;
    trained(&trainer, 9, &Watch::new(&|_| true))?;
    for lost_at in [0, 1, 2, 9, 30] {
        let (state, saved, warnings) = losing(lost_at, true)?;
        let is_reported = warnings.len() == 1 && warnings[0].ends_with("reopened");
        ensure(is_reported, format!("lost at {lost_at}: {warnings:?}"))?;
        ensure(state.fallback_shards == 0, "the CPU trained")?;
        ensure(saved.bits() == expected.bits(), format!("lost at {lost_at}: other outputs"))?;
    }
    Ok(())
}

fn the_cpu_trains_without_a_device() -> Result<(), Failed> {
    let (state, saved, warnings) = losing(12, false)?;
    let is_reported = warnings.len() == 1 && warnings[0].ends_with("continuing on the CPU");
    ensure(is_reported, format!("{warnings:?}"))?;
    let is_noted =
        state.fallback_shards > 0 && state.devices.iter().any(|name| name.starts_with("cpu"));
    ensure(is_noted && saved.bits().len() == (2 * 9 * 2 * STEPS) as usize, "runs are missing")
}

fn a_stopped_wave_is_trained_again() -> Result<(), Failed> {
    let (trainer, saved) = gpu(usual()?, WaveLimits { work: 1 << 20, ..limits() }, None)?;
    for stop_at in [0, 1, 7] {
        let keep_going = |submission| submission < stop_at;
        let watch = Watch::new(&keep_going);
        let stopped = trained(&trainer, 9, &watch);
        ensure(matches!(stopped, Err(EngineError::Stopped)), format!("not stopped at {stop_at}"))?;
        let calls = watch.calls();
        ensure(calls == stop_at + 1, format!("{calls} calls"))?;
    }
    ensure(saved.bits().is_empty(), "a stopped wave is saved")?;
    trained(&trainer, 9, &Watch::new(&|_| true))?;
    let (other, expected) = gpu(usual()?, limits(), None)?;
    trained(&other, 9, &Watch::new(&|_| true))?;
    ensure(saved.bits() == expected.bits(), "other outputs")
}

fn drawing_batches_can_be_stopped() -> Result<(), Failed> {
    let mechanism = BatchedGaussian {
        sampler: BatchSampler::Poisson,
        threat_model: ThreatModel::TargetCanary,
        ..MECHANISM
    };
    let (trainer, saved) = gpu(training(mechanism, SETTINGS, SEED)?, limits(), None)?;
    let train_until = |most: usize| -> Result<(usize, bool), Failed> {
        let keep_going = |calls| calls < most;
        let watch = Watch::new(&keep_going);
        let range = UnitRange { first: 0, end: 20 };
        let is_stopped = match pollster::block_on(trainer.train(range, &watch)) {
            Ok(trained) => ensure(trained.range == range, "a smaller wave").map(|()| false)?,
            Err(EngineError::Stopped) => true,
            Err(error) => return Err(error.into()),
        };
        Ok((watch.calls(), is_stopped))
    };
    // before the batches of each model and epoch, before each submission, before each score
    let (all, is_stopped) = train_until(usize::MAX)?;
    ensure(!is_stopped && all >= 40 * 2 + 10 + 40, format!("{all} calls"))?;
    let all_saved = saved.bits().len();
    for most in [0, 1, 39, 60] {
        let (calls, is_stopped) = train_until(most)?;
        ensure(is_stopped && calls > most, format!("{calls} calls, to stop at {most}"))?;
        // 40 batches per epoch, and no submission after them
        ensure(most > 39 || calls <= 40, format!("{calls} calls, to stop at {most}"))?;
    }
    ensure(saved.bits().len() == all_saved, "a stopped wave is saved")
}

fn a_run_that_diverges() -> Result<(), Failed> {
    let mechanism = BatchedGaussian { noise_multiplier: 20.0, epochs: 8, ..MECHANISM };
    let settings = TrainingSettings { clip_norm: 1e6, learning_rate: 1e6, ..SETTINGS };
    let (trainer, saved) = gpu(deep(4, mechanism, settings, SEED)?, limits(), None)?;
    let (waves, tallies) = trained(&trainer, 4, &Watch::new(&|_| true))?;
    let cpu = DpSgd::new(deep(4, mechanism, settings, SEED)?, 0)?;
    let (_, expected) = trained(&cpu, 4, &Watch::new(&|_| true))?;
    let failed = |tallies: &[TrainingTally; 2]| tallies[0].failed + tallies[1].failed;
    let (failed, expected) = (failed(&tallies), failed(&expected));
    ensure(failed > 0 && expected > 0, format!("{failed} failed, and {expected} on the CPU"))?;
    let saved = saved.0.lock().expect("nothing panicked").clone();
    let scores = |world: usize| waves.iter().flat_map(move |wave| &wave.scores[world]);
    for ((world, run), outputs) in saved {
        let score = scores(world).nth(run as usize).copied().unwrap_or(0.0);
        let place = outputs.iter().position(|output| !output.is_finite());
        ensure(place.is_some() == score.is_nan(), format!("run {run}: {score}, {outputs:?}"))?;
        let rest = place.map_or(&[][..], |place| &outputs[place + 1..]);
        ensure(rest.iter().all(|output| output.is_nan()), format!("run {run}: {outputs:?}"))?;
    }
    Ok(())
}

/// Residual variance of the outputs, and the chance that a score of D is above one of D′.
fn distribution(waves: &[WaveScores], tallies: &[TrainingTally; 2]) -> Result<[f64; 2], Failed> {
    let mut whole = tallies[0];
    whole.add(&tallies[1]);
    let of_world = |world: usize| waves.iter().flat_map(move |wave| wave.scores[world].clone());
    let zero_out: Vec<f64> = of_world(1).collect();
    let above = |score: f64| zero_out.iter().filter(|&&other| other < score).count();
    let pairs: usize = of_world(0).map(above).sum();
    let auc = pairs as f64 / (zero_out.len() * zero_out.len()) as f64;
    Ok([whole.residual_variance().ok_or("no outputs")?, auc])
}

fn distributions() -> Result<(), Failed> {
    let runs = 150;
    let watch = Watch::new(&|_| true);
    let (trainer, _) = gpu(usual()?, limits(), None)?;
    let (waves, tallies) = trained(&trainer, runs, &watch)?;
    let found = distribution(&waves, &tallies)?;
    let of_cpu = |mechanism: BatchedGaussian, seed: u64| -> Result<[f64; 2], Failed> {
        let cpu = DpSgd::new(training(mechanism, SETTINGS, seed)?, 0)?;
        let (waves, tallies) = trained(&cpu, runs, &watch)?;
        distribution(&waves, &tallies)
    };
    // standard errors of two that are independent, in which they differ less than four times
    let outputs = f64::from(2 * STEPS) * 2.0 * runs as f64;
    let errors = [(2.0 * 2.0 / outputs).sqrt(), (2.0 / (6.0 * runs as f64)).sqrt()];
    let differs = |other: [f64; 2]| (0..2).any(|i| (found[i] - other[i]).abs() > 4.0 * errors[i]);
    let others = [of_cpu(MECHANISM, SEED)?, of_cpu(MECHANISM, SEED + 1)?];
    for other in others {
        ensure(!differs(other), format!("{found:?} on the GPU, {other:?} on the CPU"))?;
    }
    // broken twin: noise × 0.9 of what outputs are scored with, as a residual's variance shows
    let quieter = found[0] * 0.81;
    ensure(differs([quieter, found[1]]), "too few runs to detect another noise")
}

//! Runs of trained models are divided, stopped and joined like any other.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_engine::{
    ArtefactError, Control, EngineError, MergeOptions, Progress, RunControl, Shard, Unattended,
    begin, merge, run,
};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Artefact, Evaluate, Plan, TrainingDigest};
use dpscope_train::data::SyntheticData;
use dpscope_train::{
    Canary, CanaryDirection, DpSgd, LayerSpec, ModelSpec, Shape, TrainedModels, Training,
    TrainingSettings,
};

const MECHANISM: BatchedGaussian = BatchedGaussian {
    noise_multiplier: 1.0,
    steps_per_epoch: 4,
    epochs: 1,
    sampler: BatchSampler::Shuffle,
    threat_model: ThreatModel::PartiallyInformed,
    batch_size: Some(5),
    dataset_size: None,
};

const RUNS: u64 = 60;

fn trainer(clip_norm: f64) -> DpSgd {
    let layers = vec![LayerSpec::Linear { outputs: 100 }];
    let spec = ModelSpec { input: Shape::flat(600), layers };
    let canary = Canary { direction: CanaryDirection::Random, is_fresh: true };
    let settings = TrainingSettings { clip_norm, learning_rate: 0.5, canary, debias_records: 0 };
    let examples = SyntheticData::P100Like.generate(20, 10).unwrap();
    let training = Training::new(&spec, examples, MECHANISM, settings, 3).unwrap();
    DpSgd::new(training, 2).unwrap()
}

fn plan(training: Option<TrainingDigest>) -> Plan {
    Plan {
        mechanism: MECHANISM,
        observations: 2 * RUNS,
        delta: 1e-5,
        significance: 0.05,
        threshold_rule: ThresholdRule::Simultaneous,
        cuts: Plan::DEFAULT_CUTS,
        seed: 3,
        training,
    }
}

fn models() -> TrainedModels {
    let trainer = trainer(1.0);
    let plan = plan(Some(TrainingDigest::of(trainer.training().description())));
    TrainedModels::new(plan.validated().unwrap(), trainer, CpuBackend::new(1).unwrap()).unwrap()
}

fn counted(models: &TrainedModels, shard: Shard) -> Artefact {
    let start = begin(models, shard.range(RUNS).unwrap(), &Unattended).unwrap();
    pollster::block_on(run(models, start, &Unattended)).unwrap()
}

fn assert_equal(found: &Artefact, expected: &Artefact) {
    assert!(found.is_complete());
    assert_eq!(found.histogram_digest(), expected.histogram_digest());
    assert_eq!(found.evidence, expected.evidence);
    assert_eq!(found.outcome().unwrap(), expected.outcome().unwrap());
}

#[test]
fn shards_merge_to_the_whole() {
    let models = models();
    let whole = counted(&models, Shard::WHOLE);
    let parts: Vec<Artefact> = [3, 1, 2]
        .map(|index| counted(&models, Shard { index, count: 3 }))
        .map(|part| Artefact::from_bytes(&part.to_bytes()).unwrap())
        .into();
    assert_equal(&merge(parts, MergeOptions::default()).unwrap(), &whole);
    let tally = whole.evidence.training.as_ref().unwrap().whole();
    assert_eq!((tally.runs, tally.outputs), (2 * RUNS, 2 * RUNS * 4));
}

/// Stops after each wave.
#[derive(Default)]
struct Stopping {
    waves: AtomicUsize,
    last: Mutex<Option<Artefact>>,
}

impl Control for Stopping {
    fn keep_going(&self) -> bool {
        self.waves.load(Ordering::SeqCst) == 0
    }

    fn now_ms(&self) -> f64 {
        0.0
    }
}

impl RunControl<Plan> for Stopping {
    fn after_wave(
        &self,
        state: &Artefact,
        _: Progress,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.waves.fetch_add(1, Ordering::SeqCst);
        *self.last.lock().unwrap() = Some(state.clone());
        Ok(())
    }
}

#[test]
fn stopped_runs_resume() {
    let models = models();
    let mut state = begin(&models, Shard::WHOLE.range(RUNS).unwrap(), &Unattended).unwrap();
    let mut stops = 0;
    let finished = loop {
        let control = Stopping::default();
        match pollster::block_on(run(&models, state, &control)) {
            Ok(finished) => break finished,
            Err(EngineError::Stopped) => {
                stops += 1;
                let last = control.last.into_inner().unwrap().unwrap();
                state = Artefact::from_bytes(&last.to_bytes()).unwrap();
            }
            Err(error) => panic!("{error}"),
        }
    };
    assert!(stops > 3, "{stops}");
    assert_equal(&finished, &counted(&models, Shard::WHOLE));
}

#[test]
fn another_training_is_refused() {
    let refused = |training: Option<TrainingDigest>| {
        let (plan, cpu) = (plan(training).validated().unwrap(), CpuBackend::new(1).unwrap());
        TrainedModels::new(plan, trainer(1.0), cpu).unwrap_err().to_string()
    };
    let other = TrainingDigest::of(trainer(2.0).training().description());
    assert!(refused(Some(other)).contains("a different model, data set or options"));
    assert!(refused(None).contains("a simulated mechanism, not trained models"));
}

#[test]
fn damaged_statistics_are_refused() {
    let good = counted(&models(), Shard { index: 1, count: 2 });
    let changes: [fn(&mut Artefact); 4] = [
        |state| state.evidence.training = None,
        |state| state.plan.training = None,
        |state| state.evidence.training.as_mut().unwrap().description.push(' '),
        |state| {
            let training = state.evidence.training.as_mut().unwrap();
            training.add(&[*training.tally(dpscope_core::adjacency::World::Target); 2]);
        },
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut bad = good.clone();
        change(&mut bad);
        let refused = Artefact::from_bytes(&bad.to_bytes());
        assert!(matches!(refused, Err(ArtefactError::Inconsistent { .. })), "{index}");
    }
}

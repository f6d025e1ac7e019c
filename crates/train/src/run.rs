//! One run of DP-SGD with the canary inserted.

use dpscope_core::adjacency::World;
use dpscope_core::random::Purpose;
use dpscope_shaders::random::VectorNormals;
use dpscope_shaders::train::EpochBatches;
use dpscope_simulation::TrainingTally;

use crate::canary::dot;
use crate::gradient::{Rows, Workspace};
use crate::observed::{Batch, LearnedSoFar, RunResult, world_of};
use crate::training::Training;

/// Held-out examples that are evaluated at a time.
const EVALUATED_ROWS: usize = 256;

/// Executes runs, with the scratch memory of one thread.
#[derive(Debug)]
pub struct Runner<'a> {
    training: &'a Training,
    workspace: Workspace,
    normals: VectorNormals,
    epoch: EpochBatches,
    canary: Vec<f32>,
    parameters: Vec<f32>,
    sum: Vec<f32>,
    records: Vec<u32>,
    rows: Vec<f32>,
    labels: Vec<u32>,
    norms: Vec<f32>,
}

/// Outputs of a run, with the attacker's contribution to each batch.
#[derive(Debug, Default)]
pub(crate) struct Trajectory {
    pub(crate) outputs: Vec<f32>,
    pub(crate) batches: Vec<Batch>,
}

/// A step of a run.
#[derive(Debug, Clone, Copy)]
struct StepPosition {
    world: World,
    step: usize,
    /// Number of earlier steps of the run.
    before: u64,
}

/// The result of one step.
#[cfg(feature = "gpu")]
#[derive(Debug)]
pub(crate) struct StepResult {
    /// The records whose own gradients entered the sum, in order.
    pub(crate) records: Vec<u32>,
    /// The attacker's contribution.
    pub(crate) batch: Batch,
    /// Parameters θ after the step.
    pub(crate) parameters: Vec<f32>,
    /// Output o.
    pub(crate) output: f32,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(training: &'a Training) -> Self {
        let count = training.network.parameters();
        let max_rows = training.max_rows();
        Runner {
            training,
            workspace: Workspace::new(&training.network, max_rows),
            normals: VectorNormals::new(training.seed, Purpose::TrainNoise, 0),
            epoch: EpochBatches::default(),
            canary: vec![0.0; count],
            parameters: vec![0.0; count],
            sum: vec![0.0; count],
            records: Vec::new(),
            rows: Vec::new(),
            labels: Vec::new(),
            norms: Vec::new(),
        }
    }

    /// Executes the run of a stream; `None` if `keep_going` returned false.
    pub(crate) fn run(
        &mut self,
        stream: u64,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<(RunResult, TrainingTally)> {
        let mut tally = TrainingTally::default();
        let Trajectory { outputs, batches } = self.train(world_of(stream), stream, keep_going)?;
        let result = self.training.score_run(outputs, batches, &mut tally);
        if stream / 2 < self.training.evaluated_runs() {
            self.evaluate(&mut tally);
        }
        Some((result, tally))
    }

    /// Trains a model with the random words of a stream, up to the first output that is not finite.
    pub(crate) fn train(
        &mut self,
        world: World,
        stream: u64,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<Trajectory> {
        self.train_observed(world, stream, keep_going, &mut |_, _| {})
    }

    /// As [`train`](Self::train); `observe` is called before the first step and after each, with the
    /// number of steps so far.
    pub(crate) fn train_observed(
        &mut self,
        world: World,
        stream: u64,
        keep_going: &dyn Fn() -> bool,
        observe: &mut dyn FnMut(&mut Self, usize),
    ) -> Option<Trajectory> {
        let training = self.training;
        self.begin(stream);
        let mut trajectory = Trajectory::default();
        observe(self, 0);
        for epoch in 0..training.mechanism.epochs {
            training.batches.draw(training.seed, stream, epoch, &mut self.epoch);
            for step in 0..training.mechanism.steps_per_epoch as usize {
                if !keep_going() {
                    return None;
                }
                let before = trajectory.outputs.len() as u64;
                let (output, batch) = self.step(StepPosition { world, step, before });
                trajectory.outputs.push(output);
                trajectory.batches.push(batch);
                if !output.is_finite() {
                    return Some(trajectory);
                }
                observe(self, trajectory.outputs.len());
            }
        }
        Some(trajectory)
    }

    /// Executes step `before` of a run, counted over all epochs, from the given parameters.
    #[cfg(feature = "gpu")]
    pub(crate) fn step_from(&mut self, stream: u64, before: u64, parameters: &[f32]) -> StepResult {
        let (training, world) = (self.training, world_of(stream));
        let steps = u64::from(training.mechanism.steps_per_epoch);
        let (epoch, step) = ((before / steps) as u32, (before % steps) as usize);
        self.begin(stream);
        self.parameters.copy_from_slice(parameters);
        training.batches.draw(training.seed, stream, epoch, &mut self.epoch);
        let (output, batch) = self.step(StepPosition { world, step, before });
        let (records, parameters) = (self.records.clone(), self.parameters.clone());
        StepResult { records, batch, parameters, output }
    }

    /// Evaluates a model with the given parameters on the held-out examples.
    #[cfg(feature = "gpu")]
    pub(crate) fn evaluate_parameters(&mut self, parameters: &[f32], tally: &mut TrainingTally) {
        self.parameters.copy_from_slice(parameters);
        self.evaluate(tally);
    }

    /// Sets parameters, canary and noise stream for a run.
    fn begin(&mut self, stream: u64) {
        let training = self.training;
        self.parameters.copy_from_slice(&training.initial);
        self.normals.set_stream(stream);
        training.settings.canary.draw(
            training.seed,
            stream,
            training.zero_gradient_parameter,
            &mut self.canary,
        );
    }

    /// One step of DP-SGD; returns the attacker's output o = ⟨Σ clipped gradients + noise, ĝ⟩/C.
    fn step(&mut self, position: StepPosition) -> (f32, Batch) {
        let training = self.training;
        let batch = self.select_batch(position);
        let debias = self.mean_gradient_along_canary() * training.expected_other_records();
        training.examples.fill(&self.records, &mut self.rows, &mut self.labels);
        self.sum_clipped();
        let canary = (batch.mean * training.settings.clip_norm) as f32;
        if canary != 0.0 {
            let entries = self.sum.iter_mut().zip(&self.canary);
            entries.for_each(|(sum, direction)| *sum += canary * direction);
        }
        let noise = (training.mechanism.noise_multiplier * training.settings.clip_norm) as f32;
        self.normals.add(position.before, noise, &mut self.sum);
        let output = dot(&self.sum, &self.canary) / training.settings.clip_norm - debias;
        let rate = (training.settings.learning_rate / training.mean_batch_size()) as f32;
        let entries = self.parameters.iter_mut().zip(&self.sum);
        entries.for_each(|(parameter, sum)| *parameter -= rate * sum);
        (output as f32, batch)
    }

    /// Selects the records of the batch; returns the attacker's contribution.
    fn select_batch(&mut self, position: StepPosition) -> Batch {
        let members = self.epoch.members_at(position.step);
        self.training.select_records(position.world, members, &mut self.records)
    }

    /// ⟨mean clipped gradient, ĝ⟩/C over the records that estimate the others; 0 if there are none.
    fn mean_gradient_along_canary(&mut self) -> f64 {
        let training = self.training;
        let all: Vec<u32> = training.debias_records().collect();
        if all.is_empty() {
            return 0.0;
        }
        let mut along = 0.0;
        for records in all.chunks(training.max_rows().max(1)) {
            training.examples.fill(records, &mut self.rows, &mut self.labels);
            self.sum_clipped();
            along += dot(&self.sum, &self.canary);
        }
        along / training.settings.clip_norm / all.len() as f64
    }

    /// Computes the sum of clipped per-example gradients of the rows.
    fn sum_clipped(&mut self) {
        self.training.network.clipped_sum(
            &self.parameters,
            Rows { examples: &self.rows, labels: &self.labels },
            self.training.settings.clip_norm as f32,
            &mut self.workspace,
            &mut self.sum,
            &mut self.norms,
        );
    }

    /// Loss and accuracy on the held-out examples; `None` if there are none.
    pub(crate) fn learned(&mut self, steps: usize) -> Option<LearnedSoFar> {
        let training = self.training;
        let held_out = training.examples.held_out()?;
        let all: Vec<u32> = (0..held_out.len() as u32).collect();
        let mut losses = Vec::with_capacity(all.len());
        let mut correct = 0;
        for records in all.chunks(EVALUATED_ROWS) {
            held_out.fill(records, &mut self.rows, &mut self.labels);
            let rows = Rows { examples: &self.rows, labels: &self.labels };
            let Self { parameters, workspace, .. } = self;
            training.network.losses(parameters, rows, workspace, &mut losses);
            correct += training.network.correct(parameters, rows, workspace);
        }
        let loss = losses.iter().sum::<f64>() / losses.len() as f64;
        Some(LearnedSoFar { steps, loss, accuracy: correct as f64 / all.len() as f64 })
    }

    /// Evaluates the model on the held-out examples.
    pub(crate) fn evaluate(&mut self, tally: &mut TrainingTally) {
        let training = self.training;
        let Some(held_out) = training.examples.held_out() else { return };
        let all: Vec<u32> = (0..held_out.len() as u32).collect();
        for records in all.chunks(EVALUATED_ROWS) {
            held_out.fill(records, &mut self.rows, &mut self.labels);
            let rows = Rows { examples: &self.rows, labels: &self.labels };
            let correct = training.network.correct(&self.parameters, rows, &mut self.workspace);
            tally.evaluated += records.len() as u64;
            tally.correct += correct as u64;
        }
    }
}

/// Largest number of records processed together; larger batches are split.
pub(crate) fn max_rows(mean_batch_size: f64, is_fixed_size: bool) -> usize {
    let spread = 6.0 * mean_batch_size.sqrt();
    mean_batch_size.ceil() as usize + if is_fixed_size { 0 } else { spread as usize }
}

impl Training {
    /// Largest number of records processed together; larger batches are split.
    pub(crate) fn max_rows(&self) -> usize {
        max_rows(self.mean_batch_size(), self.batches.is_fixed_size())
    }

    /// The mean number of records in a batch. Sums of gradients are divided by it: the actual number
    /// must not be used, which would reveal whether the target is in the batch.
    pub(crate) fn mean_batch_size(&self) -> f64 {
        self.mechanism.mean_batch_size().unwrap_or(1.0)
    }

    /// Expected number of records of a batch whose own gradients enter the sum.
    fn expected_other_records(&self) -> f64 {
        let from_attacker = if self.is_informed() { 1.0 } else { self.mechanism.sampling_rate() };
        self.mean_batch_size() - from_attacker
    }

    /// The records that estimate the mean gradient of the others: those after the target.
    fn debias_records(&self) -> std::ops::Range<u32> {
        1..self.settings.debias_records.saturating_add(1).min(self.batches.records())
    }
}

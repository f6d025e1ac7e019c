//! One run of DP-SGD, with the canary in place.

use dpscope_core::adjacency::World;
use dpscope_engine::TrainingTally;
use dpscope_shaders::random::{Purpose, VectorNormals};
use dpscope_shaders::train::EpochBatches;

use crate::canary::dot;
use crate::gradient::{Rows, Workspace};
use crate::observed::{Batch, RunResult};
use crate::training::Training;

/// Held-out examples that a model is asked about at a time.
const EVALUATED_ROWS: usize = 256;

/// The scratch memory of one thread.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
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

/// Outputs of a run as they come, with their batches.
#[derive(Debug, Default)]
pub(crate) struct Trajectory {
    outputs: Vec<f32>,
    batches: Vec<Batch>,
}

/// A step's place in a run.
#[derive(Debug, Clone, Copy)]
struct Place {
    world: World,
    step: usize,
    /// Steps of the run before it.
    before: u64,
}

/// What one step makes of a model.
#[cfg(feature = "gpu")]
#[derive(Debug)]
pub(crate) struct StepResult {
    /// The records whose own gradients count, in their order.
    pub(crate) records: Vec<u32>,
    /// What stood for the others.
    pub(crate) batch: Batch,
    /// θ after it.
    pub(crate) parameters: Vec<f32>,
    /// o.
    pub(crate) output: f32,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(training: &'a Training) -> Self {
        let count = training.network.parameters();
        let most_rows = training.most_rows();
        Runner {
            training,
            workspace: Workspace::new(&training.network, most_rows),
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

    /// Trains run `run` of a world; none where `keep_going` says no.
    pub(crate) fn run(
        &mut self,
        world: World,
        run: u64,
        tally: &mut TrainingTally,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<RunResult> {
        let stream = 2 * run + world.index() as u64;
        let Trajectory { outputs, batches } = self.follow(world, stream, keep_going)?;
        let ran = self.training.scored(outputs, batches, tally);
        if run < self.training.evaluated_runs() {
            self.evaluate(tally);
        }
        Some(ran)
    }

    /// Trains a model with this stream, up to the first output that is not finite.
    pub(crate) fn follow(
        &mut self,
        world: World,
        stream: u64,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<Trajectory> {
        let training = self.training;
        self.begin(stream);
        let mut followed = Trajectory::default();
        for epoch in 0..training.mechanism.epochs {
            training.batches.draw(training.seed, stream, epoch, &mut self.epoch);
            for step in 0..training.mechanism.steps_per_epoch as usize {
                if !keep_going() {
                    return None;
                }
                let before = followed.outputs.len() as u64;
                let (output, batch) = self.step(Place { world, step, before });
                followed.outputs.push(output);
                followed.batches.push(batch);
                if !output.is_finite() {
                    return Some(followed);
                }
            }
        }
        Some(followed)
    }

    /// Step `before` of a run, counted over all epochs, from any parameters.
    #[cfg(feature = "gpu")]
    pub(crate) fn once(
        &mut self,
        world: World,
        run: u64,
        before: u64,
        parameters: &[f32],
    ) -> StepResult {
        let (training, stream) = (self.training, 2 * run + world.index() as u64);
        let steps = u64::from(training.mechanism.steps_per_epoch);
        let (epoch, step) = ((before / steps) as u32, (before % steps) as usize);
        self.begin(stream);
        self.parameters.copy_from_slice(parameters);
        training.batches.draw(training.seed, stream, epoch, &mut self.epoch);
        let (output, batch) = self.step(Place { world, step, before });
        let (records, parameters) = (self.records.clone(), self.parameters.clone());
        StepResult { records, batch, parameters, output }
    }

    /// Asks a model of these parameters about the examples that are held out.
    #[cfg(feature = "gpu")]
    pub(crate) fn evaluate_parameters(&mut self, parameters: &[f32], tally: &mut TrainingTally) {
        self.parameters.copy_from_slice(parameters);
        self.evaluate(tally);
    }

    /// θ, ĝ and noise of the run with this stream.
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

    /// One step: what the attacker sees, o = ⟨Σ clipped gradients + noise, ĝ⟩/C.
    fn step(&mut self, place: Place) -> (f32, Batch) {
        let training = self.training;
        let batch = self.take_batch(place);
        let debias = self.mean_gradient_along_canary() * training.expected_others();
        training.examples.fill(&self.records, &mut self.rows, &mut self.labels);
        self.sum_clipped();
        let canary = (batch.mean * training.settings.clip_norm) as f32;
        if canary != 0.0 {
            let entries = self.sum.iter_mut().zip(&self.canary);
            entries.for_each(|(sum, direction)| *sum += canary * direction);
        }
        let noise = (training.mechanism.noise_multiplier * training.settings.clip_norm) as f32;
        self.normals.add(place.before, noise, &mut self.sum);
        let output = dot(&self.sum, &self.canary) / training.settings.clip_norm - debias;
        let rate = (training.settings.learning_rate / f64::from(training.batch_size)) as f32;
        let entries = self.parameters.iter_mut().zip(&self.sum);
        entries.for_each(|(parameter, sum)| *parameter -= rate * sum);
        (output as f32, batch)
    }

    /// The records of the batch whose own gradients count, and what stands for the others.
    fn take_batch(&mut self, place: Place) -> Batch {
        let members = self.epoch.members_at(place.step);
        self.training.keep(place.world, members, &mut self.records)
    }

    /// ⟨mean clipped gradient, ĝ⟩/C over the records that stand for the others; 0 where none do.
    fn mean_gradient_along_canary(&mut self) -> f64 {
        let training = self.training;
        let all: Vec<u32> = training.debias_records().collect();
        if all.is_empty() {
            return 0.0;
        }
        let mut along = 0.0;
        for records in all.chunks(training.most_rows().max(1)) {
            training.examples.fill(records, &mut self.rows, &mut self.labels);
            self.sum_clipped();
            along += dot(&self.sum, &self.canary);
        }
        along / training.settings.clip_norm / all.len() as f64
    }

    /// Σ clipped gradients of the rows.
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

    /// Asks the model about the examples that are held out.
    pub(crate) fn evaluate(&mut self, tally: &mut TrainingTally) {
        let training = self.training;
        let Some(held_out) = training.examples.held_out() else { return };
        let all: Vec<u32> = (0..held_out.len() as u32).collect();
        for records in all.chunks(EVALUATED_ROWS) {
            held_out.fill(records, &mut self.rows, &mut self.labels);
            let rows = Rows { examples: &self.rows, labels: &self.labels };
            let correct = training.network.correct(&self.parameters, rows, &mut self.workspace);
            tally.asked += records.len() as u64;
            tally.correct += correct as u64;
        }
    }
}

impl Training {
    /// Records that are looked at together.
    pub(crate) fn most_rows(&self) -> usize {
        // a larger batch is worked on in parts
        let spread = 6.0 * f64::from(self.batch_size).sqrt();
        self.batch_size as usize + if self.batches.is_fixed_size() { 0 } else { spread as usize }
    }

    /// Records of a batch whose own gradients count, as the attacker expects it: how many they are in
    /// one batch would tell who else is in it.
    fn expected_others(&self) -> f64 {
        let batch_size = f64::from(self.batch_size);
        let shown =
            if self.is_informed() { 1.0 } else { 1.0 / f64::from(self.mechanism.steps_per_epoch) };
        batch_size - shown
    }

    /// The records that stand for the others: those after the target.
    fn debias_records(&self) -> std::ops::Range<u32> {
        1..self.settings.debias_records.saturating_add(1).min(self.batches.records())
    }
}

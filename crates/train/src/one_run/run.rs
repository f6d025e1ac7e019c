//! One training with canaries, and their scores.

use dpscope_core::random::Purpose;
#[cfg(feature = "gpu")]
use dpscope_core::random::stream_words;
use dpscope_shaders::random::VectorNormals;
use dpscope_shaders::train::EpochBatches;

use super::evidence::TrainedUnit;
use super::inclusion::LogLikelihoodRatio;
use super::plan::coins;
use super::start::descend;
use super::training::OneRunTraining;
use crate::gradient::{Rows, SecondOrderWorkspace, Workspace};

/// Examples that are evaluated at a time.
const EVALUATED_ROWS: usize = 256;

/// Executes trainings, with the scratch memory of one thread.
#[derive(Debug)]
pub struct OneRunner<'a> {
    training: &'a OneRunTraining,
    workspace: Workspace,
    row_products: SecondOrderWorkspace,
    /// ‖g‖² of each canary, and ⟨g, direction⟩.
    products: Vec<(f64, f64)>,
    normals: VectorNormals,
    epoch: EpochBatches,
    parameters: Vec<f32>,
    velocity: Vec<f32>,
    sum: Vec<f32>,
    direction: Vec<f32>,
    gradient: Vec<f32>,
    records: Vec<u32>,
    members: Vec<u32>,
    rows: Vec<f32>,
    labels: Vec<u32>,
    more_rows: Vec<f32>,
    more_labels: Vec<u32>,
    norms: Vec<f32>,
}

/// The white-box scores of all canaries so far.
pub(crate) type Ratios<'a> = Vec<LogLikelihoodRatio<'a>>;

/// The steps of a unit so far.
pub(super) struct StepsSoFar<'r, 'a> {
    unit: u64,
    /// Number of steps.
    pub(super) steps: usize,
    /// Steps of the current epoch.
    of_epoch: usize,
    ratios: &'r Ratios<'a>,
}

impl<'a> OneRunner<'a> {
    pub(crate) fn new(training: &'a OneRunTraining) -> Self {
        let zeros = || vec![0.0; training.network.parameters()];
        OneRunner {
            training,
            workspace: Workspace::new(&training.network, EVALUATED_ROWS),
            row_products: SecondOrderWorkspace::new(&training.network),
            products: Vec::new(),
            normals: VectorNormals::new(training.seed, Purpose::TrainNoise, 0),
            epoch: EpochBatches::default(),
            parameters: zeros(),
            velocity: zeros(),
            sum: zeros(),
            direction: zeros(),
            gradient: zeros(),
            records: Vec::new(),
            members: Vec::new(),
            rows: Vec::new(),
            labels: Vec::new(),
            more_rows: Vec::new(),
            more_labels: Vec::new(),
            norms: Vec::new(),
        }
    }

    /// Trains and scores the model of a unit; `None` if `keep_going` returned false.
    pub(super) fn run(&mut self, unit: u64, keep_going: &dyn Fn() -> bool) -> Option<TrainedUnit> {
        self.run_observed(unit, keep_going, &mut |_, _| ())
    }

    /// [`run`](Self::run), with a call of `look` after each step, and before the first.
    pub(super) fn run_observed(
        &mut self,
        unit: u64,
        keep_going: &dyn Fn() -> bool,
        look: &mut dyn FnMut(&mut Self, &StepsSoFar<'_, 'a>),
    ) -> Option<TrainedUnit> {
        let training = self.training;
        let coins = coins(training.seed, unit, training.canaries.len());
        let start = training.start(keep_going)?;
        self.parameters.copy_from_slice(start);
        self.velocity.fill(0.0);
        self.normals.set_stream(unit);
        let mut ratios = training.no_ratios();
        let mut before = 0;
        look(self, &StepsSoFar { unit, steps: 0, of_epoch: 0, ratios: &ratios });
        for epoch in 0..training.mechanism.epochs {
            training.batches.draw(training.seed, unit, epoch, &mut self.epoch);
            for step in 0..training.mechanism.steps_per_epoch as usize {
                if !keep_going() {
                    return None;
                }
                self.step((step, before), &coins, &mut ratios);
                before += 1;
                let steps = before as usize;
                look(self, &StepsSoFar { unit, steps, of_epoch: step + 1, ratios: &ratios });
            }
            ratios.iter_mut().for_each(LogLikelihoodRatio::end_epoch);
        }
        let evaluation = self.evaluation_now();
        let scores = ratios.iter().map(LogLikelihoodRatio::score);
        Some(evaluation.unit(unit, &self.start_losses(start), scores))
    }

    /// Losses at the parameters of the current step.
    fn evaluation_now(&mut self) -> Evaluation {
        let parameters = std::mem::take(&mut self.parameters);
        let evaluation = self.evaluation(&parameters);
        self.parameters = parameters;
        evaluation
    }

    /// The scores of the model so far.
    pub(super) fn scores_so_far(&mut self, so_far: &StepsSoFar<'_, 'a>) -> Option<TrainedUnit> {
        let start = self.training.start(&|| true)?;
        let evaluation = self.evaluation_now();
        let scores = so_far.ratios.iter().map(|ratio| ratio.score_so_far(so_far.of_epoch));
        Some(evaluation.unit(so_far.unit, &self.start_losses(start), scores))
    }

    /// Executes step `before` of a unit, counted over all epochs, from given parameters and velocity.
    #[cfg(feature = "gpu")]
    pub(crate) fn step_from(
        &mut self,
        (unit, before): (u64, u64),
        parameters: &[f32],
        velocity: &[f32],
    ) -> OneRunStep {
        let training = self.training;
        let coins = coins(training.seed, unit, training.canaries.len());
        let steps = u64::from(training.mechanism.steps_per_epoch);
        let (epoch, step) = ((before / steps) as u32, (before % steps) as usize);
        self.parameters.copy_from_slice(parameters);
        self.velocity.fill(0.0);
        self.velocity[..velocity.len()].copy_from_slice(velocity);
        self.normals.set_stream(unit);
        training.batches.draw(training.seed, unit, epoch, &mut self.epoch);
        let mut ratios = training.no_ratios();
        self.step((step, before), &coins, &mut ratios);
        let (parameters, velocity) = (self.parameters.clone(), self.velocity.clone());
        OneRunStep { parameters, velocity, products: self.products.clone() }
    }

    /// One step of DP-SGD, and what it shows of each canary.
    fn step(&mut self, (step, before): (usize, u64), coins: &[bool], ratios: &mut Ratios<'_>) {
        let training = self.training;
        let noise = training.mechanism.noise_multiplier * training.settings.clip_norm;
        self.select_batch(step, coins);
        self.clipped_sum();
        self.normals.add(before, noise as f32, &mut self.sum);
        if !ratios.is_empty() {
            self.observe(step, ratios);
        }
        let rate = training.settings.learning_rate / training.mean_batch_size();
        let rates = (rate, training.settings.momentum);
        descend(&mut self.parameters, &mut self.velocity, &self.sum, rates);
    }

    /// Loads the base records of a batch and its canaries that are included.
    fn select_batch(&mut self, step: usize, coins: &[bool]) {
        let training = self.training;
        let base = training.base_records();
        let members = self.epoch.members_at(step);
        self.records.clear();
        self.records.extend(members.iter().filter(|&&record| record < base));
        self.members.clear();
        let canaries = members.iter().filter_map(|record| record.checked_sub(base));
        self.members.extend(canaries.filter(|&canary| coins[canary as usize]));
        training.base.fill(&self.records, &mut self.rows, &mut self.labels);
        training.canaries.fill(&self.members, &mut self.more_rows, &mut self.more_labels);
        self.rows.append(&mut self.more_rows);
        self.labels.append(&mut self.more_labels);
    }

    /// Computes the sum of the clipped gradients of the loaded rows.
    fn clipped_sum(&mut self) {
        let rows = Rows { examples: &self.rows, labels: &self.labels };
        let clip_norm = self.training.settings.clip_norm as f32;
        let (work, norms) = (&mut self.workspace, &mut self.norms);
        let network = &self.training.network;
        network.clipped_sum(&self.parameters, rows, clip_norm, work, &mut self.sum, norms);
    }

    /// Adds the log-likelihood ratio of the noisy sum in `sum` for each canary.
    fn observe(&mut self, step: usize, ratios: &mut Ratios<'_>) {
        let training = self.training;
        self.direction.copy_from_slice(&self.sum);
        let debias = self.subtract_expected();
        self.products.clear();
        for part in training.all_canaries().chunks(EVALUATED_ROWS) {
            training.canaries.fill(part, &mut self.rows, &mut self.labels);
            let rows = (&self.rows[..], &self.labels[..]);
            let at = (&self.parameters[..], &self.direction[..]);
            self.row_products.inner_products(at, rows, &mut self.products);
        }
        for (ratio, &products) in ratios.iter_mut().zip(&self.products) {
            if ratio.is_possible(step) {
                ratio.add(step, training.step_ratio(products, debias));
            }
        }
    }

    /// Subtracts what all records are expected to contribute from `direction`; returns the share of a
    /// canary's own gradient in it.
    ///
    /// Coins are unknown, so that each canary counts half.
    fn subtract_expected(&mut self) -> f64 {
        let training = self.training;
        let estimated = training.settings.debias_records.min(training.base_records());
        if estimated == 0 {
            return 0.0;
        }
        let rate = training.mechanism.sampling_rate();
        let all_base: Vec<u32> = (0..estimated).collect();
        let of_base = rate * f64::from(training.base_records()) / f64::from(estimated);
        // the noisy sum waits in the other buffer
        std::mem::swap(&mut self.sum, &mut self.gradient);
        for (examples, records, weight) in [
            (&training.base, &all_base[..], of_base),
            (&training.canaries, training.all_canaries(), rate / 2.0),
        ] {
            for part in records.chunks(EVALUATED_ROWS) {
                examples.fill(part, &mut self.rows, &mut self.labels);
                self.clipped_sum();
                let entries = self.direction.iter_mut().zip(&self.sum);
                entries.for_each(|(entry, sum)| *entry -= weight as f32 * sum);
            }
        }
        std::mem::swap(&mut self.sum, &mut self.gradient);
        rate / 2.0
    }

    /// The loss of each canary at θ₀.
    pub(crate) fn start_losses(&mut self, start: &[f32]) -> Vec<f64> {
        self.losses(&self.training.canaries, start)
    }

    /// Losses at some parameters.
    pub(crate) fn evaluation(&mut self, parameters: &[f32]) -> Evaluation {
        let canaries = self.losses(&self.training.canaries, parameters);
        let mut evaluation = Evaluation { canaries, held_out_loss: 0.0, evaluated: 0, correct: 0 };
        self.evaluate(parameters, &mut evaluation);
        evaluation
    }

    /// The loss of each record at some parameters.
    fn losses(&mut self, examples: &crate::data::Examples, parameters: &[f32]) -> Vec<f64> {
        let all: Vec<u32> = (0..examples.len() as u32).collect();
        let mut losses = Vec::with_capacity(all.len());
        for part in all.chunks(EVALUATED_ROWS) {
            examples.fill(part, &mut self.rows, &mut self.labels);
            let rows = Rows { examples: &self.rows, labels: &self.labels };
            self.training.network.losses(parameters, rows, &mut self.workspace, &mut losses);
        }
        losses
    }

    /// Evaluates parameters on the held-out examples.
    fn evaluate(&mut self, parameters: &[f32], scored: &mut Evaluation) {
        let Some(held_out) = self.training.base.held_out() else { return };
        scored.held_out_loss = self.losses(held_out, parameters).iter().sum();
        let all: Vec<u32> = (0..held_out.len() as u32).collect();
        for part in all.chunks(EVALUATED_ROWS) {
            held_out.fill(part, &mut self.rows, &mut self.labels);
            let rows = Rows { examples: &self.rows, labels: &self.labels };
            let correct = self.training.network.correct(parameters, rows, &mut self.workspace);
            scored.evaluated += part.len() as u64;
            scored.correct += correct as u64;
        }
    }
}

/// The result of one step.
#[cfg(feature = "gpu")]
#[derive(Debug)]
pub(crate) struct OneRunStep {
    /// Parameters θ after the step.
    pub(crate) parameters: Vec<f32>,
    /// Velocity after it.
    pub(crate) velocity: Vec<f32>,
    /// ‖g‖² of each canary and ⟨g, noisy sum⟩ before it; empty without white-box scores.
    pub(crate) products: Vec<(f64, f64)>,
}

/// Losses at some parameters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evaluation {
    /// The loss of each canary.
    pub(crate) canaries: Vec<f64>,
    /// Sum of the losses of the held-out records.
    pub(crate) held_out_loss: f64,
    /// Number of these.
    pub(crate) evaluated: u64,
    /// Number of these classified correctly.
    pub(crate) correct: u64,
}

impl Evaluation {
    /// The scores of a unit, from the losses of its canaries at θ₀ and their white-box scores.
    pub(crate) fn unit(
        &self,
        unit: u64,
        start: &[f64],
        white_box: impl Iterator<Item = f64>,
    ) -> TrainedUnit {
        let differences =
            start.iter().zip(&self.canaries).map(|(first, last)| (first - last) as f32);
        let scored = TrainedUnit {
            unit,
            has_failed: false,
            final_loss: self.canaries.iter().map(|loss| -loss as f32).collect(),
            loss_difference: differences.collect(),
            white_box: white_box.map(|score| score as f32).collect(),
            evaluated: self.evaluated,
            correct: self.correct,
            held_out_loss: self.held_out_loss,
        };
        let scores = [&scored.final_loss, &scored.loss_difference, &scored.white_box];
        let is_finite = |scores: &Vec<f32>| scores.iter().all(|score| score.is_finite());
        if !scored.held_out_loss.is_finite() || !scores.into_iter().all(is_finite) {
            return TrainedUnit::failed(unit);
        }
        scored
    }
}

impl OneRunTraining {
    /// White-box scores before the first step; empty without white-box scores.
    pub(crate) fn no_ratios(&self) -> Ratios<'_> {
        self.inclusions.iter().map(LogLikelihoodRatio::new).collect()
    }

    /// ℓ of a step, from ‖g‖² of a canary, ⟨g, direction⟩, and the share of its own clipped gradient
    /// that was subtracted from the direction.
    pub(crate) fn step_ratio(&self, (square, along): (f64, f64), debias: f64) -> f64 {
        let (clip_norm, sigma) = (self.settings.clip_norm, self.mechanism.noise_multiplier);
        let variance = (sigma * clip_norm) * (sigma * clip_norm);
        let factor = clip_norm / square.sqrt();
        let factor = if factor < 1.0 { factor } else { 1.0 };
        let square = factor * factor * square;
        let along = factor * along + debias * square;
        (along - square / 2.0) / variance
    }

    /// Replaces `selected` by the members of a batch, without a record in the places of canaries that
    /// are not included.
    #[cfg(feature = "gpu")]
    pub(crate) fn select_included(&self, unit: u64, members: &[u32], selected: &mut Vec<u32>) {
        let base = self.base_records();
        let is_included = |record: u32| {
            let mut word = [0];
            let canary = u64::from(record - base);
            stream_words(self.seed, Purpose::OneRunCoins, unit, canary, &mut word);
            word[0] & 1 == 1
        };
        selected.clear();
        selected.extend(
            members.iter().map(|&record| {
                if record < base || is_included(record) { record } else { u32::MAX }
            }),
        );
    }
}

impl TrainedUnit {
    /// A model whose training diverged.
    fn failed(unit: u64) -> Self {
        TrainedUnit {
            unit,
            has_failed: true,
            final_loss: Vec::new(),
            loss_difference: Vec::new(),
            white_box: Vec::new(),
            evaluated: 0,
            correct: 0,
            held_out_loss: 0.0,
        }
    }
}

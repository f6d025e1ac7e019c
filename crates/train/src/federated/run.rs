//! One federated training, and the cosines of its canaries.

use dpscope_core::audit::one_shot::RoundScores;
use dpscope_core::random::{Purpose, Words};
use dpscope_simulation::{CanaryDirections, ModelChange};

use super::clipping::UpdateClipping;
use super::evidence::FederatedUnit;
#[cfg(feature = "gpu")]
use super::local::Participant;
use super::noise::{NoiseStrategy, ServerNoise};
use super::releases::{KnownRounds, Releases};
use super::training::FederatedTraining;
use crate::gradient::{InstructionSet, Rows, Workspace};

/// Examples that are evaluated at a time.
const EVALUATED_ROWS: usize = 256;

/// Local training of a client, from the parameters of the server to how far it moves from them; whether it
/// succeeded.
type LocalTraining<'a> = dyn FnMut(u32, &[f32], &mut [f32]) -> bool + 'a;

/// The first index of directions that take no part.
const UNSEEN: u64 = 1 << 31;

/// A training of a plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FederatedTask {
    pub(super) unit: u64,
    pub(super) canaries: u64,
    /// Participants beside the clients.
    pub(super) slots: u64,
    /// Expected number of canaries, which fixes the divisor.
    pub(super) expected: f64,
    pub(super) unseen: u32,
}

/// The server of one training after another: everything but the local training of clients.
#[derive(Debug)]
pub(crate) struct FederatedRunner<'a> {
    training: &'a FederatedTraining,
    directions: CanaryDirections,
    workspace: Workspace,
    noise: ServerNoise,
    parameters: Vec<f32>,
    velocity: Vec<f32>,
    local: Vec<f32>,
    sum: Vec<f32>,
    set: InstructionSet,
    rows: Vec<f32>,
    labels: Vec<u32>,
    task: FederatedTask,
    /// Participants of each round.
    members: Vec<Vec<u32>>,
    /// Noise of the counts of adaptive clipping.
    counts: Words,
    /// Clipping norm of the next round.
    norm: f64,
    releases: Releases,
}

impl<'a> FederatedRunner<'a> {
    pub(crate) fn new(training: &'a FederatedTraining) -> Self {
        let zeros = || vec![0.0; training.parameters()];
        let settings = &training.settings;
        let strategy = NoiseStrategy::new(settings.noise_mechanism, settings.rounds);
        FederatedRunner {
            training,
            directions: CanaryDirections::new(training.seed, training.parameters()),
            workspace: Workspace::new(&training.network, EVALUATED_ROWS),
            noise: ServerNoise::new(strategy, training.seed, training.parameters()),
            parameters: zeros(),
            velocity: zeros(),
            local: zeros(),
            sum: zeros(),
            set: InstructionSet::detect(),
            rows: Vec::new(),
            labels: Vec::new(),
            task: FederatedTask { unit: 0, canaries: 0, slots: 0, expected: 0.0, unseen: 0 },
            members: Vec::new(),
            counts: Words::new(training.seed, Purpose::FederatedClipping, 0),
            norm: 0.0,
            releases: Releases::new(0),
        }
    }

    /// Starts the training of a task.
    pub(crate) fn start(&mut self, task: FederatedTask) {
        let training = self.training;
        self.members = training.rounds(task.unit, task.slots);
        self.parameters.copy_from_slice(&training.initial);
        self.velocity.fill(0.0);
        self.noise.start(task.unit);
        self.counts = Words::new(training.seed, Purpose::FederatedClipping, task.unit);
        self.norm = training.settings.clipping.initial();
        self.releases = Releases::new(task.canaries as usize);
        self.task = task;
    }

    /// Number of rounds.
    pub(super) fn rounds(&self) -> usize {
        self.members.len()
    }

    /// The clients of a round, in the order in which their updates are added.
    #[cfg(feature = "gpu")]
    pub(crate) fn participants(&self, round: usize) -> impl Iterator<Item = Participant> + '_ {
        let (unit, clients) = (self.task.unit, self.training.settings.clients);
        let members = self.members[round].iter().filter(move |&&member| member < clients);
        members.map(move |&client| Participant { unit, round, client })
    }

    /// Parameters of the server.
    #[cfg(feature = "gpu")]
    pub(crate) fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// Executes a round; `train` writes, client by client, how far local training moves from the
    /// parameters of the server. `None` if it returned false.
    pub(crate) fn round(&mut self, round: usize, train: &mut LocalTraining<'_>) -> Option<()> {
        let (settings, task, norm) = (self.training.settings, self.task, self.norm);
        let (own, cohort) = settings.cohorts(task.expected);
        let sum_noise = settings.clipping.sum_noise(settings.noise_multiplier, own)?;
        let mut within = 0_u32;
        self.sum.fill(0.0);
        let members = std::mem::take(&mut self.members[round]);
        for &member in &members {
            match member.checked_sub(settings.clients).map(u64::from) {
                None => {
                    if !train(member, &self.parameters, &mut self.local) {
                        return None;
                    }
                    within += u32::from(self.add_update());
                }
                Some(canary) if canary < task.canaries => {
                    let index = direction_index(task.unit, canary);
                    self.directions.add(index, norm, &mut self.sum);
                    self.releases.rounds[canary as usize].push(round as u32);
                }
                // a slot without a canary contributes zero
                Some(_) => {}
            }
        }
        self.noise.add(round, (sum_noise * norm) as f32, &mut self.sum);
        self.update_model(cohort);
        self.releases.clip_norms.push(norm);
        if settings.sees_updates {
            self.releases.updates.push(self.sum.clone());
        }
        if let UpdateClipping::Adaptive { .. } = settings.clipping {
            let noise = settings.clipping.count_noise(own) * self.counts.normal();
            self.norm = settings.clipping.next(norm, (f64::from(within) + noise) / own);
        }
        Some(())
    }

    /// Scores the change of the model so far; the score of updates needs all of them.
    pub(super) fn finish_so_far(&mut self) -> FederatedUnit {
        let releases = Releases::new(self.task.canaries as usize);
        self.scored((self.task, self.norm), &releases, false)
    }

    /// Scores the model after its last round.
    pub(crate) fn finish(&mut self) -> FederatedUnit {
        let releases = std::mem::replace(&mut self.releases, Releases::new(0));
        let sees_updates = self.training.settings.sees_updates;
        self.scored((self.task, self.norm), &releases, sees_updates)
    }

    /// Adds the clipped update of the client in `local` to the sum; whether it was within the norm.
    fn add_update(&mut self) -> bool {
        let norm = self.norm;
        let length = self.set.square(&self.local).sqrt();
        let factor = if length > norm { norm / length } else { 1.0 };
        let factor = if length.is_finite() { factor as f32 } else { f32::NAN };
        self.set.add_scaled(factor, &self.local, &mut self.sum);
        length <= norm
    }

    /// Turns the noisy sum into ρ and moves the model.
    fn update_model(&mut self, cohort: f64) {
        let settings = &self.training.settings;
        let share = (1.0 / cohort) as f32;
        let (rate, momentum) =
            (settings.server_learning_rate as f32, settings.server_momentum as f32);
        let entries = self.parameters.iter_mut().zip(&mut self.velocity).zip(&mut self.sum);
        for ((parameter, velocity), sum) in entries {
            *sum *= share;
            *velocity = momentum * *velocity + *sum;
            *parameter += rate * *velocity;
        }
    }

    fn scored(
        &mut self,
        (task, clip_norm): (FederatedTask, f64),
        releases: &Releases,
        sees_updates: bool,
    ) -> FederatedUnit {
        let failed = FederatedUnit::failed(task.unit, task.canaries);
        let training = self.training;
        let ends = self.parameters.iter().zip(&training.initial);
        self.sum.clear();
        self.sum.extend(ends.map(|(last, initial)| last - initial));
        let mut changes = vec![ModelChange::of(&self.sum)];
        changes.extend(releases.updates.iter().map(|update| ModelChange::of(update)));
        if sees_updates {
            changes.push(self.normalised_sum(&releases.updates));
        }
        let Some(changes) = changes.into_iter().collect::<Option<Vec<ModelChange>>>() else {
            return failed;
        };
        let mut unit = FederatedUnit { has_failed: false, clip_norm, ..failed };
        let dimension = training.parameters() as u64;
        unit.rounds.resize(releases.updates.len(), RoundScores::default());
        let mut cosines = Vec::new();
        let mut known = KnownRounds::new(releases, self.noise.strategy());
        let canaries: Vec<u64> =
            (0..task.canaries).map(|canary| direction_index(task.unit, canary)).collect();
        self.directions.cosines_of(&canaries, &changes, &mut cosines);
        for (cosines, rounds) in cosines.chunks_exact(changes.len()).zip(&releases.rounds) {
            unit.final_model.push(cosines[0]);
            if sees_updates {
                let updates = &cosines[1..cosines.len() - 1];
                unit.largest_update.push(updates.iter().copied().fold(-1.0, f64::max));
                unit.sum_of_updates.push(cosines[cosines.len() - 1]);
                unit.known_rounds.extend(known.cosine(rounds, updates));
                for &round in rounds {
                    let round = round as usize;
                    unit.rounds[round].add(updates[round], dimension);
                }
            }
        }
        for unseen in 0..u64::from(task.unseen) {
            let index = direction_index(task.unit, UNSEEN + unseen);
            self.directions.cosines(index, &changes[..1], &mut cosines);
            unit.unseen.push(cosines[0]);
        }
        self.evaluate(&mut unit);
        unit
    }

    /// Sum of the updates, each scaled to norm 1: Σ ρₜ/‖ρₜ‖.
    fn normalised_sum(&mut self, updates: &[Vec<f32>]) -> Option<ModelChange> {
        self.sum.fill(0.0);
        for update in updates {
            let change = ModelChange::of(update)?;
            change.add_unit(&mut self.sum);
        }
        ModelChange::of(&self.sum)
    }

    /// Classifies the held-out examples.
    fn evaluate(&mut self, unit: &mut FederatedUnit) {
        let Some(held_out) = self.training.examples.held_out() else { return };
        let all: Vec<u32> = (0..held_out.len() as u32).collect();
        for part in all.chunks(EVALUATED_ROWS) {
            held_out.fill(part, &mut self.rows, &mut self.labels);
            let rows = Rows { examples: &self.rows, labels: &self.labels };
            let network = &self.training.network;
            let correct = network.correct(&self.parameters, rows, &mut self.workspace);
            unit.evaluated += part.len() as u64;
            unit.correct += correct as u64;
        }
    }
}

/// The direction of a canary of a unit.
const fn direction_index(unit: u64, canary: u64) -> u64 {
    unit << 32 | canary
}

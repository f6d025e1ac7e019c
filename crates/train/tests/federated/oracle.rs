//! Federated training of softmax regression by plain loops in f64, with one optional mistake.

use dpscope_core::math;
use dpscope_core::random::{Purpose, Words};
use dpscope_shaders::random::VectorNormals;
use dpscope_simulation::CanaryDirections;
use dpscope_train::data::Examples;
use dpscope_train::federated::{
    FederatedSettings, FederatedTraining, NoiseMechanism, UpdateClipping,
};

/// A mistake of a training or an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The server ignores momentum.
    NoMomentum,
    /// Updates are not clipped.
    Unclipped,
    /// Sums are divided by the number of updates that arrived.
    DividedByArrivals,
    /// One noise for all rounds.
    ReusedNoise,
    /// Noise of half the standard deviation.
    LittleNoise,
    /// The attacker does not subtract the initial model.
    InitialKept,
    /// Canaries are scaled before they are sent.
    WeakCanaries,
    /// Canaries are counted for adaptive clipping.
    CountedCanaries,
    /// Noise is independent whatever the mechanism.
    IndependentNoise,
    /// The attacker adds the updates of the canary's rounds whatever the mechanism.
    PlainSums,
    /// The attacker presumes one clipping norm for all rounds.
    OneNorm,
}

pub(crate) struct Oracle<'a> {
    pub(crate) training: &'a FederatedTraining,
    pub(crate) examples: &'a Examples,
    pub(crate) initial: Vec<f64>,
    pub(crate) seed: u64,
    pub(crate) expected_canaries: f64,
}

/// A training, with what no attacker sees.
pub(crate) struct Trained {
    directions: Vec<Vec<f64>>,
    /// The rounds of each canary.
    own_rounds: Vec<Vec<usize>>,
    /// Change of the parameters, θ_T − θ₀.
    change: Vec<f64>,
    /// Update ρₜ of each round.
    updates: Vec<Vec<f64>>,
    /// Sums of clipped updates, before noise.
    sums: Vec<Vec<f64>>,
    /// Clipping norm Cₜ of each round.
    norms: Vec<f64>,
    /// Noise multiplier of the sums.
    sigma: f64,
    /// Weights of the releases for each canary: SᵀS·1_R.
    weights: Vec<Vec<f64>>,
}

impl Oracle<'_> {
    /// Cosines of each canary: final model, largest update, sum of updates, known rounds.
    pub(crate) fn cosines(&self, unit: u64, canaries: u64, fault: Fault) -> [Vec<f64>; 4] {
        self.trained(unit, canaries, fault).scores()
    }

    /// The training of a unit.
    pub(crate) fn trained(&self, unit: u64, canaries: u64, fault: Fault) -> Trained {
        let settings = *self.training.settings();
        let size = self.initial.len();
        let mut directions = CanaryDirections::new(self.seed, size);
        let directions: Vec<Vec<f64>> =
            (0..canaries).map(|canary| directions.direction(unit << 32 | canary)).collect();
        let mut normals = VectorNormals::new(self.seed, Purpose::TrainNoise, unit);
        let mut counts = Words::new(self.seed, Purpose::FederatedClipping, unit);
        let (clients, per_round) = (f64::from(settings.clients), 1.0 / f64::from(settings.rounds));
        let own = clients * per_round;
        let presentations = f64::from(settings.presentations.unwrap_or(1));
        let cohort = (clients + self.expected_canaries * presentations) * per_round;
        let (mut theta, mut velocity) = (self.initial.clone(), vec![0.0; size]);
        let (mut updates, mut sums, mut norms) = (Vec::new(), Vec::new(), Vec::new());
        let [matrix, identity] = [settings.noise_mechanism, NoiseMechanism::Gaussian]
            .map(|mechanism| strategy(mechanism, settings.rounds as usize));
        let strategy = if fault == Fault::IndependentNoise { &identity } else { &matrix };
        let mut noises: Vec<Vec<f64>> = Vec::new();
        let sigma = sum_noise(&settings, own, fault);
        let mut own_rounds = vec![Vec::new(); canaries as usize];
        let mut norm = settings.clipping.initial();
        for (round, members) in self.training.rounds(unit, canaries).iter().enumerate() {
            let mut sum = vec![0.0; size];
            let mut within = 0.0;
            for &member in members {
                let canary = member.checked_sub(settings.clients);
                let update: Vec<f64> = match canary {
                    Some(canary) => {
                        own_rounds[canary as usize].push(round);
                        let length = if fault == Fault::WeakCanaries { 0.5 } else { 1.0 };
                        let direction = &directions[canary as usize];
                        direction.iter().map(|c| length * norm * c).collect()
                    }
                    None => self.local(&theta, member, &settings),
                };
                let length = update.iter().map(|u| u * u).sum::<f64>().sqrt();
                let is_counted = canary.is_none() || fault == Fault::CountedCanaries;
                within += f64::from(u8::from(is_counted && length <= norm));
                let is_clipped = length > norm && fault != Fault::Unclipped;
                let factor = if is_clipped { norm / length } else { 1.0 };
                sum.iter_mut().zip(&update).for_each(|(sum, u)| *sum += factor * u);
            }
            let vector = if fault == Fault::ReusedNoise { 0 } else { round as u64 };
            let mut draw = vec![0.0_f32; size];
            normals.add(vector, 1.0, &mut draw);
            let noise = noise_of(&draw, &strategy[round], &noises);
            sums.push(sum.clone());
            let is_mean = fault == Fault::DividedByArrivals;
            let divisor = if is_mean { members.len() as f64 } else { cohort };
            for (sum, noise) in sum.iter_mut().zip(&noise) {
                *sum = (*sum + sigma * norm * noise) / divisor;
            }
            noises.push(noise);
            let momentum = if fault == Fault::NoMomentum { 0.0 } else { settings.server_momentum };
            for ((theta, velocity), sum) in theta.iter_mut().zip(&mut velocity).zip(&sum) {
                *velocity = momentum * *velocity + sum;
                *theta += settings.server_learning_rate * *velocity;
            }
            updates.push(sum);
            norms.push(norm);
            norm *= growth(&settings, (within, own), &mut counts);
        }
        if fault != Fault::InitialKept {
            theta.iter_mut().zip(&self.initial).for_each(|(last, first)| *last -= first);
        }
        let strategy = if fault == Fault::PlainSums { &identity } else { &matrix };
        let weights = own_rounds.iter().map(|own| weights(strategy, own)).collect();
        if fault == Fault::OneNorm {
            norms.fill(norm);
        }
        Trained { directions, own_rounds, change: theta, updates, sums, norms, sigma, weights }
    }

    /// θ_local − θ after full batches of a client's records.
    fn local(&self, theta: &[f64], client: u32, settings: &FederatedSettings) -> Vec<f64> {
        let records = &self.training.clients()[client as usize];
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        self.examples.fill(records, &mut rows, &mut labels);
        let (inputs, classes) = (self.examples.shape().len(), self.examples.classes());
        let mut local = theta.to_vec();
        for _ in 0..settings.local_epochs {
            let mut gradient = vec![0.0; local.len()];
            for (row, &label) in rows.chunks(inputs).zip(&labels) {
                let logit = |class: usize| {
                    let weights = &local[class * inputs..][..inputs];
                    let dot: f64 = weights.iter().zip(row).map(|(w, &x)| w * f64::from(x)).sum();
                    dot + local[classes * inputs + class]
                };
                let logits: Vec<f64> = (0..classes).map(logit).collect();
                let total: f64 = logits.iter().map(|&logit| math::exp(logit)).sum();
                for class in 0..classes {
                    let is_label = f64::from(u8::from(class == label as usize));
                    let residual = math::exp(logits[class]) / total - is_label;
                    for (entry, &x) in gradient[class * inputs..].iter_mut().zip(row) {
                        *entry += residual * f64::from(x);
                    }
                    gradient[classes * inputs + class] += residual;
                }
            }
            let rate = settings.local_learning_rate / records.len() as f64;
            local.iter_mut().zip(&gradient).for_each(|(local, g)| *local -= rate * g);
        }
        local.iter_mut().zip(theta).for_each(|(local, theta)| *local -= theta);
        local
    }
}

/// The factor of the clipping norm after a round with some updates within it.
fn growth(settings: &FederatedSettings, (within, clients): (f64, f64), counts: &mut Words) -> f64 {
    let UpdateClipping::Adaptive { quantile, learning_rate, .. } = settings.clipping else {
        return 1.0;
    };
    let radius = (-2.0 * math::ln(counts.uniform())).sqrt();
    let normal = radius * math::cos(std::f64::consts::TAU * counts.uniform());
    let share = (within + clients / 20.0 * normal) / clients;
    math::exp(-learning_rate * (share - quantile))
}

/// The matrix S, row by row.
fn strategy(mechanism: NoiseMechanism, rounds: usize) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; rounds]; rounds];
    let mut central = vec![1.0];
    for j in 1..rounds {
        central.push(central[j - 1] * (2 * j - 1) as f64 / (2 * j) as f64);
    }
    for (row, entries) in rows.iter_mut().enumerate() {
        let first = match mechanism {
            NoiseMechanism::Gaussian => row,
            NoiseMechanism::Tree => row + 1 - (1 << (row + 1).trailing_zeros()),
            NoiseMechanism::Banded { bands } => (row + 1).saturating_sub(bands as usize),
        };
        for (column, entry) in entries.iter_mut().enumerate().take(row + 1).skip(first) {
            *entry = match mechanism {
                NoiseMechanism::Banded { bands } => {
                    central[row - column] / length(&central[..bands as usize])
                }
                NoiseMechanism::Gaussian | NoiseMechanism::Tree => 1.0,
            };
        }
    }
    rows
}

/// The noise that fulfils row t of S·noise = draws, after those of the rounds before t.
fn noise_of(draw: &[f32], row: &[f64], earlier: &[Vec<f64>]) -> Vec<f64> {
    let mut noise: Vec<f64> = draw.iter().map(|&z| f64::from(z)).collect();
    for (earlier, s) in earlier.iter().zip(row) {
        noise.iter_mut().zip(earlier).for_each(|(noise, n)| *noise -= s * n);
    }
    noise.iter_mut().for_each(|noise| *noise /= row[earlier.len()]);
    noise
}

/// Weights SᵀS·1_R of the releases for rounds R.
fn weights(strategy: &[Vec<f64>], rounds: &[usize]) -> Vec<f64> {
    let seen = strategy.iter().map(|row| rounds.iter().map(|&round| row[round]).sum::<f64>());
    let seen: Vec<f64> = seen.collect();
    let weight = |round: usize| strategy.iter().zip(&seen).map(|(row, s)| row[round] * s).sum();
    (0..strategy.len()).map(weight).collect()
}

/// The noise multiplier of the sum beside a noisy count.
fn sum_noise(settings: &FederatedSettings, clients: f64, fault: Fault) -> f64 {
    let mut sigma = settings.noise_multiplier;
    if let UpdateClipping::Adaptive { .. } = settings.clipping {
        let count = clients / 10.0;
        sigma = 1.0 / (1.0 / (sigma * sigma) - 1.0 / (count * count)).sqrt();
    }
    if fault == Fault::LittleNoise { sigma / 2.0 } else { sigma }
}

impl Trained {
    /// Scores of each attack.
    fn scores(&self) -> [Vec<f64>; 4] {
        let size = self.change.len();
        let scale = |update: &Vec<f64>, factor: f64| update.iter().map(|u| factor * u).collect();
        let units = self.updates.iter().map(|update| scale(update, 1.0 / length(update)));
        let total = sum_of(&units.collect::<Vec<_>>(), size);
        let mut scores = [const { Vec::new() }; 4];
        for (direction, weights) in self.directions.iter().zip(&self.weights) {
            let rounds = self.updates.iter().zip(weights.iter().zip(&self.norms));
            let own = rounds.map(|(update, (weight, norm))| scale(update, weight / norm));
            let own: Vec<Vec<f64>> = own.collect();
            let each = self.updates.iter().map(|update| cosine(direction, update));
            scores[0].push(cosine(direction, &self.change));
            scores[1].push(each.fold(f64::NEG_INFINITY, f64::max));
            scores[2].push(cosine(direction, &total));
            scores[3].push(cosine(direction, &sum_of(&own, size)));
        }
        scores
    }

    /// Mean normal score of canaries in the change of the model, if participants did not react to
    /// canaries: the mean over canaries i of
    /// μᵢ = Σ_{t∈Rᵢ} wₜCₜ / √(σ²Σ(wₜCₜ)² + ‖R‖²/d), wₜ = (1 − β^{T−t+1})/(1 − β),
    /// where R is the weighted sum of all other updates.
    pub(crate) fn expected_mean(&self, momentum: f64) -> f64 {
        let (rounds, size) = (self.sums.len(), self.change.len());
        let weight = |round: usize| (round..rounds).fold(0.0, |weight, _| 1.0 + momentum * weight);
        let weights: Vec<f64> = (0..rounds).map(weight).collect();
        let scaled = |round: usize| weights[round] * self.norms[round];
        let square: f64 = (0..rounds).map(|round| scaled(round) * scaled(round)).sum();
        let mut total = vec![0.0; size];
        for (sum, weight) in self.sums.iter().zip(&weights) {
            total.iter_mut().zip(sum).for_each(|(total, sum)| *total += weight * sum);
        }
        let means = self.directions.iter().zip(&self.own_rounds).map(|(direction, own)| {
            let own: f64 = own.iter().map(|&round| scaled(round)).sum();
            let others = total.iter().zip(direction).map(|(total, c)| total - own * c);
            let others = length(&others.collect::<Vec<_>>());
            own / (self.sigma * self.sigma * square + others * others / size as f64).sqrt()
        });
        means.sum::<f64>() / self.directions.len() as f64
    }
}

fn sum_of(vectors: &[Vec<f64>], size: usize) -> Vec<f64> {
    (0..size).map(|entry| vectors.iter().map(|vector| vector[entry]).sum()).collect()
}

fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn cosine(unit: &[f64], vector: &[f64]) -> f64 {
    unit.iter().zip(vector).map(|(a, b)| a * b).sum::<f64>() / length(vector)
}

//! Noise of the server, independent or correlated between rounds.

use dpscope_core::accounting::matrix::{MatrixParticipation, MatrixStrategy};
use dpscope_core::random::Purpose;
use dpscope_shaders::random::VectorNormals;
use serde::{Deserialize, Serialize};

use super::rounds::{Participation, presented};

/// How the noises of the rounds of a training depend on each other.
///
/// With sums x₁ … x_T of updates over their norm, the server releases x + σS⁻¹z, where z₁ … z_T are
/// independent standard normal vectors and the strategy S is a lower triangular matrix without negative
/// entries. This is as private as Sx + σz, also if updates depend on what was released before: Denisov
/// et al., arXiv 2202.08312, theorem 2.1.
///
/// An attacker who knows the rounds R of a participant weights the releases by SᵀS·1_R, which shows
/// μ = ‖S·1_R‖/σ. The worst participation shows more than the mean one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum NoiseMechanism {
    /// Independent noise in every round, S = I: DP-FedAvg.
    #[default]
    Gaussian,
    /// Tree aggregation without restarts: row t of S adds the rounds t − 2ᵇ + 1 … t, where 2ᵇ is the
    /// largest power of two that divides t. The sum of the first t updates has the noise of as many
    /// nodes as t has binary digits 1. Kairouz et al., arXiv 2103.00039.
    Tree,
    /// A Toeplitz matrix of some bands whose first column is proportional to 1, 1/2, 3/8, …, the
    /// coefficients of (1 − x)^−½, and has norm 1: Kalinin and Lampert, arXiv 2405.13763; bands:
    /// Choquette-Choo et al., arXiv 2306.08153.
    Banded {
        /// Number of bands, 1 to T and to 1,024.
        bands: u32,
    },
}

impl NoiseMechanism {
    /// Whether the noises of all rounds are independent.
    #[must_use]
    pub const fn is_independent(&self) -> bool {
        matches!(self, NoiseMechanism::Gaussian)
    }
}

/// Most bands.
pub(super) const MAX_BANDS: u32 = 1_024;

/// The matrix S of a training.
#[derive(Debug, Clone)]
pub(super) struct NoiseStrategy {
    mechanism: NoiseMechanism,
    matrix: MatrixStrategy,
}

impl NoiseStrategy {
    pub(super) fn new(mechanism: NoiseMechanism, rounds: u32) -> Self {
        let matrix = match mechanism {
            NoiseMechanism::Gaussian => MatrixStrategy::identity(rounds),
            NoiseMechanism::Tree => MatrixStrategy::tree(rounds),
            NoiseMechanism::Banded { bands } => MatrixStrategy::banded_square_root(rounds, bands),
        };
        NoiseStrategy { mechanism, matrix }
    }

    /// SᵀS·1_R: the weights of the releases that decide best between a participant of the rounds R and
    /// none, as pairs of round and weight.
    pub(super) fn weights(&self, rounds: &[u32]) -> Vec<(usize, f64)> {
        self.matrix.weights(rounds)
    }

    /// The largest ‖Su‖ of updates u of norm at most 1 in the rounds of one participant, clients or
    /// canaries with presentations; infinite for a participation that is impossible.
    ///
    /// An upper limit if the rounds of different epochs are drawn separately.
    pub(super) fn l2_sensitivity(
        &self,
        participation: Participation,
        presentations: Option<u32>,
    ) -> f64 {
        let rounds = self.matrix.steps() as u32;
        let of_clients = match participation {
            Participation::MinSeparation { epochs } => MatrixParticipation::Epochs { epochs },
            Participation::Shuffled { epochs } => MatrixParticipation::Shuffled { epochs },
            // perhaps in every round
            Participation::Poisson { .. } | Participation::FixedSize { .. } => {
                MatrixParticipation::Shuffled { epochs: rounds }
            }
        };
        let of_clients = self.matrix.l2_sensitivity(&of_clients);
        let mut most = of_clients.map_or(f64::INFINITY, |found| found.worst);
        if let Some(presentations) = presentations {
            for first in 0..rounds.div_ceil(presentations) {
                let rounds: Vec<u32> = presented(first, rounds, presentations).collect();
                most = most.max(self.norm(&rounds));
            }
        }
        most
    }

    /// Norm ‖S·1_R‖ of rounds R.
    pub(super) fn norm(&self, rounds: &[u32]) -> f64 {
        self.matrix.norm(rounds)
    }
}

/// Draws the noise of one training after another, round by round.
#[derive(Debug)]
pub(super) struct ServerNoise {
    strategy: NoiseStrategy,
    normals: VectorNormals,
    /// The noises of the last rounds, as many as bands; none if they are not needed.
    earlier: Vec<Vec<f32>>,
}

impl ServerNoise {
    pub(super) fn new(strategy: NoiseStrategy, seed: u64, parameters: usize) -> Self {
        let normals = VectorNormals::new(seed, Purpose::TrainNoise, 0);
        let earlier = match strategy.mechanism {
            NoiseMechanism::Banded { bands } => vec![vec![0.0; parameters]; bands as usize],
            NoiseMechanism::Gaussian | NoiseMechanism::Tree => Vec::new(),
        };
        ServerNoise { strategy, normals, earlier }
    }

    pub(super) fn strategy(&self) -> &NoiseStrategy {
        &self.strategy
    }

    /// Starts the training of a unit.
    pub(super) fn start(&mut self, unit: u64) {
        self.normals.set_stream(unit);
    }

    /// Adds `factor` times entry `round` of S⁻¹z to a sum; rounds follow each other from 0 on.
    pub(super) fn add(&mut self, round: usize, factor: f32, sum: &mut [f32]) {
        match self.strategy.mechanism {
            NoiseMechanism::Gaussian => self.normals.add(round as u64, factor, sum),
            NoiseMechanism::Tree => {
                self.normals.add(round as u64, factor, sum);
                // nodes within the one that ends here, which it replaces
                let last = round + 1;
                let (first, mut node) = (last & (last - 1), round);
                while node > first {
                    self.normals.add(node as u64 - 1, -factor, sum);
                    node &= node - 1;
                }
            }
            NoiseMechanism::Banded { .. } => {
                let Some(bands) = self.strategy.matrix.coefficients() else { return };
                let place = round % bands.len();
                let mut noise = std::mem::take(&mut self.earlier[place]);
                noise.fill(0.0);
                self.normals.add(round as u64, (1.0 / bands[0]) as f32, &mut noise);
                for (lag, band) in (1..=round).zip(&bands[1..]) {
                    let factor = (band / bands[0]) as f32;
                    let earlier = &self.earlier[(round - lag) % bands.len()];
                    noise.iter_mut().zip(earlier).for_each(|(noise, z)| *noise -= factor * z);
                }
                sum.iter_mut().zip(&noise).for_each(|(sum, noise)| *sum += factor * noise);
                self.earlier[place] = noise;
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Noise of the server, independent or correlated between rounds.

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
    rounds: usize,
    /// The first column of a Toeplitz matrix.
    bands: Vec<f64>,
}

impl NoiseStrategy {
    pub(super) fn new(mechanism: NoiseMechanism, rounds: u32) -> Self {
        let mut bands = vec![1.0];
        if let NoiseMechanism::Banded { bands: count } = mechanism {
            let next = |&last: &f64, j: u32| last * (1.0 - 0.5 / f64::from(j));
            bands = (1..count).fold(bands, |mut bands, j| {
                bands.extend(bands.last().map(|last| next(last, j)));
                bands
            });
            let norm = bands.iter().map(|band| band * band).sum::<f64>().sqrt();
            bands.iter_mut().for_each(|band| *band /= norm);
        }
        NoiseStrategy { mechanism, rounds: rounds as usize, bands }
    }

    /// The entries of a column of S that are not 0, with their rows.
    fn column(&self, round: u32) -> impl Iterator<Item = (usize, f64)> + '_ {
        let mut row = round as usize;
        let mut band = 0;
        std::iter::from_fn(move || {
            let entry = (row, *self.bands.get(band)?);
            if row >= self.rounds {
                return None;
            }
            match self.mechanism {
                // the next row, counted from 1, whose rounds include this one
                NoiseMechanism::Tree => row += 1 << (row + 1).trailing_zeros(),
                NoiseMechanism::Gaussian | NoiseMechanism::Banded { .. } => {
                    row += 1;
                    band += 1;
                }
            }
            Some(entry)
        })
    }

    /// SᵀS·1_R: the weights of the releases that decide best between a participant of the rounds R and
    /// none, as pairs of round and weight.
    pub(super) fn weights(&self, rounds: &[u32]) -> Vec<(usize, f64)> {
        let mut seen = vec![0.0; self.rounds];
        for (row, entry) in rounds.iter().flat_map(|&round| self.column(round)) {
            seen[row] += entry;
        }
        let weight = |round: u32| self.column(round).map(|(row, entry)| entry * seen[row]).sum();
        let weights = (0..self.rounds as u32).map(|round| (round as usize, weight(round)));
        weights.filter(|&(_, weight)| weight != 0.0).collect()
    }

    /// The largest ‖Su‖ of updates u of norm at most 1 in the rounds of one participant, clients or
    /// canaries with presentations.
    ///
    /// S has no negative entry, so that equal updates are the worst: max ‖S·1_R‖ (Choquette-Choo et
    /// al., arXiv 2211.06530). An upper limit if the rounds of different epochs are drawn separately.
    pub(super) fn l2_sensitivity(
        &self,
        participation: Participation,
        presentations: Option<u32>,
    ) -> f64 {
        let rounds = self.rounds as u32;
        let mut seen = vec![0.0; self.rounds];
        let mut square = match participation {
            Participation::MinSeparation { epochs } => {
                let per_epoch = rounds / epochs;
                let every = |first| (first..rounds).step_by(per_epoch as usize);
                (0..per_epoch).map(|first| self.square(every(first), &mut seen)).fold(0.0, f64::max)
            }
            Participation::Shuffled { epochs } => self.square_of_epochs(rounds / epochs),
            // perhaps in every round
            Participation::Poisson { .. } | Participation::FixedSize { .. } => {
                self.square_of_epochs(1)
            }
        };
        if let Some(presentations) = presentations {
            for first in 0..rounds.div_ceil(presentations) {
                let rounds = presented(first, rounds, presentations);
                square = square.max(self.square(rounds, &mut seen));
            }
        }
        square.sqrt()
    }

    /// ‖S·1_R‖.
    pub(super) fn norm(&self, rounds: &[u32]) -> f64 {
        self.square(rounds.iter().copied(), &mut vec![0.0; self.rounds]).sqrt()
    }

    /// ‖S·1_R‖², with scratch memory of zeros.
    fn square(&self, rounds: impl Iterator<Item = u32> + Clone, seen: &mut [f64]) -> f64 {
        let entries = || rounds.clone().flat_map(|round| self.column(round));
        entries().for_each(|(row, entry)| seen[row] += entry);
        // Σ S_tr (S·1_R)_t over r ∈ R
        let square = entries().map(|(row, entry)| entry * seen[row]).sum();
        entries().for_each(|(row, _)| seen[row] = 0.0);
        square
    }

    /// An upper limit of ‖S·1_R‖² over all R with one round of each epoch:
    /// Σ_e max_{r∈e} Σ_t S_tr·(S_tr + Σ_{f≠e} max_{q∈f} S_tq).
    fn square_of_epochs(&self, per_epoch: u32) -> f64 {
        let entries = |first| (first..first + per_epoch).flat_map(|round| self.column(round));
        let raise = |most: &mut [f64], first| {
            entries(first).for_each(|(row, entry)| most[row] = entry.max(most[row]));
        };
        let epochs = || (0..self.rounds as u32).step_by(per_epoch as usize);
        let (mut all, mut most) = (vec![0.0; self.rounds], vec![0.0; self.rounds]);
        for first in epochs() {
            raise(&mut most, first);
            entries(first).for_each(|(row, _)| all[row] += std::mem::take(&mut most[row]));
        }
        let of_epoch = |first| {
            raise(&mut most, first);
            let shown = |(row, entry): (usize, f64)| entry * (entry + all[row] - most[row]);
            let of_round = |round| self.column(round).map(shown).sum::<f64>();
            let square = (first..first + per_epoch).map(of_round).fold(0.0, f64::max);
            entries(first).for_each(|(row, _)| most[row] = 0.0);
            square
        };
        epochs().map(of_epoch).sum()
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
            NoiseMechanism::Banded { .. } => vec![vec![0.0; parameters]; strategy.bands.len()],
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
                let bands = &self.strategy.bands;
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

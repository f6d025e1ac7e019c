//! What the server of a federated training released.

use std::collections::BTreeMap;

use super::noise::NoiseStrategy;

/// Releases of all rounds, and the rounds of each canary.
#[derive(Debug)]
pub(super) struct Releases {
    /// ρₜ, round by round; empty if updates are not seen.
    pub(super) updates: Vec<Vec<f32>>,
    /// Clipping norm Cₜ of each round.
    pub(super) clip_norms: Vec<f64>,
    /// The rounds of each canary.
    pub(super) rounds: Vec<Vec<u32>>,
}

impl Releases {
    pub(super) fn new(canaries: usize) -> Self {
        let rounds = vec![Vec::new(); canaries];
        Releases { updates: Vec::new(), clip_norms: Vec::new(), rounds }
    }
}

/// Cosines with the weighted sum of updates that shows most about a canary whose rounds are known.
#[derive(Debug)]
pub(super) struct KnownRounds<'a> {
    releases: &'a Releases,
    strategy: &'a NoiseStrategy,
    /// Norm ‖ρₜ‖ of each update.
    lengths: Vec<f64>,
    /// Sums by rounds, which many canaries share.
    sums: BTreeMap<&'a [u32], WeightedSum>,
    scratch: Vec<f32>,
}

/// Σₜ gₜρₜ/Cₜ with g = SᵀS·1_R.
#[derive(Debug)]
struct WeightedSum {
    /// Rounds t with gₜ/Cₜ.
    weights: Vec<(usize, f64)>,
    length: f64,
}

impl<'a> KnownRounds<'a> {
    pub(super) fn new(releases: &'a Releases, strategy: &'a NoiseStrategy) -> Self {
        let lengths = releases.updates.iter().map(|update| length(update)).collect();
        let scratch = vec![0.0; releases.updates.first().map_or(0, Vec::len)];
        KnownRounds { releases, strategy, lengths, sums: BTreeMap::new(), scratch }
    }

    /// The cosine of a canary of some rounds, from its cosines with every update; none without rounds,
    /// and where the updates cancel.
    pub(super) fn cosine(&mut self, rounds: &'a [u32], updates: &[f64]) -> Option<f64> {
        if rounds.is_empty() {
            return None;
        }
        if !self.sums.contains_key(rounds) {
            let sum = self.sum(rounds);
            self.sums.insert(rounds, sum);
        }
        let sum = self.sums.get(rounds)?;
        if let [(round, _)] = sum.weights[..] {
            return Some(updates[round]);
        }
        let product =
            |&(round, weight): &(usize, f64)| weight * self.lengths[round] * updates[round];
        let cosine = sum.weights.iter().map(product).sum::<f64>() / sum.length;
        // not a number if the sum is 0 or not finite
        cosine.is_finite().then(|| cosine.clamp(-1.0, 1.0))
    }

    fn sum(&mut self, rounds: &[u32]) -> WeightedSum {
        let norms = &self.releases.clip_norms;
        let weights = self.strategy.weights(rounds).into_iter();
        let weights: Vec<_> = weights.map(|(round, g)| (round, g / norms[round])).collect();
        self.scratch.fill(0.0);
        for &(round, weight) in &weights {
            let update = &self.releases.updates[round];
            let entries = self.scratch.iter_mut().zip(update);
            entries.for_each(|(sum, update)| *sum += weight as f32 * update);
        }
        WeightedSum { weights, length: length(&self.scratch) }
    }
}

fn length(vector: &[f32]) -> f64 {
    vector.iter().map(|&entry| f64::from(entry) * f64::from(entry)).sum::<f64>().sqrt()
}

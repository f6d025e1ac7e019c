//! Expected scores of canaries, from the linear part of a training.

use super::noise::NoiseStrategy;
use super::settings::FederatedSettings;

impl FederatedSettings {
    /// The weight of a server round in the change of the model, (1 − β^{T−t})/(1 − β).
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `round` | t | 0 to T − 1 |
    #[must_use]
    pub fn weight_of_round(&self, round: u32) -> f64 {
        let (rounds, momentum) = (self.rounds.saturating_sub(round), self.server_momentum);
        // a sum of positive terms, until they no longer change it
        let powers = std::iter::successors(Some(1.0), |power| Some(power * momentum));
        powers.take(rounds as usize).take_while(|power| *power > 1e-18).sum()
    }

    /// The expected normal score of a canary in the change of the model, with independent noise of
    /// every round and a fixed clipping norm.
    ///
    /// μ = Σ_{t∈R} w_t / √(σ² Σ_t w_t² + r), with w of [`Self::weight_of_round`]
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `rounds` | R, the rounds of the canary |
    /// | `rest` | r = ‖Σ_t w_t·(other updates of round t)‖²/(C² d) |
    ///
    /// # Guarantee
    /// `crates/train/tests/federated/distribution.rs` compares it with trainings; values by
    /// `tests/oracles/golden.rs::federated_agrees`.
    #[must_use]
    pub fn expected_score_in_final_model(&self, rounds: &[u32], rest: f64) -> f64 {
        let all = (0..self.rounds).map(|round| self.weight_of_round(round));
        let squares: f64 = all.map(|weight| weight * weight).sum();
        let signal: f64 = rounds.iter().map(|&round| self.weight_of_round(round)).sum();
        let sigma = self.noise_multiplier;
        signal / (sigma * sigma * squares + rest).sqrt()
    }

    /// The normal score of a canary that an attacker expects who knows its rounds R and sees every
    /// release, ‖S·1_R‖/σ with S of [`NoiseMechanism`](super::NoiseMechanism); at most
    /// [`Self::l2_sensitivity`] over σ.
    ///
    /// # Guarantee
    /// `tests/oracles/golden.rs::federated_agrees`.
    #[must_use]
    pub fn expected_score_of_known_rounds(&self, rounds: &[u32]) -> f64 {
        NoiseStrategy::new(self.noise_mechanism, self.rounds).norm(rounds) / self.noise_multiplier
    }
}

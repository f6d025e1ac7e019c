//! Simulated trainings: what they leak, and one draw of coins and scores.

use dpscope_core::gdp::{GdpError, gdp_epsilon};
use dpscope_core::math;
use dpscope_core::random::{Purpose, WideNormals, Words};
use dpscope_core::special::normal::normal_quantile;
use serde::Deserialize;

use super::canaries::ScoredCanaries;
use crate::commands::reproduce::data;
use crate::failure::Failure;

/// Chance that a score of an OUT canary is above the fixed cut of Gaussian scores.
const FALSE_POSITIVE_RATE: f64 = 0.05;

/// A simulated training of `trainings.toml`; `SOURCE.md` beside it explains the fields.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct SimulatedTraining {
    pub(super) id: String,
    pub(super) name: String,
    /// What it releases, in words.
    pub(super) description: String,
    #[serde(flatten)]
    release: Release,
}

/// What a training releases.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Release {
    /// Independent Gaussian scores.
    Gaussian { distance: f64 },
    /// A few coins, with a small probability.
    Shame { delta: f64, shamed_one_of: u64 },
    /// All coins by randomised response with a parameter, with a probability.
    Response { published: f64, epsilon: f64, gdp_mu: Option<f64> },
}

/// All of them, in the order of tables.
pub(super) fn trainings() -> Result<Vec<SimulatedTraining>, Failure> {
    data::list(include_str!("../../../../papers/one_run/trainings.toml"))
}

/// Probability that a coin published by randomised response is right.
fn accuracy(epsilon: f64) -> f64 {
    1.0 / (1.0 + math::exp(-epsilon))
}

/// A simulated training of m canaries, and the statements that are tested.
#[derive(Debug, Clone, Copy)]
pub(super) struct Simulation<'a> {
    pub(super) training: &'a SimulatedTraining,
    /// Its index in the table.
    place: u64,
    pub(super) canaries: u64,
    /// δ of the statements.
    pub(super) delta: f64,
}

impl<'a> Simulation<'a> {
    /// The training with statements at `delta`, or at its own δ.
    pub(super) fn new(
        (training, place): (&'a SimulatedTraining, u64),
        canaries: u64,
        delta: f64,
    ) -> Self {
        let delta = match training.release {
            Release::Shame { delta, .. } => delta,
            _ => delta,
        };
        Self { training, place, canaries, delta }
    }

    /// k of procedures that fix it; all of two-valued scores.
    pub(super) fn guesses(&self) -> u64 {
        match self.training.release {
            Release::Gaussian { .. } => self.canaries / 10,
            Release::Shame { shamed_one_of, .. } => self.canaries / shamed_one_of,
            Release::Response { .. } => self.canaries,
        }
    }

    /// The cut of scores that procedures fix.
    pub(super) fn cut(&self) -> Result<f64, anyhow::Error> {
        Ok(match self.training.release {
            Release::Gaussian { distance } => {
                -0.5 * distance - normal_quantile(FALSE_POSITIVE_RATE)?
            }
            _ => 0.5,
        })
    }

    /// The smallest ε with which it is (ε, δ)-DP.
    pub(super) fn epsilon(&self) -> Result<f64, GdpError> {
        match self.training.release {
            Release::Gaussian { distance } if distance > 0.0 => gdp_epsilon(distance, self.delta),
            Release::Gaussian { .. } | Release::Shame { .. } => Ok(0.0),
            // the ε' with π(e^ε − e^ε')/(1 + e^ε) = δ; 0 if there is none
            Release::Response { published, epsilon, .. } => {
                let grown = math::exp(epsilon);
                Ok(math::ln((grown - self.delta * (1.0 + grown) / published).max(1.0)))
            }
        }
    }

    /// A μ with which it is μ-GDP; none if there is none.
    pub(super) fn gdp_mu(&self) -> Result<Option<f64>, anyhow::Error> {
        Ok(match self.training.release {
            Release::Gaussian { distance } => Some(distance),
            Release::Shame { .. } => None,
            // its trade-off curve touches the Gaussian one where both rates are 1 − q
            Release::Response { epsilon, gdp_mu: None, .. } => {
                Some(2.0 * normal_quantile(accuracy(epsilon))?)
            }
            Release::Response { gdp_mu, .. } => gdp_mu,
        })
    }

    /// Coins and scores of one run.
    pub(super) fn draw(&self, seed: u64, run: u64) -> ScoredCanaries {
        let stream = (self.place << 33) + 2 * run;
        let mut words = Words::new(seed, Purpose::OneRunAudit, stream);
        let canaries = self.canaries as usize;
        let coins: Vec<bool> = (0..canaries).map(|_| words.next_word() & 1 == 1).collect();
        let mut scores = vec![0.0; canaries];
        let side = |is_in: bool| if is_in { 1.0 } else { -1.0 };
        match self.training.release {
            Release::Gaussian { distance } => {
                WideNormals::new(seed, Purpose::OneRunAudit, stream + 1).fill(&mut scores);
                for (score, &is_in) in scores.iter_mut().zip(&coins) {
                    *score += 0.5 * distance * side(is_in);
                }
            }
            Release::Shame { delta, shamed_one_of } => {
                if words.uniform() < delta * shamed_one_of as f64 {
                    let mut order: Vec<usize> = (0..canaries).collect();
                    words.shuffle(&mut order);
                    for &canary in &order[..self.guesses() as usize] {
                        scores[canary] = side(coins[canary]);
                    }
                }
            }
            Release::Response { published, epsilon, .. } => {
                if words.uniform() < published {
                    let accuracy = accuracy(epsilon);
                    for (score, &is_in) in scores.iter_mut().zip(&coins) {
                        *score = side(is_in == (words.uniform() < accuracy));
                    }
                }
            }
        }
        ScoredCanaries::ranked(&scores, &coins, || words.next_word())
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::gdp::gdp_delta;

    use super::*;

    fn with<T>(id: &str, of: impl Fn(Simulation<'_>) -> T) -> T {
        let all = trainings().unwrap();
        let place = all.iter().position(|training| training.id == id).unwrap();
        of(Simulation::new((&all[place], place as u64), 1_000, 1e-5))
    }

    #[test]
    fn the_public_coin_is_1_gdp() {
        let release = with("public-coin", |simulation| simulation.training.release);
        let Release::Response { published, epsilon, gdp_mu: Some(mu) } = release else {
            panic!("{release:?}");
        };
        let exceeds = |published: f64| {
            (0..1_050).any(|step| {
                let at = f64::from(step) * 1e-3;
                let delta =
                    published * (math::exp(epsilon) - math::exp(at)) / (1.0 + math::exp(epsilon));
                delta > gdp_delta(mu, at).unwrap()
            })
        };
        assert!(!exceeds(published) && exceeds(published + 0.01));
    }

    #[test]
    fn truths_are_those_of_the_trainings() {
        let epsilon = with("gaussian-one", |one| one.epsilon().unwrap());
        let mu = with("randomised-response", |one| one.gdp_mu().unwrap().unwrap());
        assert!((epsilon - 4.377_178_095_681).abs() < 1e-9 && (mu - 1.231_8).abs() < 1e-3, "{mu}");
        let response = with("randomised-response", |one| one.epsilon().unwrap());
        assert!(response < 1.0 && response > 0.999_9);
        let shame =
            with("name-and-shame", |one| (one.delta, one.epsilon().unwrap(), one.guesses()));
        assert_eq!(shame, (0.01, 0.0, 40));
        // k coins with probability p: each with k p/m
        assert_eq!(40.0 * 0.25 / 1_000.0, shame.0);
    }

    #[test]
    fn published_coins_are_right_at_the_stated_rate() {
        let right: u64 = with("randomised-response", |simulation| {
            (0..200).map(|run| simulation.draw(1, run).correct_by_sign()).sum()
        });
        let share = right as f64 / 200_000.0;
        assert!((share - accuracy(1.0)).abs() < 0.005, "{share}");
        let published = with("name-and-shame", |simulation| {
            (0..400).filter(|&run| simulation.draw(1, run).scores()[0] > 0.0).count() as f64 / 400.0
        });
        assert!((published - 0.25).abs() < 0.09, "{published}");
    }
}

//! Simulated trainings: what they leak, and one draw of coins and scores.

use dpscope_core::gdp::{GdpError, gdp_epsilon};
use dpscope_core::math;
use dpscope_core::random::{Purpose, WideNormals, Words};
use dpscope_core::special::normal::normal_quantile;
use dpscope_report::record::SimulatedTraining;

use super::canaries::ScoredCanaries;

/// Chance that the public coin publishes, and ε of its randomised response: 1-GDP.
const PUBLIC_COIN: RandomisedResponse = RandomisedResponse { published: 0.748, epsilon: 1.05 };

const RANDOMISED_RESPONSE: RandomisedResponse = RandomisedResponse { published: 1.0, epsilon: 1.0 };

/// δ of name and shame, which publishes one coin of 25 with probability 1/4.
const SHAME_DELTA: f64 = 0.01;
const SHAMED_ONE_OF: u64 = 25;

/// Chance that a score of an OUT canary is above the fixed cut of Gaussian scores.
const FALSE_POSITIVE_RATE: f64 = 0.05;

/// All coins by randomised response with parameter `epsilon`, with probability `published`.
#[derive(Debug, Clone, Copy)]
struct RandomisedResponse {
    published: f64,
    epsilon: f64,
}

impl RandomisedResponse {
    /// Probability that a published coin is right.
    fn accuracy(self) -> f64 {
        1.0 / (1.0 + math::exp(-self.epsilon))
    }

    /// The ε' with π(e^ε − e^ε')/(1 + e^ε) = δ; 0 if there is none.
    fn epsilon_at(self, delta: f64) -> f64 {
        let grown = math::exp(self.epsilon);
        math::ln((grown - delta * (1.0 + grown) / self.published).max(1.0))
    }
}

/// A simulated training of m canaries, and the statements that are tested.
#[derive(Debug, Clone, Copy)]
pub(super) struct Simulation {
    pub(super) training: SimulatedTraining,
    pub(super) canaries: u64,
    /// δ of the statements.
    pub(super) delta: f64,
}

impl Simulation {
    /// The training with statements at `delta`, or at its own δ.
    pub(super) fn new(training: SimulatedTraining, canaries: u64, delta: f64) -> Self {
        let delta = match training {
            SimulatedTraining::NameAndShame => SHAME_DELTA,
            _ => delta,
        };
        Self { training, canaries, delta }
    }

    /// The distance of Gaussian scores.
    fn distance(&self) -> Option<f64> {
        match self.training {
            SimulatedTraining::NoLeakage => Some(0.0),
            SimulatedTraining::GaussianOne => Some(1.0),
            SimulatedTraining::GaussianThree => Some(3.0),
            _ => None,
        }
    }

    fn response(&self) -> RandomisedResponse {
        match self.training {
            SimulatedTraining::PublicCoin => PUBLIC_COIN,
            _ => RANDOMISED_RESPONSE,
        }
    }

    fn shamed(&self) -> u64 {
        self.canaries / SHAMED_ONE_OF
    }

    /// k of procedures that fix it; all of two-valued scores.
    pub(super) fn guesses(&self) -> u64 {
        match self.training {
            SimulatedTraining::NameAndShame => self.shamed(),
            SimulatedTraining::PublicCoin | SimulatedTraining::RandomisedResponse => self.canaries,
            _ => self.canaries / 10,
        }
    }

    /// The cut of scores that procedures fix.
    pub(super) fn cut(&self) -> Result<f64, anyhow::Error> {
        Ok(match self.distance() {
            Some(distance) => -0.5 * distance - normal_quantile(FALSE_POSITIVE_RATE)?,
            None => 0.5,
        })
    }

    /// The smallest ε with which it is (ε, δ)-DP.
    pub(super) fn epsilon(&self) -> Result<f64, GdpError> {
        match (self.distance(), self.training) {
            (Some(distance), _) if distance > 0.0 => gdp_epsilon(distance, self.delta),
            (Some(_), _) | (None, SimulatedTraining::NameAndShame) => Ok(0.0),
            _ => Ok(self.response().epsilon_at(self.delta)),
        }
    }

    /// A μ with which it is μ-GDP.
    pub(super) fn gdp_mu(&self) -> Result<Option<f64>, anyhow::Error> {
        Ok(match self.training {
            SimulatedTraining::NameAndShame => None,
            SimulatedTraining::PublicCoin => Some(1.0),
            // its trade-off curve touches the Gaussian one where both rates are 1 − q
            SimulatedTraining::RandomisedResponse => {
                Some(2.0 * normal_quantile(self.response().accuracy())?)
            }
            _ => self.distance(),
        })
    }

    /// What it releases, in words.
    pub(super) fn description(&self) -> String {
        match self.training {
            SimulatedTraining::NoLeakage => "scores do not depend on the coins".to_owned(),
            SimulatedTraining::GaussianOne | SimulatedTraining::GaussianThree => {
                "independent scores, N(μ/2, 1) for IN and N(−μ/2, 1) for OUT".to_owned()
            }
            SimulatedTraining::NameAndShame => {
                let share = SHAME_DELTA * SHAMED_ONE_OF as f64;
                format!("publishes {} coins with probability {share}, else nothing", self.shamed())
            }
            SimulatedTraining::PublicCoin => {
                let RandomisedResponse { published, epsilon } = PUBLIC_COIN;
                format!(
                    "with probability {published} publishes every coin by randomised response with \
                     ε = {epsilon}, else nothing"
                )
            }
            SimulatedTraining::RandomisedResponse => {
                let epsilon = RANDOMISED_RESPONSE.epsilon;
                format!("publishes every coin by randomised response with ε = {epsilon}")
            }
        }
    }

    /// Coins and scores of one run.
    pub(super) fn draw(&self, seed: u64, run: u64) -> ScoredCanaries {
        let of_setting = SimulatedTraining::ALL.iter().position(|other| *other == self.training);
        let stream = ((of_setting.unwrap_or(0) as u64) << 33) + 2 * run;
        let mut words = Words::new(seed, Purpose::OneRunAudit, stream);
        let canaries = self.canaries as usize;
        let coins: Vec<bool> = (0..canaries).map(|_| words.next_word() & 1 == 1).collect();
        let mut scores = vec![0.0; canaries];
        let side = |is_in: bool| if is_in { 1.0 } else { -1.0 };
        match (self.distance(), self.training) {
            (Some(distance), _) => {
                WideNormals::new(seed, Purpose::OneRunAudit, stream + 1).fill(&mut scores);
                for (score, &is_in) in scores.iter_mut().zip(&coins) {
                    *score += 0.5 * distance * side(is_in);
                }
            }
            (None, SimulatedTraining::NameAndShame) => {
                if words.uniform() < SHAME_DELTA * SHAMED_ONE_OF as f64 {
                    let mut order: Vec<usize> = (0..canaries).collect();
                    words.shuffle(&mut order);
                    for &canary in &order[..self.shamed() as usize] {
                        scores[canary] = side(coins[canary]);
                    }
                }
            }
            _ => {
                let response = self.response();
                if words.uniform() < response.published {
                    let accuracy = response.accuracy();
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

    #[test]
    fn the_public_coin_is_1_gdp() {
        let RandomisedResponse { published, epsilon } = PUBLIC_COIN;
        let exceeds = |published: f64| {
            (0..1_050).any(|step| {
                let at = f64::from(step) * 1e-3;
                let delta =
                    published * (math::exp(epsilon) - math::exp(at)) / (1.0 + math::exp(epsilon));
                delta > gdp_delta(1.0, at).unwrap()
            })
        };
        assert!(!exceeds(published) && exceeds(published + 0.01));
    }

    #[test]
    fn truths_are_those_of_the_trainings() {
        let of = |training| Simulation::new(training, 1_000, 1e-5);
        let [epsilon, mu] = [
            of(SimulatedTraining::GaussianOne).epsilon().unwrap(),
            of(SimulatedTraining::RandomisedResponse).gdp_mu().unwrap().unwrap(),
        ];
        assert!((epsilon - 4.377_178_095_681).abs() < 1e-9 && (mu - 1.231_8).abs() < 1e-3, "{mu}");
        let response = of(SimulatedTraining::RandomisedResponse).epsilon().unwrap();
        assert!(response < 1.0 && response > 0.999_9);
        let shame = of(SimulatedTraining::NameAndShame);
        assert_eq!((shame.delta, shame.epsilon().unwrap(), shame.guesses()), (0.01, 0.0, 40));
        // k coins with probability p: each with k p/m
        assert_eq!(40.0 * 0.25 / 1_000.0, shame.delta);
    }

    #[test]
    fn published_coins_are_right_at_the_stated_rate() {
        let simulation = Simulation::new(SimulatedTraining::RandomisedResponse, 1_000, 1e-5);
        let right: u64 = (0..200).map(|run| simulation.draw(1, run).correct_by_sign()).sum();
        let share = right as f64 / 200_000.0;
        assert!((share - RANDOMISED_RESPONSE.accuracy()).abs() < 0.005, "{share}");
        let shamed = Simulation::new(SimulatedTraining::NameAndShame, 1_000, 1e-5);
        let published =
            (0..400).filter(|&run| shamed.draw(1, run).scores()[0] > 0.0).count() as f64 / 400.0;
        assert!((published - 0.25).abs() < 0.09, "{published}");
    }
}

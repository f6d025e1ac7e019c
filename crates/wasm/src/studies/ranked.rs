//! One simulated run of the ideal attack, and runs in which nothing leaks.

use dpscope_core::audit::one_run::{
    CanaryError, CanaryGame, CanaryScores, GuessEvidence, Guesses, ranking_sizes,
};
use dpscope_core::gdp::gdp_epsilon;
use dpscope_core::random::{Purpose, WideNormals, Words};
use dpscope_report::record::input::RunSimulation;
use dpscope_report::record::page::{BoundaryStep, NullRuns, RankedBound, SimulatedRun};
use js_sys::{Object, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::input::{integer, read};
use crate::output::{to_js, with};
use crate::seed::seed_or_fresh;

/// Canaries of a picture.
const MOST_CANARIES: u64 = 20_000;
/// Runs of one call: about a second of one core.
const MOST_RUNS: u64 = 1_000;
/// Numbers of guesses of which the largest bound is taken.
const SIZES: u64 = 100;

/// What is simulated, checked.
struct Simulation {
    game: CanaryGame,
    guesses: u64,
    mu: f64,
    delta: f64,
    significance: f64,
    seed: u64,
}

/// Guesses of one simulated run, most confident first.
struct DrawnRun<'a> {
    simulation: &'a Simulation,
    is_correct: Vec<bool>,
}

impl Simulation {
    fn new(asked: &RunSimulation) -> Result<Self, Failure> {
        let RunSimulation { canaries, guesses, mu, delta, significance, .. } = *asked;
        if !(5..=MOST_CANARIES).contains(&canaries) {
            return Err(Failure::outside("canaries", canaries as f64, "in 5 to 20000"));
        }
        if !(0.0..=100.0).contains(&mu) {
            return Err(Failure::outside("mu", mu, "in 0 to 100"));
        }
        let game = CanaryGame::coins(canaries).map_err(|error| Failure::rejected(&error))?;
        let fixed = Guesses::new(game, guesses, 0).map_err(|error| Failure::rejected(&error))?;
        fixed.ceiling(delta, significance).map_err(|error| Failure::rejected(&error))?;
        let seed = seed_or_fresh(&asked.seed)?;
        Ok(Self { game, guesses, mu, delta, significance, seed })
    }

    /// Numbers of guesses whose bounds are compared: 100, or all of fewer canaries.
    fn sizes(&self) -> impl Iterator<Item = u64> {
        let canaries = self.game.canaries();
        let step = canaries.div_ceil(SIZES);
        (1..=SIZES).map(move |place| place * step).take_while(move |&size| size <= canaries)
    }

    /// Scores N(±μ/2, 1) of canaries with fair coins, ranked.
    fn draw(&self, run: u64) -> Result<DrawnRun<'_>, Failure> {
        let canaries = self.game.canaries() as usize;
        let mut words = Words::new(self.seed, Purpose::OneRunAudit, 2 * run);
        let coins: Vec<bool> = (0..canaries).map(|_| words.next_word() & 1 == 1).collect();
        let mut scores = vec![0.0; canaries];
        WideNormals::new(self.seed, Purpose::OneRunAudit, 2 * run + 1).fill(&mut scores);
        for (score, &is_in) in scores.iter_mut().zip(&coins) {
            *score += 0.5 * self.mu * if is_in { 1.0 } else { -1.0 };
        }
        let scored = CanaryScores::coins(&scores, &coins).map_err(|error| rejected(&error))?;
        let ranking = scored.ranking(|index| index);
        let is_correct = ranking.iter().map(|guess| guess.is_correct).collect();
        Ok(DrawnRun { simulation: self, is_correct })
    }
}

impl DrawnRun<'_> {
    fn correct(&self, guesses: u64) -> u64 {
        let first = &self.is_correct[..guesses as usize];
        first.iter().filter(|&&is_correct| is_correct).count() as u64
    }

    fn guesses(&self, guesses: u64) -> Result<Guesses, Failure> {
        let found = Guesses::new(self.simulation.game, guesses, self.correct(guesses));
        found.map_err(|error| Failure::rejected(&error))
    }

    /// The bound as if this number had been fixed.
    fn fixed(&self, guesses: u64) -> Result<RankedBound, Failure> {
        let Simulation { delta, significance, .. } = *self.simulation;
        let found = self.guesses(guesses)?;
        let bound = found.epsilon_lower(delta, significance);
        let ceiling = found.ceiling(delta, significance);
        Ok(RankedBound {
            guesses,
            correct: found.correct(),
            epsilon: bound.map_err(|error| Failure::rejected(&error))?,
            ceiling: ceiling.map_err(|error| Failure::rejected(&error))?,
        })
    }

    fn walk(&self) -> Result<GuessEvidence, Failure> {
        let game = self.simulation.game;
        let sizes = ranking_sizes(game.canaries());
        let correct = sizes.iter().map(|&size| self.correct(size)).collect();
        GuessEvidence::walk(game, sizes, correct).map_err(|error| Failure::rejected(&error))
    }
}

fn largest(path: &[RankedBound]) -> Option<RankedBound> {
    path.iter().copied().reduce(|best, next| if next.epsilon > best.epsilon { next } else { best })
}

pub(crate) fn simulated(asked: &RunSimulation) -> Result<(SimulatedRun, Vec<bool>), Failure> {
    let simulation = Simulation::new(asked)?;
    let Simulation { mu, delta, significance, .. } = simulation;
    let drawn = simulation.draw(0)?;
    let rejected = |error| Failure::rejected(&error);
    let path = simulation.sizes().map(|size| drawn.fixed(size)).collect::<Result<Vec<_>, _>>()?;
    let fixed = drawn.fixed(simulation.guesses)?;
    let walk = drawn.walk()?;
    let fewest = walk.boundary(0.0, delta, significance).map_err(rejected)?;
    let boundary = walk.steps().iter().zip(fewest).map(|(step, fewest)| BoundaryStep {
        guesses: step.guesses(),
        correct: step.correct(),
        fewest,
    });
    let all = walk.steps()[walk.steps().len() - 1];
    let found = SimulatedRun {
        truth: if mu > 0.0 {
            gdp_epsilon(mu, delta).map_err(|error| Failure::rejected(&error))?
        } else {
            0.0
        },
        largest: largest(&path).unwrap_or(fixed),
        fixed,
        walk: RankedBound {
            guesses: all.guesses(),
            correct: all.correct(),
            epsilon: walk.epsilon_lower(delta, significance).map_err(rejected)?,
            ceiling: walk.ceiling(delta, significance).map_err(rejected)?,
        },
        boundary: boundary.collect(),
        path,
    };
    Ok((found, drawn.is_correct))
}

pub(crate) fn null_runs(
    asked: &RunSimulation,
    first: u64,
    runs: u64,
) -> Result<(NullRuns, Vec<bool>), Failure> {
    if !(1..=MOST_RUNS).contains(&runs) {
        return Err(Failure::outside("runs", runs as f64, "in 1 to 1000"));
    }
    let simulation = Simulation::new(&RunSimulation { mu: 0.0, ..asked.clone() })?;
    let Simulation { delta, significance, .. } = simulation;
    let rejected = |error| Failure::rejected(&error);
    let mut found = NullRuns { runs: 0, fixed: 0, walk: 0, largest: 0 };
    let mut last = Vec::new();
    // run 0 is the one of the picture
    for run in first + 1..=first + runs {
        let drawn = simulation.draw(run)?;
        let shows = |guesses: u64| -> Result<bool, Failure> {
            let bound = drawn.guesses(guesses)?.epsilon_lower(delta, significance);
            bound.map(|epsilon| epsilon > 0.0).map_err(rejected)
        };
        let walk = drawn.walk()?.epsilon_lower(delta, significance).map_err(rejected)?;
        let mut shown_by_any = false;
        for size in simulation.sizes() {
            shown_by_any = shown_by_any || shows(size)?;
        }
        found.runs += 1;
        found.fixed += u64::from(shows(simulation.guesses)?);
        found.walk += u64::from(walk > 0.0);
        found.largest += u64::from(shown_by_any);
        last = drawn.is_correct;
    }
    Ok((found, last))
}

fn rejected(error: &CanaryError) -> Failure {
    Failure::rejected(error)
}

fn pattern(is_correct: &[bool]) -> Uint8Array {
    let pattern: Vec<u8> = is_correct.iter().map(|&is_correct| u8::from(is_correct)).collect();
    Uint8Array::from(&pattern[..])
}

/// One run of the attack with scores N(±μ/2, 1), and what each rule reports of it.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "RankedRun")]
pub fn one_run_simulated(
    #[wasm_bindgen(unchecked_param_type = "RunSimulation")] asked: &JsValue,
) -> Result<Object, Failure> {
    let (found, is_correct) = simulated(&read(asked, "asked")?)?;
    with(to_js(&found)?.unchecked_into(), [("ranking", pattern(&is_correct).into())])
}

/// How often each rule reports ε > 0 in runs `first` to `first + runs − 1` in which nothing leaks, and
/// the ranking of the last one.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "RankedNull")]
pub fn one_run_null(
    #[wasm_bindgen(unchecked_param_type = "RunSimulation")] asked: &JsValue,
    first: f64,
    runs: f64,
) -> Result<Object, Failure> {
    let (first, runs) = (integer("first", first, 0)?, integer("runs", runs, 1)?);
    let (found, is_correct) = null_runs(&read(asked, "asked")?, first, runs)?;
    with(to_js(&found)?.unchecked_into(), [("ranking", pattern(&is_correct).into())])
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn asked(canaries: u64, guesses: u64, mu: f64) -> RunSimulation {
        let seed = "3".to_owned();
        RunSimulation { canaries, guesses, mu, delta: 1e-5, significance: 0.05, seed }
    }

    pub(crate) fn examples() -> (SimulatedRun, NullRuns) {
        let asked = asked(100, 20, 1.0);
        (simulated(&asked).unwrap().0, null_runs(&asked, 0, 1).unwrap().0)
    }

    #[test]
    fn bounds_stand_below_the_truth_and_the_largest_above_all_of_its_path() {
        let (found, ranking) = simulated(&asked(1_000, 60, 1.0)).unwrap();
        assert_eq!(ranking.len(), 1_000);
        assert!((found.truth - 4.377_178).abs() < 1e-6);
        assert!(found.fixed.epsilon > 0.3 && found.walk.epsilon > 0.3, "{found:?}");
        assert!(found.path.iter().all(|step| step.epsilon <= found.largest.epsilon));
        assert_eq!(found.path.len(), 100);
        assert_eq!(found.path.last().map(|step| step.guesses), Some(1_000));
        for bound in found.path.iter().chain([&found.fixed, &found.walk]) {
            assert!(bound.epsilon <= bound.ceiling && bound.correct <= bound.guesses);
        }
    }

    #[test]
    fn corrected_rules_keep_their_level_at_no_leak_and_the_largest_does_not() {
        // 400 runs at 5 %: at most 20 + 4 standard errors of 4.4
        let (found, _) = null_runs(&asked(1_000, 100, 1.0), 0, 400).unwrap();
        assert_eq!(found.runs, 400);
        assert!(found.fixed <= 37 && found.walk <= 37, "{found:?}");
        assert!(found.largest > 60, "the mutant: {found:?}");
    }

    #[test]
    fn runs_in_parts_are_runs_at_once() {
        let asked = asked(200, 40, 0.0);
        let at_once = null_runs(&asked, 0, 40).unwrap();
        let (one, _) = null_runs(&asked, 0, 15).unwrap();
        let (other, last) = null_runs(&asked, 15, 25).unwrap();
        let sum = [one.fixed + other.fixed, one.walk + other.walk, one.largest + other.largest];
        assert_eq!(sum, [at_once.0.fixed, at_once.0.walk, at_once.0.largest]);
        assert_eq!(last, at_once.1);
    }

    #[test]
    fn arguments_outside_their_domain_are_refused() {
        for (asked, part) in [
            (asked(4, 2, 1.0), "canaries"),
            (asked(100_000, 2, 1.0), "canaries"),
            (asked(100, 101, 1.0), "guesses"),
            (asked(100, 10, -1.0), "mu"),
        ] {
            assert!(simulated(&asked).unwrap_err().message.contains(part));
        }
        assert!(null_runs(&asked(100, 10, 0.0), 0, 100_000).is_err());
    }
}

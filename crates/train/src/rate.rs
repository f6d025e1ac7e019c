//! Search for a learning rate.

use dpscope_core::adjacency::World;
use dpscope_core::math;
use dpscope_engine::EngineError;
use dpscope_simulation::TrainingTally;

use crate::canary::SHARED_STREAM;
use crate::run::Runner;
use crate::{TrainError, Training};

/// Runs per learning rate.
const RUNS: u64 = 2;

/// Number of learning rates: 10⁻² to 10, two per decade.
const RATES: i32 = 7;

/// The result of a search for a learning rate.
#[derive(Debug, Clone, PartialEq)]
pub struct RateSearch {
    /// The learning rate with the highest held-out accuracy; the lowest of several equal ones.
    pub best: f64,
    /// Each learning rate tested, in ascending order, with its held-out accuracy.
    pub accuracies: Vec<(f64, f64)>,
}

/// Searches for a learning rate on a logarithmic grid. The models are trained in the world without
/// the canary, with random words that no audited run uses.
///
/// # Errors
/// Data without held-out records; no learning rate whose models classify any example correctly.
pub fn search_learning_rate(
    training: Training,
    keep_going: &dyn Fn() -> bool,
) -> Result<(Training, RateSearch), TrainError> {
    if training.examples.held_out().is_none() {
        return Err(TrainError::NoHeldOutRecords { data: training.examples.name().to_owned() });
    }
    let rates: Vec<f64> =
        (0..RATES).map(|place| math::powf(10.0, f64::from(place - 4) / 2.0)).collect();
    let (lowest, highest) = (rates[0], rates[rates.len() - 1]);
    let mut training = training;
    let mut accuracies = Vec::new();
    for &rate in &rates {
        training = training.with_learning_rate(rate)?;
        let mut runner = Runner::new(&training);
        let mut tally = TrainingTally::default();
        for run in 0..RUNS {
            // streams that no audited run uses
            let trajectory = runner.train(World::ZeroOut, SHARED_STREAM - 1 - run, keep_going);
            trajectory.ok_or(EngineError::Stopped)?;
            runner.evaluate(&mut tally);
        }
        accuracies.push((rate, tally.accuracy().unwrap_or(0.0)));
    }
    let best =
        accuracies.iter().fold((0.0, 0.0), |best, &next| if next.1 > best.1 { next } else { best });
    if !(best.1 > 0.0) {
        return Err(TrainError::NoUsefulLearningRate { lowest, highest });
    }
    Ok((training.with_learning_rate(best.0)?, RateSearch { best: best.0, accuracies }))
}

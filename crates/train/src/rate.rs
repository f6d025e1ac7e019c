//! The learning rate at which models are useful.

use dpscope_core::adjacency::World;
use dpscope_core::math;
use dpscope_engine::{EngineError, TrainingTally};

use crate::canary::SHARED_STREAM;
use crate::run::Runner;
use crate::{TrainError, Training};

/// Runs for each rate.
const RUNS: u64 = 2;

/// Rates: from 10⁻² to 10, two a power of ten.
const RATES: i32 = 7;

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct RateSearch {
    /// The rate whose models classify most held-out examples correctly; the lowest of these.
    pub best: f64,
    /// Each rate that was tried, rising, with the share that its models classify correctly.
    pub tried: Vec<(f64, f64)>,
}

/// Searches the learning rate on a logarithmic scale, with models that are trained as the runs of the
/// other world are, but are not among those that are audited.
///
/// # Errors
/// Data without a held-out part; no rate with a model that is ever right.
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
    let mut tried = Vec::new();
    for &rate in &rates {
        training = training.with_learning_rate(rate)?;
        let mut runner = Runner::new(&training);
        let mut tally = TrainingTally::default();
        for run in 0..RUNS {
            // streams that no run has
            let followed = runner.follow(World::ZeroOut, SHARED_STREAM - 1 - run, keep_going);
            followed.ok_or(EngineError::Stopped)?;
            runner.evaluate(&mut tally);
        }
        tried.push((rate, tally.correct_share().unwrap_or(0.0)));
    }
    let best =
        tried.iter().fold((0.0, 0.0), |best, &next| if next.1 > best.1 { next } else { best });
    if !(best.1 > 0.0) {
        return Err(TrainError::NoUsefulLearningRate { lowest, highest });
    }
    Ok((training.with_learning_rate(best.0)?, RateSearch { best: best.0, tried }))
}

//! Evaluations of one accountant per CPU-second: prints one line of JSON.
//!
//! `cargo run --release -p dpscope-core --example accountant_rates -- poisson 1 100 1`
//! `(poisson | calibration | shuffle | pair) NOISE_MULTIPLIER STEPS_PER_EPOCH EPOCHS`

mod cpu_clock;

use std::error::Error;

use dpscope_core::accounting::pair::{ExactPair, PairMethod};
use dpscope_core::accounting::{
    Accountant, Given, Parameter, Poisson, PrivacyTarget, Query, Shuffle, ShuffleMethod, Training,
    calibrate,
};
use dpscope_core::math;

use cpu_clock::CpuClock;

const DELTA: f64 = 1e-5;
const GIVEN: Given = Given::Delta(DELTA);

/// Draws of a pair.
const DRAWS: usize = 40_000;

fn poisson(training: Training) -> Result<f64, Box<dyn Error>> {
    let query = Query { error: Some(1e-4), ..Query::upper(training, GIVEN) };
    Ok(Poisson.account(&query)?.epsilon)
}

/// σ for ε = 2.
fn calibration(training: Training) -> Result<f64, Box<dyn Error>> {
    let target = PrivacyTarget { epsilon: 2.0, delta: DELTA, error: Some(1e-3) };
    Ok(calibrate(&Poisson, Parameter::Noise, &target, &training)?.value)
}

fn shuffle(training: Training) -> Result<f64, Box<dyn Error>> {
    let query = Query::lower(training, GIVEN);
    Ok(Shuffle(ShuffleMethod::MaxSlice).account(&query)?.epsilon)
}

fn pair(training: Training, seed: u64) -> Result<f64, Box<dyn Error>> {
    let mut normals = Normals(seed);
    let pair = ExactPair { method: PairMethod::OneEpoch, draws: DRAWS, significance: 0.025 };
    let values = pair.evaluate(&training, GIVEN, &mut |out: &mut [f64]| normals.fill(out))?;
    Ok(values.lower.epsilon)
}

/// SplitMix64 and the polar method.
struct Normals(u64);

impl Normals {
    fn symmetric(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) >> 11) as f64 / 4_503_599_627_370_496.0 - 1.0
    }

    fn fill(&mut self, out: &mut [f64]) {
        for normals in out.chunks_mut(2) {
            let (u, v, square) = loop {
                let (u, v) = (self.symmetric(), self.symmetric());
                let square = u * u + v * v;
                if square < 1.0 && square > 0.0 {
                    break (u, v, square);
                }
            };
            let radius = (-2.0 * math::ln(square) / square).sqrt();
            for (normal, coordinate) in normals.iter_mut().zip([u, v]) {
                *normal = radius * coordinate;
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "WHAT NOISE_MULTIPLIER STEPS_PER_EPOCH EPOCHS";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, noise_multiplier, steps_per_epoch, epochs] = &arguments[..] else {
        return Err(usage.into());
    };
    let training = Training {
        noise_multiplier: noise_multiplier.parse()?,
        steps_per_epoch: steps_per_epoch.parse()?,
        epochs: epochs.parse()?,
        sampling_rate: None,
    };
    let (clock, mut evaluations, mut least) = (CpuClock::start(), 0_u64, f64::INFINITY);
    while clock.seconds() < 1.0 {
        evaluations += 1;
        let value = match what.as_str() {
            "poisson" => poisson(training)?,
            "calibration" => calibration(training)?,
            "shuffle" => shuffle(training)?,
            "pair" => pair(training, evaluations)?,
            _ => return Err(usage.into()),
        };
        least = least.min(value);
    }
    let rate = evaluations as f64 / clock.seconds();
    println!("{{\"value\": {least:.6}, \"evaluations_per_cpu_second\": {rate:.6}}}");
    Ok(())
}

//! Draws of the exact pair in f32 lanes against the f64 route on the same random words.

use dpscope_core::accounting::pair::{
    Draw, DrawError, EpochSums, ExactPair, PairDraws, PairMethod, Proposal,
};
use dpscope_core::accounting::{AccountingError, Given, Training};
use dpscope_core::random::{Purpose, stream_words};
use dpscope_core::{math, special::normal_quantile};
use dpscope_engine::{Control, EngineError, Unattended};
use dpscope_shaders::PairKernel;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Backend, pair};
use dpscope_tests::Draws;

const SEED: u64 = 11;

const DELTA: Given = Given::Delta(1e-5);

fn run(noise_multiplier: f64, steps_per_epoch: u64, epochs: u64) -> Training {
    Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate: None }
}

fn one_epoch(draws: usize) -> ExactPair {
    ExactPair { method: PairMethod::OneEpoch, draws, significance: 0.025 }
}

/// Noise with little and much of every component, and epochs on both sides of a block's end.
const SIGMAS: [f64; 5] = [0.1, 0.4, 1.0, 2.0, 5.0];
const STEPS: [u64; 7] = [2, 3, 13, 14, 15, 100, 2_000];

/// The normals that [`Proposal`] asks for, of the words that the kernel draws, in f64; `None` where a
/// radius word is extended.
fn wide_normals(steps: usize, draw: u64) -> Option<Vec<f64>> {
    let mut words = vec![0; (steps + 2).next_multiple_of(2)];
    stream_words(SEED, Purpose::PairNoise, 2 * draw, 0, &mut words);
    let mut normals = Vec::with_capacity(steps + 2);
    for pair in words[2..].chunks_exact(2) {
        if pair[0] < 1 << 12 {
            return None;
        }
        let u = (f64::from(pair[0]) + 0.5) / 4_294_967_296.0;
        let radius = (-2.0 * math::ln(u)).sqrt();
        let signed = if pair[1] >> 31 == 1 { -radius } else { radius };
        let angle = std::f64::consts::PI * f64::from((pair[1] << 1) as i32) / 4_294_967_296.0;
        normals.extend([signed * math::cos(angle), signed * math::sin(angle)]);
    }
    normals.truncate(steps);
    normals.push(normal_quantile((f64::from(words[0]) + 0.5) / 4_294_967_296.0).unwrap());
    Some(normals)
}

/// Compares whatever proposal it is asked to draw from, and then draws in f64.
struct Comparison<'a> {
    broken: &'a dyn Fn(&Proposal, &mut EpochSums),
    /// The largest difference over the stated error, of loss, weight, maximum and total.
    worst: [f64; 4],
}

impl Comparison<'_> {
    fn compare(&mut self, proposal: &Proposal, kernel: &PairKernel) {
        let error = kernel.error();
        let drawn = kernel.values(0, 200, &|| true).unwrap();
        for (number, values) in (0..).zip(&drawn) {
            let Some(normals) = wide_normals(proposal.steps_per_epoch(), number) else { continue };
            let mut wide = None;
            let mut given = |out: &mut [f64]| out.copy_from_slice(&normals);
            given.draws(proposal, 1, &mut |draw| wide = Some(draw)).unwrap();
            let wide: Draw = wide.unwrap();
            let mut sums = kernel.epoch_sums(values);
            (self.broken)(proposal, &mut sums);
            let seen = proposal.draw_of(&sums);
            let over = [
                (seen.loss - wide.loss).abs() / error.loss,
                (seen.weight / wide.weight - 1.0)
                    .abs()
                    .max((wide.weight / seen.weight - 1.0).abs())
                    / error.weight,
                (seen.maximum - wide.maximum).abs() / error.maximum,
                (seen.total - wide.total).abs() / error.total,
            ];
            for (worst, over) in self.worst.iter_mut().zip(over) {
                *worst = if over <= *worst { *worst } else { over };
            }
        }
    }
}

impl PairDraws for Comparison<'_> {
    type Error = AccountingError;

    fn normals(&mut self, out: &mut [f64]) -> Result<(), AccountingError> {
        out.fill(0.0);
        Ok(())
    }

    fn draws(
        &mut self,
        proposal: &Proposal,
        count: usize,
        each: &mut dyn FnMut(Draw),
    ) -> Result<(), AccountingError> {
        let kernel = PairKernel::new(proposal, SEED).unwrap();
        // once a proposal: the pilot's call
        if count < 500 {
            self.compare(proposal, &kernel);
        }
        let mut random = Draws::new(1);
        let mut normals = |out: &mut [f64]| out.iter_mut().for_each(|z| *z = random.normal());
        normals.draws(proposal, count.min(50), each)
    }
}

fn compared(broken: &dyn Fn(&Proposal, &mut EpochSums)) -> [f64; 4] {
    let mut comparison = Comparison { broken, worst: [0.0; 4] };
    for noise_multiplier in SIGMAS {
        for steps_per_epoch in STEPS {
            let run = run(noise_multiplier, steps_per_epoch, 1);
            for given in [DELTA, Given::Epsilon(1.0)] {
                one_epoch(1_000).evaluate(&run, given, &mut comparison).unwrap();
            }
        }
    }
    comparison.worst
}

#[test]
fn draws_are_within_the_derived_error() {
    let good = compared(&|_, _| ());
    assert!(good.iter().all(|worst| *worst < 1.0), "{good:?}");
    println!("largest error over the derived one: loss, weight, maximum, total {good:.2?}");
}

#[test]
fn broken_draws_exceed_the_derived_error() {
    let [loss, _, maximum, total] = compared(&|_, sums| sums.target += 0.01);
    assert!(loss > 1.0 && maximum > 1.0 && total > 1.0, "a wrong shift");
    let [_, weight, ..] = compared(&|_, sums| sums.others = 0.0);
    assert!(weight > 1.0, "a component missing in the weight");
    let [loss, ..] = compared(&|_, sums| sums.second *= 1.01);
    assert!(loss > 1.0, "a wrong sum");
    let [_, _, maximum, total] = compared(&|_, sums| {
        sums.maximum *= 1.001;
        sums.total *= 1.001;
    });
    assert!(maximum > 1.0 && total > 1.0, "noise x 1.001");
}

fn backend() -> Backend {
    Backend::Cpu(CpuBackend::new(2).unwrap())
}

/// Mean weights in standard errors from 1, of a source.
fn worst_mean_weight<S: PairDraws<Error: std::fmt::Debug>>(source: &mut S) -> f64 {
    let mut worst = 0.0_f64;
    for (noise_multiplier, steps_per_epoch) in [(0.4, 30), (1.0, 100), (2.0, 10), (5.0, 100)] {
        let run = run(noise_multiplier, steps_per_epoch, 1);
        let values = one_epoch(60_000).evaluate(&run, DELTA, source).unwrap();
        let weight = values.mean_weight.unwrap();
        worst = worst.max((weight.value - 1.0).abs() / weight.standard_error);
    }
    worst
}

/// Draws of lanes whose weights lack a component.
struct Unweighted {
    done: u64,
    broken: bool,
}

impl PairDraws for Unweighted {
    type Error = AccountingError;

    fn normals(&mut self, _: &mut [f64]) -> Result<(), AccountingError> {
        unreachable!("one epoch is drawn in lanes")
    }

    fn draws(
        &mut self,
        proposal: &Proposal,
        count: usize,
        each: &mut dyn FnMut(Draw),
    ) -> Result<(), AccountingError> {
        let kernel = PairKernel::new(proposal, SEED).unwrap();
        for values in kernel.values(self.done, count, &|| true).unwrap() {
            let mut sums = kernel.epoch_sums(&values);
            sums.others *= if self.broken { 0.0 } else { 1.0 };
            each(proposal.draw_of(&sums));
        }
        self.done += count as u64;
        Ok(())
    }
}

#[test]
fn mean_weights_are_one() {
    let good = worst_mean_weight(&mut Unweighted { done: 0, broken: false });
    assert!(good < 4.0, "{good}");
    let broken = worst_mean_weight(&mut Unweighted { done: 0, broken: true });
    assert!(broken > 4.0, "{broken}");
}

#[test]
fn limits_of_lanes_and_of_f64_agree() {
    let mut worst = [0.0_f64; 2];
    for (noise_multiplier, steps_per_epoch) in [(0.5, 100), (1.0, 100), (2.0, 10), (5.0, 100)] {
        let run = run(noise_multiplier, steps_per_epoch, 1);
        let less = Training { noise_multiplier: 0.995 * noise_multiplier, ..run };
        let mut random = Draws::new(3);
        let mut normals = |out: &mut [f64]| out.iter_mut().for_each(|z| *z = random.normal());
        let wide = one_epoch(60_000).evaluate(&run, DELTA, &mut normals).unwrap();
        for (run, worst) in [run, less].iter().zip(&mut worst) {
            let exact = one_epoch(60_000);
            let seen = pair::evaluate(&exact, run, DELTA, SEED, &backend(), &Unattended).unwrap();
            let [a, b] = [&seen, &wide].map(|pair| pair.estimate.standard_error.unwrap());
            let error = (a * a + b * b).sqrt();
            *worst = worst.max((seen.estimate.epsilon - wide.estimate.epsilon).abs() / error);
            assert!(seen.lower.epsilon <= seen.estimate.epsilon + 4.0 * a, "{run:?}");
        }
    }
    assert!(worst[0] < 4.0 && worst[1] > 4.0, "{worst:?}: agree, less noise does not");
}

#[test]
fn results_depend_on_the_seed_alone() {
    let run_of_37 = run(1.0, 37, 1);
    let seen = |seed, threads| {
        let backend = Backend::Cpu(CpuBackend::new(threads).unwrap());
        [DELTA, Given::Epsilon(2.0)].map(|given| {
            let exact = one_epoch(30_000);
            pair::evaluate(&exact, &run_of_37, given, seed, &backend, &Unattended).unwrap()
        })
    };
    assert_eq!(seen(1, 1), seen(1, 3));
    assert_ne!(seen(1, 1), seen(2, 1));
    // longer than the kernel's epochs: in f64
    let (few, long) = (one_epoch(1_000), run(0.5, 70_000, 1));
    let of_long = pair::evaluate(&few, &long, DELTA, 1, &backend(), &Unattended).unwrap();
    assert!(of_long.estimate.epsilon > 0.0);
}

/// Says no after some questions.
struct Stopper(std::sync::atomic::AtomicU32);

impl Control for Stopper {
    fn keep_going(&self) -> bool {
        use std::sync::atomic::Ordering::SeqCst;
        self.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
    }

    fn now_ms(&self) -> f64 {
        0.0
    }
}

#[test]
fn each_method_can_be_stopped_and_names_bad_arguments() {
    let (one, many) = (run(1.0, 20, 1), run(1.0, 20, 3));
    let backend = backend();
    for questions in [0, 1, 2, 5] {
        let stop = || Stopper(questions.into());
        for (method, run, given) in [
            (PairMethod::OneEpoch, one, DELTA),
            (PairMethod::OneEpoch, one, Given::Epsilon(1.0)),
            (PairMethod::WholeRuns, many, DELTA),
            (PairMethod::PlugIn, many, DELTA),
        ] {
            let exact = ExactPair { method, ..one_epoch(100_000) };
            let error = pair::evaluate(&exact, &run, given, 1, &backend, &stop()).err();
            assert!(matches!(error, Some(EngineError::Stopped)), "{questions}: {error:?}");
        }
    }
    let exact = one_epoch(100_000);
    let refused = pair::evaluate(&exact, &one, Given::Delta(2.0), 1, &backend, &Unattended);
    let refused = refused.err().unwrap();
    assert!(refused.to_string().starts_with("delta is 2;"), "{refused}");
    assert_eq!(DrawError::default().loss, 0.0);
}

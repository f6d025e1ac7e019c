//! Draws of the exact pair in f32 lanes against the f64 route on the same random words.

use dpscope_core::accounting::AccountingError;
use dpscope_core::accounting::pair::{
    Draw, DrawError, EpochSums, PairDraws, Proposal, Sampling, pair_delta, pair_epsilon,
};
use dpscope_core::accounting::shuffle::ShuffleRun;
use dpscope_core::random::{Purpose, stream_words};
use dpscope_core::{math, special::normal_quantile};
use dpscope_engine::backend::CpuBackend;
use dpscope_engine::{Backend, Control, EngineError, Unattended, pair};
use dpscope_shaders::PairKernel;
use dpscope_tests::Draws;

const SEED: u64 = 11;

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
    let sampling = Sampling { draws: 1_000, significance: 0.025 };
    for noise_multiplier in SIGMAS {
        for steps_per_epoch in STEPS {
            let run = ShuffleRun { noise_multiplier, steps_per_epoch, epochs: 1 };
            pair_epsilon(&run, 1e-5, sampling, &mut comparison).unwrap();
            pair_delta(&run, 1.0, sampling, &mut comparison).unwrap();
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
fn broken_draws_are_not() {
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
    let sampling = Sampling { draws: 60_000, significance: 0.025 };
    let mut worst = 0.0_f64;
    for (noise_multiplier, steps_per_epoch) in [(0.4, 30), (1.0, 100), (2.0, 10), (5.0, 100)] {
        let run = ShuffleRun { noise_multiplier, steps_per_epoch, epochs: 1 };
        let weight = pair_epsilon(&run, 1e-5, sampling, source).unwrap().mean_weight.unwrap();
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
    let sampling = Sampling { draws: 60_000, significance: 0.025 };
    let mut worst = [0.0_f64; 2];
    for (noise_multiplier, steps_per_epoch) in [(0.5, 100), (1.0, 100), (2.0, 10), (5.0, 100)] {
        let run = ShuffleRun { noise_multiplier, steps_per_epoch, epochs: 1 };
        let less = ShuffleRun { noise_multiplier: 0.995 * noise_multiplier, ..run };
        let mut random = Draws::new(3);
        let mut normals = |out: &mut [f64]| out.iter_mut().for_each(|z| *z = random.normal());
        let wide = pair_epsilon(&run, 1e-5, sampling, &mut normals).unwrap();
        for (run, worst) in [run, less].iter().zip(&mut worst) {
            let seen = pair::epsilon(run, 1e-5, sampling, SEED, &backend(), &Unattended).unwrap();
            let [a, b] = [&seen, &wide].map(|pair| pair.estimate.standard_error());
            let error = (a * a + b * b).sqrt();
            *worst = worst.max((seen.estimate.value() - wide.estimate.value()).abs() / error);
            assert!(seen.lower.value() <= seen.estimate.value() + 4.0 * a, "{run:?}");
        }
    }
    assert!(worst[0] < 4.0 && worst[1] > 4.0, "{worst:?}: agree, less noise does not");
}

#[test]
fn results_depend_on_the_seed_alone() {
    let run = ShuffleRun { noise_multiplier: 1.0, steps_per_epoch: 37, epochs: 1 };
    let sampling = Sampling { draws: 30_000, significance: 0.025 };
    let seen = |seed, threads| {
        let backend = Backend::Cpu(CpuBackend::new(threads).unwrap());
        let epsilon = pair::epsilon(&run, 1e-5, sampling, seed, &backend, &Unattended).unwrap();
        let delta = pair::delta(&run, 2.0, sampling, seed, &backend, &Unattended).unwrap();
        (epsilon, delta)
    };
    assert_eq!(seen(1, 1), seen(1, 3));
    assert_ne!(seen(1, 1), seen(2, 1));
    // longer than the kernel's epochs: in f64
    let long = ShuffleRun { noise_multiplier: 0.5, steps_per_epoch: 70_000, epochs: 1 };
    let few = Sampling { draws: 1_000, ..sampling };
    let of_long = pair::epsilon(&long, 1e-5, few, 1, &backend(), &Unattended).unwrap();
    assert!(of_long.estimate.value() > 0.0);
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
fn each_function_can_be_stopped_and_names_bad_arguments() {
    let run = ShuffleRun { noise_multiplier: 1.0, steps_per_epoch: 20, epochs: 1 };
    let many = ShuffleRun { epochs: 3, ..run };
    let sampling = Sampling { draws: 100_000, significance: 0.025 };
    let backend = backend();
    for questions in [0, 1, 2, 5] {
        let stop = || Stopper(questions.into());
        let stopped = [
            pair::epsilon(&run, 1e-5, sampling, 1, &backend, &stop()).err(),
            pair::delta(&run, 1.0, sampling, 1, &backend, &stop()).err(),
            pair::runs_epsilon(&many, 1e-5, sampling, 1, &backend, &stop()).err(),
            pair::plug_in_epsilon(&many, 1e-5, 100_000, 1, &backend, &stop()).err(),
        ];
        for error in stopped {
            assert!(matches!(error, Some(EngineError::Stopped)), "{questions}: {error:?}");
        }
    }
    let refused = pair::epsilon(&run, 2.0, sampling, 1, &backend, &Unattended).err().unwrap();
    assert!(refused.to_string().starts_with("delta is 2;"), "{refused}");
    assert_eq!(DrawError::default().loss, 0.0);
}

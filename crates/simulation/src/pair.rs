//! ε and δ of the exact pair of a shuffled run: the statistics are those of
//! [`dpscope_core::accounting::pair`], the draws come from a backend.
//!
//! One epoch is drawn in f32 by the kernel of `dpscope-shaders`, on the CPU or with the same bits on a
//! GPU; limits are rounded outward by its derived error. What the kernel does not reach (epochs of
//! more than 65,536 steps, noise multipliers above 10,000) and many epochs are drawn in f64 by one
//! thread; what the latter are drawn from is fitted to draws of the kernel.

mod drawing;
mod sampler;

pub use sampler::{PairRows, PairSampler};

use dpscope_core::accounting::pair::{
    Draw, DrawError, ExactPair, PairDraws, PairMethod, PairValues, Proposal,
};
use dpscope_core::accounting::{Given, Training};
use dpscope_core::random::{Purpose, WideNormals};
use dpscope_engine::{Control, EngineError, UnitRange};
use dpscope_shaders::PairKernel;

use self::drawing::PairDrawing;
use crate::Backend;
use crate::backend::CpuBackend;

/// A rigorous lower limit and an estimate of the pair; see [`ExactPair::evaluate`].
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `pair` | what is drawn, how much, significance | see [`ExactPair`] |
/// | `training` | σ, T, E | see [`ExactPair::evaluate`] |
/// | `given` | δ or ε | see [`ExactPair::evaluate`] |
/// | `seed` | of the random stream | any |
/// | `backend` | where draws of one epoch are made; many epochs are drawn in f64 by one thread | – |
/// | `control` | progress, cancellation, reports of a device that fails | – |
///
/// # Guarantee
/// The result does not depend on threads or device
/// (`tests/agreement/pair.rs::results_depend_on_the_seed_alone`,
/// `tests/gpu/pair.rs::pair_results_equal_those_of_the_cpu`), and agrees with other codes
/// (`tests/oracles/shuffle_theory.rs::one_epoch_drawn_by_the_engine`).
///
/// # Errors
/// An argument outside its domain; cancelled by the caller.
///
/// # Example
/// ```
/// use dpscope_core::accounting::pair::{ExactPair, PairMethod};
/// use dpscope_core::accounting::{Given, Training};
/// use dpscope_engine::Unattended;
/// use dpscope_simulation::{Backend, backend::CpuBackend, pair};
/// let training =
///     Training { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1, sampling_rate: None };
/// let method = PairMethod::OneEpoch;
/// let exact = ExactPair { method, draws: 50_000, significance: 0.025 };
/// let backend = Backend::Cpu(CpuBackend::new(1)?);
/// let values = pair::evaluate(&exact, &training, Given::Delta(1e-5), 1, &backend, &Unattended)?;
/// println!("{:.3} {:.3}", values.lower.epsilon, values.estimate.epsilon);
/// # assert_eq!(format!("{:.3}", values.estimate.epsilon), "4.065");
/// # Ok::<(), dpscope_engine::EngineError>(())
/// ```
pub fn evaluate(
    pair: &ExactPair,
    training: &Training,
    given: Given,
    seed: u64,
    backend: &Backend,
    control: &dyn Control,
) -> Result<PairValues, EngineError> {
    if pair.method == PairMethod::OneEpoch {
        let mut source = BackendDraws::new(pair.draws, seed, backend, control);
        pair.evaluate(training, given, &mut source)
    } else {
        pair.evaluate(training, given, &mut RunDraws::new(seed, backend, control))
    }
}

/// Draws from f64 normals, with cancellation.
struct Normals<'a> {
    normals: WideNormals,
    control: &'a dyn Control,
}

impl<'a> Normals<'a> {
    fn new(seed: u64, control: &'a dyn Control) -> Self {
        Normals { normals: WideNormals::new(seed, Purpose::PairRuns, 0), control }
    }
}

impl PairDraws for Normals<'_> {
    type Error = EngineError;

    fn normals(&mut self, out: &mut [f64]) -> Result<(), EngineError> {
        if !self.control.keep_going() {
            return Err(EngineError::Stopped);
        }
        self.normals.fill(out);
        Ok(())
    }
}

/// Draws for several epochs: a proposal is fitted to draws of the CPU kernel, the rest is f64.
struct RunDraws<'a> {
    seed: u64,
    cpu: &'a CpuBackend,
    control: &'a dyn Control,
    wide: Normals<'a>,
    fitted_to: u64,
}

impl<'a> RunDraws<'a> {
    fn new(seed: u64, backend: &'a Backend, control: &'a dyn Control) -> Self {
        let wide = Normals::new(seed, control);
        RunDraws { seed, cpu: backend.cpu(), control, wide, fitted_to: 0 }
    }
}

impl PairDraws for RunDraws<'_> {
    type Error = EngineError;

    fn normals(&mut self, out: &mut [f64]) -> Result<(), EngineError> {
        self.wide.normals(out)
    }

    fn rough_draws(
        &mut self,
        proposal: &Proposal,
        count: usize,
        each: &mut dyn FnMut(Draw),
    ) -> Result<(), EngineError> {
        let Ok(kernel) = PairKernel::new(proposal, self.seed) else {
            return self.wide.draws(proposal, count, each);
        };
        let first = self.fitted_to;
        self.fitted_to += count as u64;
        let range = UnitRange { first, end: self.fitted_to };
        let keep_going = || self.control.keep_going();
        self.cpu.pair_draws(&kernel, range, &keep_going)?.into_iter().for_each(each);
        Ok(())
    }
}

/// Draws for one epoch from a backend; in f64 outside the domain of its kernel.
struct BackendDraws<'a> {
    seed: u64,
    backend: &'a Backend,
    control: &'a dyn Control,
    wide: Normals<'a>,
    done: u64,
    total: u64,
    on_cpu: bool,
}

impl<'a> BackendDraws<'a> {
    fn new(draws: usize, seed: u64, backend: &'a Backend, control: &'a dyn Control) -> Self {
        let (wide, total) = (Normals::new(seed, control), draws as u64);
        BackendDraws { seed, backend, control, wide, done: 0, total, on_cpu: false }
    }
}

impl PairDraws for BackendDraws<'_> {
    type Error = EngineError;

    fn normals(&mut self, out: &mut [f64]) -> Result<(), EngineError> {
        self.wide.normals(out)
    }

    fn error(&self, proposal: &Proposal) -> DrawError {
        let kernel = PairKernel::new(proposal, self.seed);
        kernel.map_or(DrawError::default(), |kernel| kernel.error())
    }

    fn draws(
        &mut self,
        proposal: &Proposal,
        count: usize,
        each: &mut dyn FnMut(Draw),
    ) -> Result<(), EngineError> {
        let Ok(kernel) = PairKernel::new(proposal, self.seed) else {
            return self.wide.draws(proposal, count, each);
        };
        let mut drawing = PairDrawing::new(self.backend, kernel, self.control, self.on_cpu);
        let end = self.done.saturating_add(count as u64);
        while self.done < end {
            let draws = drawing.first_of(UnitRange { first: self.done, end })?;
            self.done += draws.len() as u64;
            draws.into_iter().for_each(&mut *each);
            self.control.after_draws(self.done, self.total);
        }
        self.on_cpu = drawing.is_on_cpu();
        Ok(())
    }
}

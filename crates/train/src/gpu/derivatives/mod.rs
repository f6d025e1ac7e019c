//! Derivatives of the losses of batches on a GPU.

mod program;
mod self_test;

use std::sync::{Arc, Mutex, PoisonError};

use dpscope_engine::gpu::{Adapter, OpenDevice, Reopening};
use dpscope_engine::{EngineError, GpuError};
use dpscope_shaders::train::Numbers;

use super::device::open_device;
use super::pipelines::SourceEdit;
use super::size::WaveLimits;
use crate::metagradient::{BatchRows, DerivativeDevice, Derivatives, LaneDerivatives};
use crate::model::Network;
use program::{Program, RowLimits};

/// Derivatives in f32 on a GPU, for all threads: gradients on values, products with the Hessian on
/// dual numbers.
///
/// Clipped gradients, their products, and the objective, which is needed once per training, are the
/// CPU's. A lost device is reopened and the call repeated. If that fails, this call and all later
/// ones are the CPU's, and [`failure`](Self::failure) is the reason.
///
/// # Guarantee
/// Gradients, products and derivatives of the examples equal those of f64 within
/// [`rounding`](crate::metagradient::rounding)
/// (`tests/gpu/derivatives.rs::derivatives_equal_those_of_f64`), wrong kernels are rejected before
/// their results count (`tests/gpu/derivatives.rs::wrong_derivatives_are_rejected`), and results do
/// not depend on threads or on the loss of the device
/// (`tests/gpu/derivatives.rs::optimised_canaries_do_not_depend_on_threads_or_a_lost_device`).
#[derive(Debug)]
pub struct GpuDerivatives {
    network: Network,
    limits: RowLimits,
    edit: Option<SourceEdit>,
    open: Reopening<OpenDevice>,
    state: Mutex<State>,
}

/// The kernels of both kinds of numbers.
#[derive(Debug)]
struct Programs {
    gradient: Program,
    product: Program,
}

#[derive(Debug)]
struct State {
    /// `None` after the device was lost.
    programs: Option<Programs>,
    failure: Option<GpuError>,
}

impl GpuDerivatives {
    /// Opens an adapter for a network, and compares its derivatives with the CPU's.
    ///
    /// | argument | meaning | unit | domain |
    /// |---|---|---|---|
    /// | `network` | whose derivatives are computed | – | – |
    /// | `adapter` | the GPU | – | – |
    /// | `max_rows` | rows of a pass; larger batches are summed in passes | rows | ≥ 1 |
    /// | `memory_bytes` | limit on the device memory; if necessary, a pass has fewer rows | bytes | – |
    ///
    /// # Errors
    /// A network too large for the device or its memory; no device; a failed self-test.
    pub fn open(
        network: &Network,
        adapter: &Adapter,
        max_rows: usize,
        memory_bytes: u64,
    ) -> Result<Self, EngineError> {
        Self::open_edited(network, adapter, (max_rows, memory_bytes), None)
    }

    /// Opens an adapter as [`open`](Self::open) does, with kernels modified by `edit`. For tests.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    #[doc(hidden)]
    pub fn open_edited(
        network: &Network,
        adapter: &Adapter,
        (rows, memory_bytes): (usize, u64),
        edit: Option<SourceEdit>,
    ) -> Result<Self, EngineError> {
        // of two plans
        let limits = RowLimits { rows, bytes: memory_bytes / 2 };
        let open = pollster::block_on(open_device(adapter, &WaveLimits::of_memory(memory_bytes)))?;
        let open = Reopening::new(adapter, open);
        let programs = Programs::new(&open.device(), network, limits, edit)?;
        let state = Mutex::new(State { programs: Some(programs), failure: None });
        Ok(Self { network: network.clone(), limits, edit, open, state })
    }

    /// Name of the device.
    #[must_use]
    pub fn name(&self) -> String {
        self.open.adapter().facts().device()
    }

    /// Why the CPU has taken over.
    #[must_use]
    pub fn failure(&self) -> Option<GpuError> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).failure.clone()
    }

    /// How often the device was opened.
    #[must_use]
    pub fn opening(&self) -> u64 {
        self.open.opening()
    }

    /// Destroys the device, like a driver reset. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        self.open.device().lose();
    }

    /// Prevents a lost device from being reopened. For tests.
    #[doc(hidden)]
    pub fn forbid_reopening(&self) {
        self.open.forbid();
    }

    /// Runs a call on the device, again after each loss; false if the CPU has to.
    fn is_done(&self, call: &mut dyn FnMut(&mut Programs) -> Result<(), GpuError>) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.failure.is_none() {
            let opening = self.open.opening();
            let mut run = || {
                let programs = match &mut state.programs {
                    Some(programs) => programs,
                    none => {
                        let open = self.open.device();
                        none.insert(Programs::new(&open, &self.network, self.limits, self.edit)?)
                    }
                };
                call(programs)
            };
            let reason = match run() {
                Ok(()) => return true,
                Err(GpuError::Device(reason)) => reason,
                Err(failure) => {
                    state.failure = Some(failure);
                    continue;
                }
            };
            state.programs = None;
            let open = async |adapter: Adapter| {
                let limits = WaveLimits::of_memory(2 * self.limits.bytes);
                open_device(&adapter, &limits).await.map_err(|failure| failure.to_string())
            };
            if let Err(closed) = pollster::block_on(self.open.reopen(opening, open)) {
                state.failure = Some(GpuError::Device(format!("{reason}; {closed}")));
            }
        }
        false
    }
}

impl Programs {
    /// Compiles all kernels and runs the self-test.
    fn new(
        open: &Arc<OpenDevice>,
        network: &Network,
        limits: RowLimits,
        edit: Option<SourceEdit>,
    ) -> Result<Self, GpuError> {
        let program = |numbers| Program::new(open, network, limits, numbers, edit);
        let mut programs =
            Programs { gradient: program(Numbers::Value)?, product: program(Numbers::Dual)? };
        self_test::check(network, &mut programs.gradient, &mut programs.product)?;
        Ok(programs)
    }
}

impl DerivativeDevice for GpuDerivatives {
    fn derivatives(&self) -> Box<dyn Derivatives<Number = f32> + '_> {
        Box::new(ThreadDerivatives { device: self, cpu: LaneDerivatives::new(&self.network) })
    }
}

/// The device as one of the threads sees it.
#[derive(Debug)]
struct ThreadDerivatives<'a> {
    device: &'a GpuDerivatives,
    cpu: LaneDerivatives,
}

impl Derivatives for ThreadDerivatives<'_> {
    type Number = f32;

    fn network(&self) -> &Network {
        &self.device.network
    }

    fn gradient(
        &mut self,
        theta: &[f32],
        batch: BatchRows<'_, f32>,
        clip_norm: Option<f64>,
        out: &mut [f32],
    ) {
        let mut run = |programs: &mut Programs| {
            programs.gradient.run((theta, None), batch, usize::MAX, out, &mut [])
        };
        if clip_norm.is_some() || !self.device.is_done(&mut run) {
            self.cpu.gradient(theta, batch, clip_norm, out);
        }
    }

    fn product(
        &mut self,
        theta: &[f32],
        w: &[f32],
        batch: BatchRows<'_, f32>,
        clip_norm: Option<f64>,
        out: &mut [f32],
        cross: &mut [f32],
    ) {
        let mut run = |programs: &mut Programs| {
            programs.product.run((theta, Some(w)), batch, usize::MAX, out, cross)
        };
        if clip_norm.is_some() || !self.device.is_done(&mut run) {
            self.cpu.product(theta, w, batch, clip_norm, out, cross);
        }
    }

    fn objective(
        &mut self,
        theta: &[f32],
        batch: BatchRows<'_, f32>,
        weights: &[f64],
        out: &mut [f32],
        direct: &mut [f32],
    ) -> f32 {
        self.cpu.objective(theta, batch, weights, out, direct)
    }
}

//! GPUs through wgpu: the programs of `dpscope-shaders` on whatever adapter there is.
#![cfg_attr(
    target_arch = "wasm32",
    expect(clippy::arc_with_non_send_sync, reason = "a browser's GPU stays on its thread")
)]

mod adapter;
mod ahead;
mod counting;
mod device;
mod loaded;
mod open;
#[cfg_attr(target_arch = "wasm32", path = "pair_absent.rs")]
mod pair;
mod pieces;
mod record;
mod self_test;
mod source;
#[cfg_attr(target_arch = "wasm32", path = "spirv_absent.rs")]
mod spirv;
mod stages;

use std::sync::{Arc, Mutex};

use dpscope_core::adjacency::World;
use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::ScoreKernel;

pub use adapter::{Adapter, AdapterFacts, adapters, find, preferred};
pub use ahead::{Ahead, Landed, Pace};
pub(crate) use counting::{GpuCounting, Wave};
pub use open::{CAUGHT_PANIC, Failure, OpenDevice, Reading};
pub(crate) use pair::GpuPair;
#[doc(hidden)]
pub use pieces::PieceLimits;

use super::{CpuBackend, Work};
use crate::{EngineError, ObservationRange};
use device::Gpu;
use open::lock;
use record::Pass;

/// Devices that are opened in place of lost ones before the CPU takes over.
pub const REOPENINGS: u32 = 3;

/// A GPU that counts, with the CPU twin beside it.
#[derive(Debug)]
pub struct GpuBackend {
    adapter: Adapter,
    mode: FloatMode,
    cpu: CpuBackend,
    limits: PieceLimits,
    open: Mutex<Open>,
}

#[derive(Debug)]
struct Open {
    gpu: Arc<Gpu>,
    reopenings: u32,
}

impl GpuBackend {
    /// Opens an adapter.
    ///
    /// # Guarantee
    /// Counts in exact mode are those of the CPU twin, whatever limits the device has
    /// (`tests/gpu/limits.rs::counts_do_not_depend_on_limits`) and whenever it is lost
    /// (`tests/gpu/faults.rs::a_lost_device_costs_no_count`).
    ///
    /// # Errors
    /// The driver gives no device.
    pub async fn open(
        adapter: &Adapter,
        mode: FloatMode,
        cpu: CpuBackend,
    ) -> Result<Self, EngineError> {
        let limits = PieceLimits {
            workgroups: u32::MAX,
            binding_bytes: u64::MAX,
            turns: 50_000,
            wide: if adapter.facts().hardware { 1 << 16 } else { 1 << 10 },
        };
        Self::open_within(adapter, mode, cpu, limits).await
    }

    /// Opens an adapter as if it had lower limits. For tests.
    ///
    /// # Errors
    /// The driver gives no device.
    #[doc(hidden)]
    pub async fn open_within(
        adapter: &Adapter,
        mode: FloatMode,
        cpu: CpuBackend,
        limits: PieceLimits,
    ) -> Result<Self, EngineError> {
        let gpu = Gpu::open(adapter, &limits).await;
        let gpu = gpu.map_err(|reason| EngineError::Backend { backend: "gpu", reason })?;
        let open = Mutex::new(Open { gpu: Arc::new(gpu), reopenings: REOPENINGS });
        Ok(GpuBackend { adapter: adapter.clone(), mode, cpu, limits, open })
    }

    /// Scores of `count` observations of a world, in the kernel's unit, as the GPU computes them.
    ///
    /// # Errors
    /// The device fails, or fails its self-test.
    pub async fn scores(
        &self,
        kernel: &ScoreKernel,
        world: World,
        first: u64,
        count: u32,
    ) -> Result<Vec<i64>, EngineError> {
        let program = kernel.program(self.mode);
        let range = ObservationRange { first, end: first.saturating_add(u64::from(count)) };
        let scores = async {
            let loaded = self_test::loaded(&self.gpu(), &program).await?;
            let pass = Pass { loaded: &loaded, program: &program, most_blocks: u64::MAX };
            pass.scores(range).await
        };
        match scores.await {
            Ok([target, zero_out]) => Ok(match world {
                World::Target => target,
                World::ZeroOut => zero_out,
            }),
            Err(Failure::Stopped) => Err(EngineError::Stopped),
            Err(Failure::Device(reason) | Failure::Unfit(reason)) => {
                Err(EngineError::Backend { backend: "gpu", reason })
            }
        }
    }

    /// Destroys the device, as a driver's reset would. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        self.gpu().lose();
    }

    /// Lets no device be opened in place of a lost one. For tests.
    #[doc(hidden)]
    pub fn forbid_reopening(&self) {
        lock(&self.open).reopenings = 0;
    }

    pub(super) fn device(&self) -> String {
        self.adapter.facts().device()
    }

    pub(super) fn float_mode(&self) -> FloatMode {
        self.mode
    }

    pub(super) fn cpu(&self) -> &CpuBackend {
        &self.cpu
    }

    pub(super) fn counting<'a>(&'a self, work: Work<'a>) -> GpuCounting<'a> {
        GpuCounting::new(self, work)
    }

    fn gpu(&self) -> Arc<Gpu> {
        lock(&self.open).gpu.clone()
    }

    /// A device in place of one that failed, and whether it was opened only now.
    async fn reopened(&self, failed: &Arc<Gpu>) -> Result<(Arc<Gpu>, bool), String> {
        let current = self.gpu();
        if !Arc::ptr_eq(&current, failed) {
            return Ok((current, false));
        }
        {
            let mut open = lock(&self.open);
            let left = open.reopenings.checked_sub(1);
            open.reopenings = left.ok_or("the device is not opened again")?;
        }
        let adapter = self.adapter.found_again().await.ok_or("the device is gone")?;
        let gpu = Arc::new(Gpu::open(&adapter, &self.limits).await?);
        lock(&self.open).gpu = gpu.clone();
        Ok((gpu, true))
    }
}

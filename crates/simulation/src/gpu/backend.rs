//! A GPU with the CPU twin that replaces it when it fails.

use std::sync::Arc;

use dpscope_core::adjacency::World;
use dpscope_engine::gpu::{Adapter, Reopening};
use dpscope_engine::{Device, EngineError, UnitRange};
use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::ScoreKernel;

use super::device::Gpu;
use super::pieces::PieceLimits;
use super::record::Pass;
use super::self_test;
use crate::cpu::CpuBackend;

/// A GPU, and the CPU twin that takes over when it fails.
#[derive(Debug)]
pub struct GpuBackend {
    pub(super) mode: FloatMode,
    cpu: CpuBackend,
    limits: PieceLimits,
    open: Reopening<Gpu>,
}

impl GpuBackend {
    /// Opens an adapter.
    ///
    /// # Guarantee
    /// Counts in exact mode equal those of the CPU twin for all device limits
    /// (`tests/gpu/limits.rs::counts_do_not_depend_on_limits`) and device losses
    /// (`tests/gpu/faults.rs::a_lost_device_costs_no_count`).
    ///
    /// # Errors
    /// The driver provides no device.
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

    /// Opens an adapter with lower limits. For tests.
    ///
    /// # Errors
    /// The driver provides no device.
    #[doc(hidden)]
    pub async fn open_within(
        adapter: &Adapter,
        mode: FloatMode,
        cpu: CpuBackend,
        limits: PieceLimits,
    ) -> Result<Self, EngineError> {
        let gpu = Gpu::open(adapter, &limits).await;
        let gpu = gpu.map_err(|reason| EngineError::Backend { backend: "gpu", reason })?;
        Ok(GpuBackend { mode, cpu, limits, open: Reopening::new(adapter, gpu) })
    }

    /// Scores of `count` observations of a world on the GPU, in the kernel's unit.
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
        let range = UnitRange { first, end: first.saturating_add(u64::from(count)) };
        let scores = async {
            let loaded = self_test::load(&self.gpu(), &program).await?;
            let pass = Pass { loaded: &loaded, program: &program, most_blocks: u64::MAX };
            pass.scores(range).await
        };
        let [target, zero_out] = scores.await?;
        Ok(match world {
            World::Target => target,
            World::ZeroOut => zero_out,
        })
    }

    /// Destroys the device like a driver reset. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        self.gpu().lose();
    }

    /// Prevents lost devices from being reopened. For tests.
    #[doc(hidden)]
    pub fn forbid_reopening(&self) {
        self.open.forbid();
    }

    pub(crate) fn device(&self) -> Device {
        Device { name: self.open.adapter().facts().device(), mode: self.mode }
    }

    pub(crate) fn cpu(&self) -> &CpuBackend {
        &self.cpu
    }

    pub(super) fn gpu(&self) -> Arc<Gpu> {
        self.open.device()
    }

    /// How often the device has been opened.
    pub(super) fn opening(&self) -> u64 {
        self.open.opening()
    }

    /// Opens a lost device again; see [`Reopening::reopen`].
    pub(super) async fn reopen(&self, opening: u64) -> Result<bool, String> {
        let limits = self.limits;
        self.open.reopen(opening, |adapter| async move { Gpu::open(&adapter, &limits).await }).await
    }
}

//! A GPU with the CPU twin that replaces it when it fails.

use std::sync::{Arc, Mutex};

use dpscope_core::adjacency::World;
use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::ScoreKernel;

use super::adapter::Adapter;
use super::device::Gpu;
use super::open::{GpuError, lock};
use super::pieces::PieceLimits;
use super::record::Pass;
use super::self_test;
use crate::backend::cpu::CpuBackend;
use crate::{EngineError, ObservationRange};

/// How often a lost device is reopened before the CPU takes over.
pub const REOPENINGS: u32 = 3;

/// A GPU, and the CPU twin that takes over when it fails.
#[derive(Debug)]
pub struct GpuBackend {
    adapter: Adapter,
    pub(super) mode: FloatMode,
    cpu: CpuBackend,
    limits: PieceLimits,
    open: Mutex<OpenState>,
}

#[derive(Debug)]
struct OpenState {
    gpu: Arc<Gpu>,
    reopenings: u32,
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
        let open = Mutex::new(OpenState { gpu: Arc::new(gpu), reopenings: REOPENINGS });
        Ok(GpuBackend { adapter: adapter.clone(), mode, cpu, limits, open })
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
        let range = ObservationRange { first, end: first.saturating_add(u64::from(count)) };
        let scores = async {
            let loaded = self_test::load(&self.gpu(), &program).await?;
            let pass = Pass { loaded: &loaded, program: &program, most_blocks: u64::MAX };
            pass.scores(range).await
        };
        match scores.await {
            Ok([target, zero_out]) => Ok(match world {
                World::Target => target,
                World::ZeroOut => zero_out,
            }),
            Err(GpuError::Stopped) => Err(EngineError::Stopped),
            Err(GpuError::Device(reason) | GpuError::Unfit(reason)) => {
                Err(EngineError::Backend { backend: "gpu", reason })
            }
        }
    }

    /// Destroys the device like a driver reset. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        self.gpu().lose();
    }

    /// Prevents lost devices from being reopened. For tests.
    #[doc(hidden)]
    pub fn forbid_reopening(&self) {
        lock(&self.open).reopenings = 0;
    }

    pub(in crate::backend) fn device(&self) -> String {
        self.adapter.facts().device()
    }

    pub(in crate::backend) fn float_mode(&self) -> FloatMode {
        self.mode
    }

    pub(in crate::backend) fn cpu(&self) -> &CpuBackend {
        &self.cpu
    }

    pub(super) fn gpu(&self) -> Arc<Gpu> {
        lock(&self.open).gpu.clone()
    }

    /// A device that replaces a failed one, and whether this call opened it.
    pub(super) async fn reopened(&self, failed: &Arc<Gpu>) -> Result<(Arc<Gpu>, bool), String> {
        let current = self.gpu();
        if !Arc::ptr_eq(&current, failed) {
            return Ok((current, false));
        }
        {
            let mut open = lock(&self.open);
            let left = open.reopenings.checked_sub(1);
            open.reopenings = left.ok_or("it was already reopened several times")?;
        }
        let adapter =
            self.adapter.found_again().await.ok_or("the device is no longer available")?;
        let gpu = Arc::new(Gpu::open(&adapter, &self.limits).await?);
        lock(&self.open).gpu = gpu.clone();
        Ok((gpu, true))
    }
}

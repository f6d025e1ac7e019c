//! Times of a kernel up to each stage, for benchmarks.

use dpscope_core::audit::histogram::ScoreBins;
use dpscope_engine::{EngineError, GpuError};
use dpscope_shaders::bgm::{Program, ScoreKernel, Stage};

use super::GpuBackend;
use super::device::Build;
use super::device_program::DeviceProgram;
use super::pieces::DispatchRange;

/// The stages, each including the previous ones.
const STAGES: [Stage; 4] = [Stage::Rest, Stage::Words, Stage::Normals, Stage::Whole];

/// Minimum time of a timed dispatch, so that the overhead of its submission is negligible.
const MIN_MS: f64 = 20.0;

/// Timings per stage; the shortest counts.
const TIMINGS: usize = 5;

impl GpuBackend {
    /// Milliseconds of one dispatch of the kernel up to [`Stage::Rest`],
    /// [`Stage::Words`], [`Stage::Normals`] and [`Stage::Whole`].
    ///
    /// `now_ms` is any clock. The counts are discarded.
    ///
    /// # Errors
    /// The device fails.
    pub async fn stage_times(
        &self,
        kernel: &ScoreKernel,
        bins: &ScoreBins,
        now_ms: &dyn Fn() -> f64,
    ) -> Result<[f64; 4], EngineError> {
        let whole = kernel.program(self.mode);
        let times = async {
            let mut times = [f64::INFINITY; 4];
            let mut cut = self.first_cut(&whole);
            let loaded = self.untested(&whole).await?;
            while let ms = timed(&loaded, &whole, &cut, bins, now_ms).await?
                && ms < MIN_MS
                && self.double(&mut cut, &whole)
            {}
            for (stage, time) in STAGES.into_iter().zip(&mut times) {
                let program = whole.stage(stage);
                let loaded = self.untested(&program).await?;
                for _ in 0..TIMINGS {
                    *time = time.min(timed(&loaded, &program, &cut, bins, now_ms).await?);
                }
            }
            Ok(times)
        };
        times.await.map_err(|failure: GpuError| failure.into())
    }

    fn first_cut(&self, program: &Program) -> DispatchRange {
        let gpu = self.gpu();
        let most = gpu.limits().blocks(program).min(program.blocks());
        DispatchRange {
            first: 0,
            observations: gpu.limits().batch().min(1 << 10) as u32,
            blocks: 0..most,
        }
    }

    /// Doubles the observations if the limits allow.
    fn double(&self, cut: &mut DispatchRange, program: &Program) -> bool {
        let gpu = self.gpu();
        let is_split = cut.blocks.end < program.blocks();
        let most = if is_split { gpu.limits().batch() } else { gpu.limits().observations() };
        let doubled = 2 * u64::from(cut.observations);
        if doubled <= most {
            cut.observations = doubled as u32;
        }
        doubled <= most
    }

    /// A program without self-test: its counts are not used.
    async fn untested(&self, program: &Program) -> Result<DeviceProgram, GpuError> {
        let gpu = self.gpu();
        for build in Build::ALL {
            if let Some(pipeline) = gpu.compiled(program.variant().into(), build).await? {
                return DeviceProgram::new(&gpu, program, pipeline);
            }
        }
        Err(GpuError::Unfit(format!("{} does not compile", program.variant().name())))
    }
}

async fn timed(
    loaded: &DeviceProgram,
    program: &Program,
    cut: &DispatchRange,
    bins: &ScoreBins,
    now_ms: &dyn Fn() -> f64,
) -> Result<f64, GpuError> {
    let state_bytes = loaded.gpu.limits().state_bytes(program, u64::from(cut.observations));
    let output = loaded.output(4 * bins.len() as u64, state_bytes);
    let run = async |cut: &DispatchRange| {
        let submission = loaded.run(program, cut, Some(bins), &output);
        loaded.gpu.arrival(&submission, &mut loaded.gpu.completion()).await?;
        loaded.gpu.check()
    };
    // Buffers are zeroed before the clock starts.
    run(&DispatchRange { observations: 0, ..cut.clone() }).await?;
    let started = now_ms();
    run(cut).await?;
    Ok(now_ms() - started)
}

//! Draws of the exact pair on a GPU in exact mode: equal to those of the CPU.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use dpscope_engine::gpu::SubmissionPace;
use dpscope_engine::{Control, GpuError, UnitRange};
use dpscope_shaders::pair::{PairProgram, VALUES};
use dpscope_shaders::{LANES, PairKernel};

use super::GpuBackend;
use super::device::{Build, Gpu};
use super::device_program::DeviceProgram;
use super::source::Source;

/// A seed under which word 2 of draw 0, a radius word of every epoch, is below 2¹²: the deep tail.
const SEED: u64 = 87_151;

/// Draws of the self-test: more than four workgroups, and not a multiple of one.
const TESTED: u32 = 257;

/// Maximum number of draws per dispatch, which the host stores.
const MAX_DRAWS: u64 = 1 << 18;

/// Samples epochs of one proposal on a GPU.
pub(crate) struct GpuPair<'a> {
    backend: &'a GpuBackend,
    program: PairProgram,
    loaded: Option<DeviceProgram>,
    pace: SubmissionPace,
}

impl GpuBackend {
    /// Prepares to sample.
    pub(crate) fn pair<'a>(&'a self, kernel: &PairKernel) -> GpuPair<'a> {
        GpuPair {
            backend: self,
            program: kernel.program(),
            loaded: None,
            pace: SubmissionPace::of_blocks(),
        }
    }
}

impl GpuPair<'_> {
    /// The values of the first draws of a range, up to one dispatch.
    ///
    /// # Errors
    /// The reason for the failure.
    pub(crate) fn values(
        &mut self,
        kernel: &PairKernel,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<Vec<[u32; VALUES]>, String> {
        at_once(self.dispatched(kernel, range, control))
    }

    async fn dispatched(
        &mut self,
        kernel: &PairKernel,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<Vec<[u32; VALUES]>, GpuError> {
        let loaded = match self.loaded.take() {
            Some(loaded) => loaded,
            None => load(&self.backend.gpu(), kernel).await?,
        };
        let limits = loaded.gpu.limits();
        let fitting = (limits.binding_bytes / (4 * VALUES as u64)).min(limits.observations());
        let wanted = (self.pace.budget() / self.program.blocks()).max(LANES as u64);
        let draws = range.len().min(wanted).min(fitting).min(MAX_DRAWS) as u32;
        let started_ms = control.now_ms();
        let values = values(&loaded, &self.program, range.first, draws).await?;
        let spent_ms = control.now_ms() - started_ms;
        self.pace.learn(u64::from(draws) * self.program.blocks(), spent_ms);
        self.loaded = Some(loaded);
        Ok(values)
    }
}

/// What a device yields to a caller that cannot await.
pub(super) fn at_once<T>(work: impl Future<Output = Result<T, GpuError>>) -> Result<T, String> {
    // A browser's GPU responds only after this function returns.
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(found)) => Ok(found),
        Poll::Ready(Err(GpuError::Device(reason) | GpuError::Unfit(reason))) => Err(reason),
        Poll::Ready(Err(GpuError::Stopped)) => Err("stopped".to_owned()),
        Poll::Pending => Err("the device cannot be awaited here".to_owned()),
    }
}

async fn values(
    loaded: &DeviceProgram,
    program: &PairProgram,
    first: u64,
    draws: u32,
) -> Result<Vec<[u32; VALUES]>, GpuError> {
    let output = loaded.output(VALUES as u64 * u64::from(draws), 4);
    loaded.dispatch(&program.dispatch(first, draws), draws, 1, &output);
    let words = loaded.read(&output).words().await?;
    let (values, _) = words.as_chunks::<VALUES>();
    if values.len() != draws as usize {
        return Err(GpuError::Device(format!("it returned {} of {draws} draws", values.len())));
    }
    Ok(values.to_vec())
}

/// The pipeline with the proposal's constants, after its self-test.
async fn load(gpu: &Arc<Gpu>, kernel: &PairKernel) -> Result<DeviceProgram, GpuError> {
    if let Some(tested) = gpu.tested(Source::Pair) {
        let pipeline = tested.map_err(GpuError::Unfit)?;
        compare(gpu, kernel, &pipeline).await?;
        return DeviceProgram::of_pair(gpu, &kernel.program(), pipeline);
    }
    let mut reason = String::new();
    for build in Build::ALL {
        let Some(pipeline) = gpu.compiled(Source::Pair, build).await? else { continue };
        match compare(gpu, kernel, &pipeline).await {
            Ok(()) => {
                gpu.set_tested(Source::Pair, Ok(pipeline.clone()));
                return DeviceProgram::of_pair(gpu, &kernel.program(), pipeline);
            }
            Err(GpuError::Unfit(wrong)) => reason = wrong,
            Err(failure) => return Err(failure),
        }
    }
    gpu.set_tested(Source::Pair, Err(reason.clone()));
    Err(GpuError::Unfit(reason))
}

/// Compares draws of the proposal with the CPU's, including one of the deep tail.
async fn compare(
    gpu: &Arc<Gpu>,
    kernel: &PairKernel,
    pipeline: &wgpu::ComputePipeline,
) -> Result<(), GpuError> {
    let refused = |error: &dyn std::fmt::Display| GpuError::Unfit(error.to_string());
    let kernel = PairKernel::new(kernel.proposal(), SEED).map_err(|error| refused(&error))?;
    let program = kernel.program();
    let loaded = DeviceProgram::of_pair(gpu, &program, pipeline.clone())?;
    let found = values(&loaded, &program, 0, TESTED).await?;
    let twin = kernel.values(0, TESTED as usize, &|| true).map_err(|error| refused(&error))?;
    match found.iter().zip(&twin).position(|(found, twin)| found != twin) {
        None => Ok(()),
        Some(at) => {
            let (found, twin) = (found[at], twin[at]);
            Err(GpuError::Unfit(format!(
                "self-test: draw {at} of the exact pair is {found:x?}, and {twin:x?} on the CPU"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::random::{Purpose, stream_words};

    use super::*;

    #[test]
    fn the_self_test_reaches_the_deep_tail() {
        let mut word = [0];
        stream_words(SEED, Purpose::PairNoise, 0, 2, &mut word);
        assert!((1..1 << 12).contains(&word[0]), "{}", word[0]);
    }
}

//! A derivative plan on a device: kernels, memory, passes.

use std::sync::Arc;
use std::time::Instant;

use dpscope_engine::GpuError;
use dpscope_engine::gpu::{OpenDevice, SubmissionPace, SubmissionQueue};
use dpscope_shaders::train::{Numbers, PassParams};
use wgpu::BufferUsages as Usage;

use super::super::cut::{Part, Parts};
use super::super::pipelines::{Pipeline, SourceEdit, check_limits, compile_kernel, layout};
use super::super::plan::DerivativePlan;
use super::super::size::MAX_WORK;
use super::super::wave::FIRST_WORK;
use crate::metagradient::BatchRows;
use crate::model::Network;

/// Most rows of a pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowLimits {
    pub(super) rows: usize,
    /// Bytes of all buffers of a plan.
    pub(super) bytes: u64,
}

/// A plan on a device.
#[derive(Debug)]
pub(super) struct Program {
    open: Arc<OpenDevice>,
    plan: DerivativePlan,
    pipelines: Vec<Pipeline>,
    uniform: wgpu::Buffer,
    /// Bindings 1 to 7.
    buffers: [wgpu::Buffer; 7],
    bindings: wgpu::BindGroup,
    submissions: SubmissionQueue,
    started: Instant,
}

impl Program {
    pub(super) fn new(
        open: &Arc<OpenDevice>,
        network: &Network,
        limits: RowLimits,
        numbers: Numbers,
        edit: Option<SourceEdit>,
    ) -> Result<Self, GpuError> {
        check_limits(&open.device().limits())?;
        let plan = plan_within(open, network, limits, numbers)?;
        let layout = layout(open.device());
        let compile = |kernel| pollster::block_on(compile_kernel(open, &layout, kernel, edit));
        let pipelines = plan.kernels().iter().map(compile).collect::<Result<_, _>>()?;
        let usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
        let buffers = plan.buffer_words().map(|words| open.buffer(usage, 4 * words as u64));
        let (first, factors) = plan.factors();
        open.write(&buffers[0], 4 * first as u64, &factors);
        let mut params = PassParams::default().words();
        params.resize(params.len().next_multiple_of(4), 0);
        let uniform = open.filled(Usage::UNIFORM, &params);
        let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
            .zip(std::iter::once(&uniform).chain(&buffers))
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let bindings = open.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        open.check()?;
        let (open, started) = (open.clone(), Instant::now());
        let submissions = SubmissionQueue::new(SubmissionPace::new(FIRST_WORK, MAX_WORK));
        Ok(Self { open, plan, pipelines, uniform, buffers, bindings, submissions, started })
    }

    /// Rows of a pass.
    pub(super) fn rows(&self) -> usize {
        self.plan.rows()
    }

    /// Sums over all rows into `out`, and the gradients with respect to the first examples into
    /// `cross`: the values, or the derivatives if there is a direction. A pass takes at most
    /// `max_rows` rows.
    pub(super) fn run(
        &mut self,
        (theta, direction): (&[f32], Option<&[f32]>),
        batch: BatchRows<'_, f32>,
        max_rows: usize,
        out: &mut [f32],
        cross: &mut [f32],
    ) -> Result<(), GpuError> {
        let inputs = batch.examples.len() / batch.labels.len().max(1);
        let max_rows = max_rows.clamp(1, self.rows());
        self.open.write(&self.buffers[1], 0, &self.plan.numbers(theta, direction));
        for (pass, labels) in batch.labels.chunks(max_rows).enumerate() {
            let first = pass * max_rows * inputs;
            let examples = &batch.examples[first..][..labels.len() * inputs];
            let [words, selected] = self.plan.rows_of_batch(examples, labels);
            self.open.write(&self.buffers[4], 0, &words);
            self.open.write(&self.buffers[5], 0, &selected);
            self.submit(&self.plan.pass_params(pass == 0))?;
            let wanted = (cross.len().saturating_sub(first) / inputs.max(1)).min(labels.len());
            if wanted > 0 {
                let place = self.plan.input_gradients(wanted);
                self.read(0, place, &mut cross[first..])?;
            }
        }
        self.read(2, 0..self.plan.buffer_words()[2], out)?;
        self.open.check()
    }

    fn now_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }

    /// Reads numbers from a buffer: their values, or the derivatives of dual numbers.
    fn read(
        &mut self,
        buffer: usize,
        words: std::ops::Range<usize>,
        out: &mut [f32],
    ) -> Result<(), GpuError> {
        let bytes = 4 * words.start as u64..4 * words.end as u64;
        let reading = self.open.read(&self.buffers[buffer], bytes);
        while self.wait()? {}
        let found = pollster::block_on(reading.words())?;
        if found.len() != words.len() {
            return Err(GpuError::Device(format!("the device returned {} words", found.len())));
        }
        out.iter_mut().zip(self.plan.last_words(&found)).for_each(|(out, value)| *out = value);
        Ok(())
    }

    /// Waits for the oldest submission; false if there is none.
    fn wait(&mut self) -> Result<bool, GpuError> {
        let started = self.started;
        let now_ms = || started.elapsed().as_secs_f64() * 1e3;
        let done = pollster::block_on(self.submissions.wait_for_oldest(&self.open, now_ms))?;
        Ok(done.is_some())
    }

    /// Submits the kernels of a pass, long ones in parts.
    fn submit(&mut self, params: &PassParams) -> Result<(), GpuError> {
        let mut pending: Vec<(usize, Part)> = Vec::new();
        for kernel in 0..self.pipelines.len() {
            let Pipeline { groups, operations, .. } = self.pipelines[kernel];
            let mut parts = Parts::new(groups, operations);
            while parts.remaining() > 0 {
                let work: u64 = pending.iter().map(|(_, part)| part.work).sum();
                let budget = self.submissions.budget();
                if work > 0 && work.saturating_add(parts.remaining()) > budget {
                    self.submit_parts(&mut pending, params)?;
                }
                let Some(part) = parts.next(self.submissions.budget()) else { break };
                // all parts of a submission have the same uniforms
                if pending.iter().any(|(_, other)| other.first_group != part.first_group) {
                    self.submit_parts(&mut pending, params)?;
                }
                pending.push((kernel, part));
            }
        }
        self.submit_parts(&mut pending, params)
    }

    fn submit_parts(
        &mut self,
        parts: &mut Vec<(usize, Part)>,
        params: &PassParams,
    ) -> Result<(), GpuError> {
        let Some(&(_, Part { first_group, .. })) = parts.first() else { return Ok(()) };
        while self.submissions.is_full() {
            self.wait()?;
        }
        self.open.check()?;
        let params = PassParams { first_group, ..*params };
        self.open.write(&self.uniform, 0, &params.words());
        let mut encoder = self.open.device().create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_bind_group(0, &self.bindings, &[0]);
        for (kernel, part) in parts.iter() {
            let [columns, rows] = part.groups;
            pass.set_pipeline(&self.pipelines[*kernel].pipeline);
            pass.dispatch_workgroups(columns, rows, 1);
        }
        drop(pass);
        let (work, now_ms) = (parts.iter().map(|(_, part)| part.work).sum(), self.now_ms());
        let submission = self.open.queue().submit([encoder.finish()]);
        self.submissions.push(&self.open, 0, work, now_ms, submission);
        parts.clear();
        Ok(())
    }
}

/// The plan with the largest number of rows within the limits.
fn plan_within(
    open: &OpenDevice,
    network: &Network,
    limits: RowLimits,
    numbers: Numbers,
) -> Result<DerivativePlan, GpuError> {
    let device = open.device().limits();
    let most = device.max_storage_buffer_binding_size.min(device.max_buffer_size);
    let mut rows = limits.rows.max(1);
    loop {
        match DerivativePlan::new(network, rows, numbers) {
            Ok(plan) => {
                let bytes = plan.buffer_words().map(|words| 4 * words as u64);
                let total: u64 = bytes.iter().sum();
                if total <= limits.bytes && bytes.iter().all(|&bytes| bytes <= most) {
                    return Ok(plan);
                }
                if rows == 1 {
                    return Err(GpuError::Unfit(format!(
                        "derivatives of one record need {} MiB of device memory, but only {} MiB ({} \
                         MiB in one buffer) may be used",
                        total.div_ceil(1 << 20),
                        limits.bytes >> 20,
                        most >> 20
                    )));
                }
            }
            Err(error) if rows == 1 => return Err(GpuError::Unfit(error.to_string())),
            Err(_) => {}
        }
        rows = rows.div_ceil(2);
    }
}

//! A program on a device: buffers, dispatches and results.

use std::sync::Arc;

use dpscope_core::audit::histogram::ScoreBins;
use dpscope_engine::GpuError;
use dpscope_engine::gpu::Reading;
use dpscope_shaders::bgm::{Piece, Program};
#[cfg(not(target_arch = "wasm32"))]
use dpscope_shaders::pair::PairProgram;

use super::device::Gpu;
use super::pieces::DispatchRange;

/// Pipeline and constants of a program.
#[derive(Debug)]
pub(super) struct DeviceProgram {
    pub(super) gpu: Arc<Gpu>,
    pipeline: wgpu::ComputePipeline,
    params: wgpu::Buffer,
    scoring: wgpu::Buffer,
    dispatch: wgpu::Buffer,
    weights: wgpu::Buffer,
    thresholds: wgpu::Buffer,
}

/// Output buffers of a program.
#[derive(Debug)]
pub(super) struct Output {
    bindings: wgpu::BindGroup,
    results: wgpu::Buffer,
    bytes: u64,
}

impl DeviceProgram {
    pub(super) fn new(
        gpu: &Arc<Gpu>,
        program: &Program,
        pipeline: wgpu::ComputePipeline,
    ) -> Result<Self, GpuError> {
        let bits: Vec<u32> = program.weights().iter().map(|weight| weight.to_bits()).collect();
        let [params, scoring] = program.uniforms();
        let empty = Piece { first: 0, observations: 0, blocks: 0..1, bins: None };
        let uniforms = [params, scoring, &program.dispatch(&empty)];
        DeviceProgram::bound(gpu, uniforms, [&bits, program.thresholds()], pipeline)
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn of_pair(
        gpu: &Arc<Gpu>,
        program: &PairProgram,
        pipeline: wgpu::ComputePipeline,
    ) -> Result<Self, GpuError> {
        let uniforms = [program.params(), &[], &program.dispatch(0, 0)];
        DeviceProgram::bound(gpu, uniforms, [&[], program.thresholds()], pipeline)
    }

    /// Params, scoring and dispatch; weights and thresholds.
    pub(super) fn bound(
        gpu: &Arc<Gpu>,
        uniforms: [&[(&str, u32)]; 3],
        tables: [&[u32]; 2],
        pipeline: wgpu::ComputePipeline,
    ) -> Result<Self, GpuError> {
        let most = gpu.limits().binding_bytes;
        let table = 4 * tables.map(<[u32]>::len).into_iter().fold(0, usize::max) as u64;
        if table > most {
            let reason =
                format!("its tables take {table} bytes, but the device binds at most {most}");
            return Err(GpuError::Unfit(reason));
        }
        let [params, scoring, dispatch] = uniforms.map(|fields| uniform(gpu, fields));
        let [weights, thresholds] =
            tables.map(|table| gpu.filled(wgpu::BufferUsages::STORAGE, table));
        let gpu = gpu.clone();
        Ok(DeviceProgram { gpu, pipeline, params, scoring, dispatch, weights, thresholds })
    }

    /// Zeroed results of `values` values, and `state_bytes` bytes of state.
    pub(super) fn output(&self, values: u64, state_bytes: u64) -> Output {
        use wgpu::BufferUsages as Usage;
        let bytes = 4 * values;
        let state = self.gpu.buffer(Usage::STORAGE, state_bytes);
        let results = self.gpu.buffer(Usage::STORAGE | Usage::COPY_SRC, bytes);
        let buffers = [
            &self.params,
            &self.scoring,
            &self.dispatch,
            &self.weights,
            &self.thresholds,
            &state,
            &results,
        ];
        let mut entries = Vec::new();
        for (binding, buffer) in (0..).zip(buffers) {
            entries.push(wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() });
        }
        let bindings = self.gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: self.gpu.layout(),
            entries: &entries,
        });
        Output { bindings, results, bytes }
    }

    /// Submits one piece.
    pub(super) fn run(
        &self,
        program: &Program,
        cut: &DispatchRange,
        bins: Option<&ScoreBins>,
        output: &Output,
    ) -> wgpu::SubmissionIndex {
        let DispatchRange { first, observations, ref blocks } = *cut;
        let piece = Piece { first, observations, blocks: blocks.clone(), bins };
        self.dispatch(&program.dispatch(&piece), observations, 2, output)
    }

    /// Submits one dispatch, with one invocation per observation of each world.
    pub(super) fn dispatch(
        &self,
        fields: &[(&str, u32)],
        observations: u32,
        worlds: u32,
        output: &Output,
    ) -> wgpu::SubmissionIndex {
        self.gpu.queue().write_buffer(&self.dispatch, 0, &field_bytes(fields));
        let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &output.bindings, &[]);
        let (x, y) = self.gpu.limits().grid(observations);
        pass.dispatch_workgroups(x, y, worlds);
        drop(pass);
        self.gpu.queue().submit([encoder.finish()])
    }

    /// Copies the results to the host, after all earlier submissions.
    pub(super) fn read(&self, output: &Output) -> Reading {
        self.gpu.read(&output.results, 0..output.bytes)
    }
}

fn uniform(gpu: &Gpu, fields: &[(&str, u32)]) -> wgpu::Buffer {
    let size = (4 * fields.len() as u64).next_multiple_of(16);
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    let buffer = gpu.buffer(usage, size);
    gpu.queue().write_buffer(&buffer, 0, &field_bytes(fields));
    buffer
}

fn field_bytes(fields: &[(&str, u32)]) -> Vec<u8> {
    fields.iter().flat_map(|(_, value)| value.to_le_bytes()).collect()
}

//! A browser takes WGSL alone.

use dpscope_engine::gpu::Adapter;

use super::source::Source;

pub(super) fn features(_: &Adapter) -> wgpu::Features {
    wgpu::Features::empty()
}

pub(super) fn module(_: &wgpu::Device, _: Source) -> Option<wgpu::ShaderModule> {
    None
}

//! A browser takes WGSL alone.

use super::source::Source;

pub(super) fn features(_: &wgpu::Adapter) -> wgpu::Features {
    wgpu::Features::empty()
}

pub(super) fn module(_: &wgpu::Device, _: Source) -> Option<wgpu::ShaderModule> {
    None
}

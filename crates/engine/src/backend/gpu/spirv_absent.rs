//! A browser takes WGSL alone.

use dpscope_shaders::bgm::Variant;

pub(super) fn features(_: &wgpu::Adapter) -> wgpu::Features {
    wgpu::Features::empty()
}

pub(super) fn module(_: &wgpu::Device, _: Variant, _: &str) -> Option<wgpu::ShaderModule> {
    None
}

//! The adapters of a machine: list, names, default.

use dpscope_core::foreign_text::is_plain;

/// Properties of an adapter, known before it is opened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AdapterFacts {
    /// Index in the list of [`adapters`], from 0.
    pub index: usize,
    /// Name reported by the driver.
    pub name: String,
    /// "vulkan", "metal", "dx12" or "webgpu".
    pub backend: &'static str,
    /// Driver and its version.
    pub driver: String,
    /// Whether it is a GPU, not a software rasteriser.
    pub hardware: bool,
    /// Largest storage binding, in bytes.
    pub max_storage_binding_bytes: u64,
    /// Workgroups in one dimension of a dispatch.
    pub max_workgroups: u32,
    /// Invocations of a workgroup.
    pub max_invocations: u32,
}

impl AdapterFacts {
    /// Name, interface and driver, such as `NVIDIA H100 80GB HBM3 (vulkan, NVIDIA 550.54)`.
    #[must_use]
    pub fn device(&self) -> String {
        let name = if self.name.is_empty() { "gpu" } else { &self.name };
        let driver = if self.driver.is_empty() { "" } else { ", " };
        plain(&format!("{name} ({}{driver}{})", self.backend, self.driver), 200)
    }
}

/// An adapter that can be opened.
#[derive(Debug, Clone)]
pub struct Adapter {
    facts: AdapterFacts,
    pub(super) inner: wgpu::Adapter,
}

impl Adapter {
    /// The features that it supports.
    #[must_use]
    pub fn features(&self) -> wgpu::Features {
        self.inner.features()
    }

    /// Its properties.
    #[must_use]
    pub fn facts(&self) -> &AdapterFacts {
        &self.facts
    }

    /// Finds this adapter again, for example after the loss of a device.
    pub async fn found_again(&self) -> Option<Adapter> {
        let same = |other: &Adapter| {
            let [mine, theirs] = [&self.facts, &other.facts];
            (mine.index, &mine.name, mine.backend) == (theirs.index, &theirs.name, theirs.backend)
        };
        adapters().await.into_iter().find(same)
    }
}

/// The adapters of this machine, each once, hardware first.
pub async fn adapters() -> Vec<Adapter> {
    // Debug flags would request layers that few machines have.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let found = instance.enumerate_adapters(wgpu::Backends::PRIMARY).await;
    let infos: Vec<wgpu::AdapterInfo> = found.iter().map(wgpu::Adapter::get_info).collect();
    let listed = listed(&infos).into_iter().enumerate();
    let adapter = |(index, at): (usize, usize)| Adapter {
        facts: facts(index, &infos[at], &found[at].limits()),
        inner: found[at].clone(),
    };
    listed.map(adapter).collect()
}

/// The default adapter: a GPU, never a software rasteriser.
#[must_use]
pub fn preferred(adapters: &[AdapterFacts]) -> Option<usize> {
    adapters.iter().position(|facts| facts.hardware)
}

/// The adapter with a decimal index, or the first whose name contains the text in any case, hardware
/// first; a number that is not an index must be a word of the name, such as `4090`.
#[must_use]
pub fn find(adapters: &[AdapterFacts], wanted: &str) -> Option<usize> {
    let number = wanted.parse::<usize>().ok();
    if let Some(index) = number.filter(|&index| index < adapters.len()) {
        return Some(index);
    }
    let wanted = wanted.to_lowercase();
    let named = |&at: &usize| {
        let name = adapters[at].name.to_lowercase();
        match number {
            Some(_) => name.split_whitespace().any(|word| word == wanted),
            None => name.contains(&wanted),
        }
    };
    let named: Vec<usize> = (0..adapters.len()).filter(named).collect();
    let hardware = named.iter().find(|&&at| adapters[at].hardware);
    hardware.or(named.first()).copied().filter(|_| !wanted.is_empty())
}

fn is_hardware(info: &wgpu::AdapterInfo) -> bool {
    use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu, Other, VirtualGpu};
    match info.device_type {
        DiscreteGpu | IntegratedGpu | VirtualGpu => true,
        // A browser reports only whether it is a fallback.
        Other => info.backend == wgpu::Backend::BrowserWebGpu,
        Cpu => false,
    }
}

/// Indices of the listed adapters: hardware first, and Direct3D adapters only if no other interface
/// has the same chip.
fn listed(infos: &[wgpu::AdapterInfo]) -> Vec<usize> {
    let is_dx12 = |info: &wgpu::AdapterInfo| info.backend == wgpu::Backend::Dx12;
    let chip = |info: &wgpu::AdapterInfo| (info.vendor, info.device);
    let doubled = |info: &wgpu::AdapterInfo| {
        is_dx12(info) && infos.iter().any(|other| !is_dx12(other) && chip(other) == chip(info))
    };
    let ranks = [(true, false), (true, true), (false, false), (false, true)];
    let of_rank = |rank| {
        let kept = (0..infos.len()).filter(|&at| !doubled(&infos[at]));
        kept.filter(move |&at| (is_hardware(&infos[at]), is_dx12(&infos[at])) == rank)
    };
    ranks.into_iter().flat_map(of_rank).collect()
}

fn facts(index: usize, info: &wgpu::AdapterInfo, limits: &wgpu::Limits) -> AdapterFacts {
    let parts = [info.driver.trim(), info.driver_info.trim()];
    let driver: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    AdapterFacts {
        index,
        name: plain(info.name.trim(), 100),
        backend: match info.backend {
            wgpu::Backend::BrowserWebGpu => "webgpu",
            other => other.to_str(),
        },
        driver: plain(&driver.join(", "), 80),
        hardware: is_hardware(info),
        max_storage_binding_bytes: limits.max_storage_buffer_binding_size,
        max_workgroups: limits.max_compute_workgroups_per_dimension,
        max_invocations: limits.max_compute_invocations_per_workgroup,
    }
}

/// At most `most` printable characters.
fn plain(text: &str, most: usize) -> String {
    text.chars().filter(|&c| is_plain(c)).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn synthetic(names: &[(&str, bool)]) -> Vec<AdapterFacts> {
        let fact = |(index, &(name, hardware)): (usize, &(&str, bool))| AdapterFacts {
            index,
            name: name.to_owned(),
            backend: "vulkan",
            driver: "driver 1".to_owned(),
            hardware,
            max_storage_binding_bytes: 1 << 27,
            max_workgroups: 65_535,
            max_invocations: 256,
        };
        names.iter().enumerate().map(fact).collect()
    }

    #[test]
    fn a_rasteriser_is_never_preferred() {
        assert_eq!(preferred(&[]), None);
        assert_eq!(preferred(&synthetic(&[("llvmpipe", false), ("SwiftShader", false)])), None);
        assert_eq!(
            preferred(&synthetic(&[("llvmpipe", false), ("Arc", true), ("B", true)])),
            Some(1)
        );
    }

    #[test]
    fn an_adapter_is_found_by_index_or_part_of_its_name() {
        let adapters =
            synthetic(&[("llvmpipe (RTX)", false), ("GeForce RTX 4090", true), ("RTX", true)]);
        let cases =
            [("0", Some(0)), ("2", Some(2)), ("3", None), ("rtx", Some(1)), ("4090", Some(1))];
        for (wanted, found) in cases {
            assert_eq!(find(&adapters, wanted), found, "{wanted}");
        }
        for (wanted, found) in [("LLVM", Some(0)), ("radeon", None), ("", None), ("409", None)] {
            assert_eq!(find(&adapters, wanted), found, "{wanted}");
        }
    }

    fn info(
        name: &str,
        backend: wgpu::Backend,
        device_type: wgpu::DeviceType,
    ) -> wgpu::AdapterInfo {
        let mut info = wgpu::AdapterInfo::new(device_type, backend);
        info.name = name.to_owned();
        info.device = name.len() as u32;
        info
    }

    #[test]
    fn each_chip_is_listed_once_and_hardware_first() {
        use wgpu::Backend::{Dx12, Vulkan};
        use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu};
        let infos = [
            info("basic render", Dx12, Cpu),
            info("only of dx12", Dx12, IntegratedGpu),
            info("both", Dx12, DiscreteGpu),
            info("both", Vulkan, DiscreteGpu),
            info("both", Vulkan, DiscreteGpu),
            info("llvmpipe", Vulkan, Cpu),
        ];
        assert_eq!(listed(&infos), [3, 4, 1, 5, 0]);
    }

    #[test]
    fn names_of_devices_are_short_and_plain() {
        let mut named = info("x\u{1b}[2J\u{202e}", wgpu::Backend::Vulkan, wgpu::DeviceType::Cpu);
        named.driver = "d".repeat(300);
        let facts = facts(0, &named, &wgpu::Limits::default());
        let device = facts.device();
        assert!(device.starts_with("x[2J (vulkan, ddd") && device.ends_with("d)"), "{device}");
        assert!(device.chars().count() <= 200 && device.chars().all(is_plain));
        let long = AdapterFacts { name: "n".repeat(400), ..facts };
        assert_eq!(long.device().chars().count(), 200);
    }
}

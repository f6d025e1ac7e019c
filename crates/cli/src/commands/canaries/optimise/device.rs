//! The device that computes derivatives.

use std::sync::atomic::{AtomicBool, Ordering};

use dpscope_engine::gpu::Adapter;
use dpscope_train::Network;
use dpscope_train::gpu::{GpuDerivatives, default_memory_bytes};
use dpscope_train::metagradient::DerivativeDevice;

use crate::args::DeviceChoice;
use crate::device::{found, pick};
use crate::failure::Failure;
use crate::output::print_note;

/// The name of the CPU, whose results do not depend on its threads.
const CPU: &str = "cpu";

/// A GPU, or the CPU.
pub(super) struct SelectedDevice {
    gpu: Option<GpuDerivatives>,
    has_warned: AtomicBool,
}

impl SelectedDevice {
    /// Opens the device of `--device` for batches of a size; for `auto` the CPU, which is usually faster.
    pub(super) fn open(
        choice: &DeviceChoice,
        network: &Network,
        batch_size: usize,
    ) -> Result<Self, Failure> {
        let gpu = match choice {
            DeviceChoice::Auto | DeviceChoice::Cpu => None,
            DeviceChoice::Gpu | DeviceChoice::Named(_) => {
                let open = |adapter: &Adapter| {
                    let memory_bytes = default_memory_bytes(adapter.facts());
                    GpuDerivatives::open(network, adapter, batch_size, memory_bytes)
                };
                pick(choice, &found())?.map(open).transpose()?
            }
        };
        Ok(Self { gpu, has_warned: AtomicBool::new(false) })
    }

    /// The GPU, if there is one.
    pub(super) fn derivatives(&self) -> Option<&dyn DerivativeDevice> {
        self.gpu.as_ref().map(|gpu| gpu as &dyn DerivativeDevice)
    }

    /// What has computed so far: the GPU, the CPU, or both.
    pub(super) fn names(&self) -> Vec<String> {
        let gpu = self.gpu.as_ref().map(GpuDerivatives::name);
        let has_fallen_back = self.gpu.as_ref().is_none_or(|gpu| gpu.failure().is_some());
        gpu.into_iter().chain(has_fallen_back.then(|| CPU.to_owned())).collect()
    }

    /// Adds the names to those that computed earlier; prints once that the CPU has taken over.
    pub(super) fn record(&self, names: &mut Vec<String>) {
        for name in self.names() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if let Some(failure) = self.gpu.as_ref().and_then(GpuDerivatives::failure)
            && !self.has_warned.swap(true, Ordering::Relaxed)
        {
            print_note(&format!("warning: {failure}; continuing on the CPU"));
        }
    }

    /// Prints that a state of other devices is resumed.
    pub(super) fn warn_of_change(&self, earlier: &[String]) {
        let names = self.names();
        if !earlier.is_empty() && earlier.last() != names.last() {
            print_note(&format!(
                "warning: the state was computed on {} and is resumed on {}: results agree within \
                 rounding, not to the bit; --device selects another device",
                earlier.join(", then "),
                names.join(", then ")
            ));
        }
    }
}

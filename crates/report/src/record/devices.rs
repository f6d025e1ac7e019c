//! Devices, and their throughput.

use dpscope_core::mechanism::BatchedGaussian;
use serde::Serialize;

/// The document of `dpscope devices`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Devices {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.devices/1")))]
    pub schema: &'static str,
    /// The CPU, then adapters.
    pub devices: Vec<Device>,
}

/// A device that can count.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Device {
    /// The index of an adapter, for `--device`.
    pub index: Option<usize>,
    /// Its name.
    pub name: String,
    /// `cpu`, `hardware` or `software`.
    pub kind: &'static str,
    /// Whether `--device auto` selects it.
    pub auto: bool,
    /// What it is.
    #[serde(flatten)]
    pub about: DeviceFacts,
}

/// What a device is.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum DeviceFacts {
    /// The processor.
    Cpu {
        /// Threads that run at the same time.
        threads: usize,
        /// The widest vector instructions in use.
        instruction_set: &'static str,
        /// Always `exact`.
        float_mode: &'static str,
    },
    /// A GPU, or a program in its place.
    Adapter {
        /// The graphics library.
        backend: &'static str,
        /// Name and version of the driver.
        driver: String,
        /// Largest buffer that a kernel can bind.
        max_storage_binding_bytes: u64,
        /// Most workgroups per dimension.
        max_workgroups: u32,
        /// Most invocations per workgroup.
        max_invocations: u32,
    },
}

/// The document of `dpscope bench`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bench {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.bench/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// The simulated mechanism.
    pub mechanism: BatchedGaussian,
    /// Normals of one observation.
    pub normals_per_observation: u64,
    /// Requested measuring time per device and float mode.
    pub seconds: f64,
    /// The CPU first.
    pub rows: Vec<BenchRow>,
}

/// A device in a float mode.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchRow {
    /// Its name.
    pub device: String,
    /// With threads, or with driver.
    pub description: String,
    /// `cpu`, `hardware` or `software`.
    pub kind: &'static str,
    /// `fast` or `exact`.
    pub float_mode: String,
    /// None if the device could not be measured.
    pub rate: Option<BenchRate>,
    /// Why there is no rate.
    pub problem: Option<String>,
}

/// Throughput of a device.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchRate {
    /// Observations of both worlds, after the warm-up.
    pub observations: u64,
    /// Measured time.
    pub elapsed_ms: f64,
    /// Observations of both worlds.
    pub observations_per_second: f64,
    /// Normals of both worlds.
    pub normals_per_second: f64,
    /// 1 for the CPU.
    pub ratio_to_cpu: f64,
}

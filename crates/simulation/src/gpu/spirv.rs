//! WGSL as SPIR-V whose float operations may be neither fused nor reordered.

use dpscope_engine::gpu::Adapter;
use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::WORKGROUP;
use dpscope_shaders::directions::DirectionProgram;
use dpscope_shaders::pair::PairProgram;
use naga::back::spv::{Options, PipelineOptions, write_vec};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};

use super::source::Source;

/// Words of the header of a module.
const HEADER: usize = 5;

// Numbers of the SPIR-V specification, section 3.
const OP_DECORATE: u32 = 71;
const OP_F_NEGATE: u32 = 127;
const OP_F_ADD: u32 = 129;
const OP_F_SUB: u32 = 131;
const OP_F_MUL: u32 = 133;
const OP_F_DIV: u32 = 136;
const OP_VECTOR_TIMES_SCALAR: u32 = 142;
const NO_CONTRACTION: u32 = 42;

const PASSTHROUGH: wgpu::Features = wgpu::Features::PASSTHROUGH_SHADERS;

impl Source {
    fn mode(self) -> FloatMode {
        match self {
            Source::Scores(variant) => variant.mode(),
            Source::Pair | Source::Directions => FloatMode::Exact,
        }
    }

    fn without_barriers(self) -> String {
        match self {
            Source::Scores(variant) => variant.source_without_barriers(),
            Source::Pair => PairProgram::source_without_barriers(),
            Source::Directions => DirectionProgram::source_without_barriers(),
        }
    }
}

/// Features needed for SPIR-V passthrough; empty except on Vulkan.
pub(super) fn features(adapter: &Adapter) -> wgpu::Features {
    let is_vulkan = adapter.facts().backend == wgpu::Backend::Vulkan.to_str();
    if is_vulkan { adapter.features() & PASSTHROUGH } else { wgpu::Features::empty() }
}

/// A kernel of exact mode as SPIR-V, if the device accepts it.
pub(super) fn module(device: &wgpu::Device, source: Source) -> Option<wgpu::ShaderModule> {
    if source.mode() == FloatMode::Fast || !device.features().contains(PASSTHROUGH) {
        return None;
    }
    let entry = source.entry();
    let words = uncontracted(&source.without_barriers(), entry).ok()?;
    let workgroup_size = (WORKGROUP, 1, 1);
    let point = wgpu::PassthroughShaderEntryPoint { name: entry.into(), workgroup_size };
    let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
        entry_points: vec![point].into(),
        spirv: Some(words.into()),
        ..Default::default()
    };
    // SAFETY: naga has validated and translated a `Source`, whose indices lie within the
    // buffers that `DeviceProgram` creates and whose loops end; decorations of float operations were added.
    Some(unsafe { device.create_shader_module_passthrough(descriptor) })
}

/// The compute shader `entry` of a WGSL source as SPIR-V, without run-time checks, every float
/// operation decorated `NoContraction`.
///
/// # Errors
/// A source that does not parse or validate.
pub(super) fn uncontracted(source: &str, entry: &str) -> Result<Vec<u32>, String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.to_string())?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    let info = validator.validate(&module).map_err(|error| error.to_string())?;
    let unchecked = BoundsCheckPolicy::Unchecked;
    let options = Options {
        lang_version: (1, 3),
        bounds_check_policies: BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        force_loop_bounding: false,
        ..Options::default()
    };
    let entry_point = entry.to_owned();
    let pipeline = PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point };
    let words = write_vec(&module, &info, &options, Some(&pipeline));
    Ok(decorated(&words.map_err(|error| error.to_string())?))
}

/// Opcode and words of each instruction.
fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words.get(HEADER..).unwrap_or(&[]);
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let (instruction, after) = rest.split_at_checked((first >> 16).max(1) as usize)?;
        rest = after;
        Some((first & 0xffff, instruction))
    })
}

/// The module with an additional decoration for each float operation.
fn decorated(words: &[u32]) -> Vec<u32> {
    let is_float_operation = |opcode| {
        matches!(
            opcode,
            OP_F_NEGATE | OP_F_ADD | OP_F_SUB | OP_F_MUL | OP_F_DIV | OP_VECTOR_TIMES_SCALAR
        )
    };
    let decoration = |(opcode, instruction): (u32, &[u32])| {
        let result = instruction.get(2).filter(|_| is_float_operation(opcode));
        result.map(|&result| [3 << 16 | OP_DECORATE, result, NO_CONTRACTION])
    };
    let decorations: Vec<u32> = instructions(words).filter_map(decoration).flatten().collect();
    let header = words.iter().take(HEADER).copied();
    let mut module: Vec<u32> = header.collect();
    let mut pending = Some(decorations);
    for (opcode, instruction) in instructions(words) {
        // Decorations precede types and functions.
        if opcode == OP_DECORATE {
            module.extend(pending.take().unwrap_or_default());
        }
        module.extend(instruction);
    }
    module
}

#[cfg(test)]
mod tests {
    use dpscope_shaders::bgm::Variant;

    use super::*;

    const ARITHMETIC: [u32; 6] =
        [OP_F_NEGATE, OP_F_ADD, OP_F_SUB, OP_F_MUL, OP_F_DIV, OP_VECTOR_TIMES_SCALAR];

    /// Float operations of a module, and those of them that may be contracted.
    fn contractible(words: &[u32]) -> (usize, usize) {
        let is_kept = |id| {
            let order = [3 << 16 | OP_DECORATE, id, NO_CONTRACTION];
            instructions(words).any(|(_, instruction)| instruction == order)
        };
        let results = || {
            let float = instructions(words).filter(|(opcode, _)| ARITHMETIC.contains(opcode));
            float.map(|(_, instruction)| instruction[2])
        };
        (results().count(), results().filter(|&id| !is_kept(id)).count())
    }

    #[test]
    fn no_float_operation_may_be_contracted() {
        let all = Variant::all().into_iter().map(Source::from).chain([Source::Pair]);
        for source in all.filter(|source| source.mode() == FloatMode::Exact) {
            let words = uncontracted(&source.without_barriers(), source.entry()).unwrap();
            let (operations, free) = contractible(&words);
            assert!(operations > 50 && free == 0, "{source:?}: {free} of {operations}");
            let end: usize = HEADER + instructions(&words).map(|(_, i)| i.len()).sum::<usize>();
            assert_eq!(end, words.len());
            let plain: Vec<u32> = words.chunks(1).flatten().copied().collect();
            assert_eq!(contractible(&without_orders(&plain)).1, operations);
        }
        assert!(uncontracted("fn count() { let x = 1.0 + true; }", "count").is_err());
    }

    /// The broken twin.
    fn without_orders(words: &[u32]) -> Vec<u32> {
        let kept = instructions(words).filter(|(opcode, instruction)| {
            *opcode != OP_DECORATE || instruction.get(2) != Some(&NO_CONTRACTION)
        });
        words[..HEADER].iter().chain(kept.flat_map(|(_, i)| i)).copied().collect()
    }

    #[test]
    fn a_module_that_is_cut_off_ends() {
        assert_eq!(decorated(&[1, 2, 3]), [1, 2, 3]);
        assert_eq!(decorated(&[0; 7]).len(), 7);
        assert_eq!(decorated(&[0, 0, 0, 0, 0, 9 << 16]), [0; 5]);
    }
}

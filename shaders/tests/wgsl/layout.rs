//! Uniforms, bindings and entry points of kernels match their host code.

use dpscope_shaders::bgm::{Piece, Program, WORKGROUP};
use naga::{AddressSpace, Module, Scalar, StorageAccess, TypeInner};

use crate::wgsl::{edited, programs, validated};

/// Names of the fields of a uniform, which must have 4 bytes each and no gaps.
pub(crate) fn fields(module: &Module, name: &str) -> Result<Vec<String>, String> {
    let global = module.global_variables.iter().find(|(_, v)| v.name.as_deref() == Some(name));
    let (_, global) = global.ok_or(format!("no variable {name}"))?;
    let TypeInner::Struct { members, .. } = &module.types[global.ty].inner else {
        return Err(format!("{name} is no structure"));
    };
    for (index, member) in members.iter().enumerate() {
        let of_4_bytes =
            matches!(module.types[member.ty].inner, TypeInner::Scalar(Scalar { width: 4, .. }));
        if !of_4_bytes || member.offset as usize != 4 * index {
            return Err(format!("{name}, field {index}: not 4 bytes at {}", 4 * index));
        }
    }
    Ok(members.iter().filter_map(|member| member.name.clone()).collect())
}

/// Group, binding, name, access and type of each binding.
pub(crate) fn bindings(module: &Module) -> Vec<String> {
    let mut found = Vec::new();
    for (_, variable) in module.global_variables.iter() {
        let Some(binding) = &variable.binding else { continue };
        let space = match variable.space {
            AddressSpace::Uniform => "uniform",
            AddressSpace::Storage { access } if access == StorageAccess::LOAD => "read",
            AddressSpace::Storage { .. } => "read_write",
            _ => "other",
        };
        let of = match &module.types[variable.ty].inner {
            TypeInner::Array { base, .. } => match module.types[*base].inner {
                TypeInner::Scalar(scalar) => format!("{:?}", scalar.kind),
                TypeInner::Vector { size, scalar } => {
                    format!("{:?} x {}", scalar.kind, size as u8)
                }
                TypeInner::Atomic(scalar) => format!("atomic {:?}", scalar.kind),
                _ => "other".into(),
            },
            _ => "fields".into(),
        };
        let name = variable.name.clone().unwrap_or_default();
        found.push(format!("{}/{} {name} {space} {of}", binding.group, binding.binding));
    }
    found.sort();
    found
}

/// Names and values of a uniform, as a host binds them.
type Uniform<'a> = &'a [(&'static str, u32)];

/// Checks what a host assumes of a kernel: the fields of its uniforms, its bindings and its entry point.
pub(crate) fn check_host(
    source: &str,
    uniforms: &[(&str, Uniform<'_>)],
    expected: &[&str],
    entry_point: &str,
) -> Result<(), String> {
    let (module, _) = validated(source)?;
    for (name, bound) in uniforms {
        let expected: Vec<&str> = bound.iter().map(|(name, _)| *name).collect();
        let found = fields(&module, name)?;
        if found != expected {
            return Err(format!("{name}: {found:?}, bound as {expected:?}"));
        }
    }
    let found = bindings(&module);
    if found != expected {
        return Err(format!("bindings {found:?}"));
    }
    match &module.entry_points[..] {
        [entry] if entry.name == entry_point && entry.workgroup_size == [WORKGROUP, 1, 1] => Ok(()),
        entries => Err(format!("{} entry points, or another name or size", entries.len())),
    }
}

/// Checks the assumptions of a program's host.
fn check(program: &Program, source: &str) -> Result<(), String> {
    let piece = Piece { first: 0, observations: 1, blocks: 0..1, bins: None };
    let dispatch = program.dispatch(&piece);
    let [params, scoring] = program.uniforms();
    let expected = [
        "0/0 params uniform fields",
        "0/1 scoring uniform fields",
        "0/2 dispatch uniform fields",
        "0/3 weights read Float",
        "0/4 thresholds read Uint",
        "0/5 state read_write Uint",
        "0/6 histogram read_write atomic Uint",
    ];
    let uniforms = [("params", params), ("scoring", scoring), ("dispatch", &dispatch[..])];
    check_host(source, &uniforms, &expected, "count")
}

#[test]
fn uniforms_bindings_and_entry_points_match_the_host() {
    for program in programs() {
        let name = program.variant().name();
        check(&program, &program.variant().source()).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

#[test]
fn other_layouts_are_rejected() {
    let program = programs().remove(2);
    let source = program.variant().source();
    assert_eq!(check(&program, &source), Ok(()));
    for (from, to) in [
        ("seed_low: u32,\nseed_high: u32,", "seed_high: u32,\nseed_low: u32,"),
        ("noise_purpose: u32,", "@align(16) noise_purpose: u32,"),
        ("shift_target: f32,", "shift_target: vec2<f32>,"),
        ("begins: u32,\nends: u32,", "ends: u32,\nbegins: u32,"),
        ("begins: u32,\n", "unused: u32,\nbegins: u32,\n"),
        (
            "@binding(5) var<storage, read_write> state: array<u32>",
            "@binding(7) var<storage, read_write> state: array<u32>",
        ),
        ("@workgroup_size(WORKGROUP)", "@workgroup_size(32)"),
        ("fn count(", "fn tally("),
    ] {
        let refused = check(&program, &edited(&source, from, to));
        assert!(refused.is_err(), "{from} -> {to}");
    }
    let other = programs().remove(4);
    assert!(check(&other, &source).is_err(), "the uniforms of another scoring method");
}

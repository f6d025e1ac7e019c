//! Every kernel is valid and translates to SPIR-V, HLSL and MSL.

use dpscope_shaders::bgm::Variant;
use naga::back::{hlsl, msl, spv};

use crate::wgsl::{edited, validated, variant};

/// Sizes of the three translations.
pub(crate) fn translated(source: &str) -> Result<[usize; 3], String> {
    let (module, info) = validated(source)?;
    let options = spv::Options::default();
    let spirv = spv::write_vec(&module, &info, &options, None).map_err(|e| e.to_string())?;
    let options = hlsl::Options { fake_missing_bindings: true, ..hlsl::Options::default() };
    let pipeline = hlsl::PipelineOptions::default();
    let mut text = String::new();
    let mut writer = hlsl::Writer::new(&mut text, &options, &pipeline);
    let reflection = writer.write(&module, &info, None).map_err(|e| e.to_string())?;
    for name in reflection.entry_point_names {
        name.map_err(|error| error.to_string())?;
    }
    let options = msl::Options { fake_missing_bindings: true, ..msl::Options::default() };
    let pipeline = msl::PipelineOptions::default();
    let metal = msl::write_string(&module, &info, &options, &pipeline);
    let (metal, reflection) = metal.map_err(|error| error.to_string())?;
    for name in reflection.entry_point_names {
        name.map_err(|error| error.to_string())?;
    }
    Ok([spirv.len(), text.len(), metal.len()])
}

#[test]
fn every_variant_is_valid_and_translates() {
    for variant in Variant::all() {
        for source in [variant.source(), variant.source_without_barriers()] {
            let sizes = translated(&source).unwrap_or_else(|e| panic!("{}: {e}", variant.name()));
            assert!(sizes.iter().all(|&size| size > 1_000), "{}: {sizes:?}", variant.name());
        }
    }
}

#[test]
fn broken_sources_are_rejected() {
    let source = variant("fixed-two-sums-weighted-exact").source();
    assert!(translated(&source).is_ok());
    for (from, to) in [
        ("fn root(", "fn roots("),
        ("const WORKGROUP: u32 = ", "const WORKGROUP: f32 = 1.5 * "),
        ("@group(0) @binding(4) ", ""),
        ("@group(0) @binding(4) ", "@group(0) @binding(3) "),
        ("zero: u32,", "zero: f32,"),
        ("var<storage, read> weights", "var<storage, read> heights"),
        ("var<private> world: u32;", ""),
        ("@compute ", ""),
    ] {
        assert!(translated(&edited(&source, from, to)).is_err(), "{from} -> {to}");
    }
}

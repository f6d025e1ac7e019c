//! Canary directions on the GPU: the running sums of the twin, bit for bit, or those of the CPU.

use std::ops::Range;

use dpscope_core::random::Purpose;
use dpscope_engine::{FloatMode, Unattended};
use dpscope_shaders::directions::{BLOCK, DirectionProgram, SUMS, running_sums};
use dpscope_shaders::random::VectorNormals;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Backend, CanaryDirections, ModelChange, cosines};
use libtest_mimic::{Failed, Trial};

use crate::audits::OWN;
use crate::comparison::{Comparison, exact};
use crate::device::{Dispatch, Work, gpu, groups};
use crate::kernels::edited;
use crate::training_runs::Watch;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("sums_of_directions_equal_the_twin", sums_equal_the_twin),
        Trial::test("broken_sums_of_directions_are_rejected", broken_sums),
        Trial::test("cosines_equal_those_of_the_cpu", cosines_equal_those_of_the_cpu),
        Trial::test("a_lost_device_costs_no_cosine", a_lost_device_costs_no_cosine),
    ]
}

/// Canaries whose numbers carry into the high word.
const FAR: Range<u64> = (1 << 32) - 1..(1 << 32) + 2;

/// Blocks whose words carry into the high word.
const FAR_BLOCKS: Range<u64> = (1 << 24) - 1..(1 << 24) + 1;

fn change(length: usize) -> Vec<f32> {
    (0..length).map(|i| (i * 7919 % 977) as f32 - 488.0).collect()
}

/// Running sums of a source beside those of the twin.
fn compared(
    source: &str,
    canaries: Range<u64>,
    blocks: Range<u64>,
    edit: impl Fn(Work) -> Work,
) -> Result<Comparison, String> {
    const SEED: u64 = 7;
    let change = change((blocks.end - blocks.start) as usize * BLOCK);
    let count = (canaries.end - canaries.start) as u32;
    let length = (blocks.end - blocks.start) as u32;
    let sums = SUMS as u32 * count * length;
    let uniform = DirectionProgram::dispatch(canaries.start, count, blocks.start, length);
    let work = Work {
        params: DirectionProgram::new(SEED).params().iter().map(|field| field.1).collect(),
        scoring: Vec::new(),
        weights: Vec::new(),
        thresholds: change.iter().map(|x| x.to_bits()).collect(),
        state_words: 0,
        result_words: 2 * sums as usize,
        dispatches: vec![Dispatch { uniform, groups: groups(sums, 1) }],
    };
    let gpu = gpu()?;
    let found = gpu.run(&gpu.compiled(source, DirectionProgram::ENTRY)?, &edit(work))?;
    let mut twin = Vec::new();
    for canary in canaries {
        let mut directions = VectorNormals::new(SEED, Purpose::CanaryDirection, canary);
        for (block, change) in blocks.clone().zip(change.chunks(BLOCK)) {
            let mut normals = vec![0.0; BLOCK];
            directions.add(block, 1.0, &mut normals);
            let products = running_sums(&normals, change);
            for (product, square) in products.into_iter().zip(running_sums(&normals, &normals)) {
                twin.extend([product.to_bits(), square.to_bits()]);
            }
        }
    }
    Ok(exact(&found, &twin))
}

fn sums_equal_the_twin() -> Result<(), Failed> {
    let source = DirectionProgram::source();
    for (canaries, blocks) in [(0..1, 0..1), (5..20, 3..10), (FAR, FAR_BLOCKS), (0..300, 0..2)] {
        let what = format!("canaries {canaries:?}, blocks {blocks:?}");
        compared(&source, canaries, blocks, |work| work)?.agrees(&what)?;
    }
    Ok(())
}

fn broken_sums() -> Result<(), Failed> {
    let source = DirectionProgram::source();
    for (what, from, to) in [
        (
            "noise x 0.9",
            "return vec4<f32>(x.x, y.x, x.y, y.y);",
            "return 0.9 * vec4<f32>(x.x, y.x, x.y, y.y);",
        ),
        ("no carry", "high + select(0u, 1u, sum < add)", "high"),
        ("a neighbour's coordinate", "add(odd.w, at + 224u);", "add(odd.w, at + 223u);"),
        (
            "one tile twice",
            "let at = (block * TILES + tile) * 1024u",
            "let at = block * TILES * 1024u",
        ),
        ("a row left out", "add(even.z, at + 128u);", ""),
        (
            "halves swapped",
            "add(even.x, at);\nadd(odd.x, at + 32u);",
            "add(odd.x, at);\nadd(even.x, at + 32u);",
        ),
        ("no square", "rounded(normal * normal)", "normal"),
    ] {
        let twin = edited(&source, from, to)?;
        compared(&twin, FAR, FAR_BLOCKS, |work| work)?.differs(what)?;
    }
    for field in 0..3 {
        let flipped = |mut work: Work| {
            work.params[field] ^= 8;
            work
        };
        compared(&source, FAR, FAR_BLOCKS, flipped)?.differs("another parameter")?;
    }
    Ok(())
}

fn backend() -> Result<Backend, Failed> {
    Ok(crate::audits::gpu(FloatMode::Exact, OWN)?)
}

fn cosines_equal_those_of_the_cpu() -> Result<(), Failed> {
    let backend = backend()?;
    for dimension in [2, 4_095, 4_096, 4_097, 50_000] {
        let change = ModelChange::of(&change(dimension)).ok_or("no change")?;
        let watch = Watch::new(&|_| true);
        let found = cosines(&backend, 5, 3..40, &change, &watch)?;
        let mut directions = CanaryDirections::new(5, dimension);
        let expected: Vec<f64> = (3..40).map(|canary| directions.cosine(canary, &change)).collect();
        let warnings = watch.warnings();
        if found != expected || !warnings.is_empty() {
            return Err(format!("{dimension}: {found:?}, {expected:?}, {warnings:?}").into());
        }
    }
    Ok(())
}

fn a_lost_device_costs_no_cosine() -> Result<(), Failed> {
    let change = ModelChange::of(&change(20_000)).ok_or("no change")?;
    let cpu = Backend::Cpu(CpuBackend::new(0)?);
    let expected = cosines(&cpu, 5, 0..30, &change, &Unattended)?;
    let backend = backend()?;
    let Backend::Gpu(device) = &backend else { return Err("not a GPU".into()) };
    let lose_first = |poll| {
        if poll == 0 {
            device.lose_device();
        }
        true
    };
    let watch = Watch::new(&lose_first);
    let found = cosines(&backend, 5, 0..30, &change, &watch)?;
    let warnings = watch.warnings();
    if found != expected || warnings.len() != 1 || !warnings[0].ends_with("continuing on the CPU") {
        return Err(format!("{found:?}, {expected:?}, {warnings:?}").into());
    }
    Ok(())
}

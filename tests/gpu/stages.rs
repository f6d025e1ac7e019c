//! The stages of a kernel alone, through entry points of their own: words, slots and normals.

use dpscope_core::adjacency::World;
use dpscope_core::audit::histogram::{MAX_BINS, ScoreBins};
use dpscope_core::random::{Purpose, stream_words};
use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::{Piece, Program, ScoreKernel};
use dpscope_shaders::random::{normals_of_words, stream_normals};
use libtest_mimic::{Failed, Trial};

use crate::comparison::exact;
use crate::device::{Dispatch, Gpu, Work, gpu, groups};
use crate::kernels::{distribution, kernel, one_slot, weighted};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("words_equal_published_vectors", published_words),
        Trial::test("words_equal_the_twin", words),
        Trial::test("normals_of_chosen_words_equal_the_twin", chosen_words),
        Trial::test("normals_with_rare_radius_words_equal_the_twin", rare_words),
        Trial::test("slots_equal_the_twin", slots),
        Trial::test("bins_equal_the_twin", bins),
    ]
}

/// Entry points that read `thresholds`, one group of words an invocation, and write what a stage
/// makes of them.
const STAGES: &str = "
fn put(at: u32, words: vec4<u32>) {
    atomicStore(&histogram[at], words.x);
    atomicStore(&histogram[at + 1u], words.y);
    atomicStore(&histogram[at + 2u], words.z);
    atomicStore(&histogram[at + 3u], words.w);
}

fn taken(at: u32) -> vec4<u32> {
    return vec4<u32>(
        thresholds[at], thresholds[at + 1u], thresholds[at + 2u], thresholds[at + 3u],
    );
}

// In: block (low, high), stream (low, high). Out: 16 words.
@compute @workgroup_size(WORKGROUP)
fn write_words(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= dispatch.observations) { return; }
    let place = taken(4u * id.x);
    let words = chacha8(params.noise_purpose, place.xy, place.zw);
    put(16u * id.x, words.a);
    put(16u * id.x + 4u, words.b);
    put(16u * id.x + 8u, words.c);
    put(16u * id.x + 12u, words.d);
}

// In: block (low, high), stream (low, high). Out: 16 normals.
@compute @workgroup_size(WORKGROUP)
fn write_normals(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= dispatch.observations) { return; }
    let place = taken(4u * id.x);
    let words = chacha8(params.noise_purpose, place.xy, place.zw);
    let z = any_normals(words, 16u, place.xy, place.zw);
    put(16u * id.x, bitcast<vec4<u32>>(z.a));
    put(16u * id.x + 4u, bitcast<vec4<u32>>(z.b));
    put(16u * id.x + 8u, bitcast<vec4<u32>>(z.c));
    put(16u * id.x + 12u, bitcast<vec4<u32>>(z.d));
}

// In: four words, four extensions. Out: four normals.
@compute @workgroup_size(WORKGROUP)
fn write_normals_of_words(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= dispatch.observations) { return; }
    let z = deep_normals(taken(8u * id.x), taken(8u * id.x + 4u));
    put(4u * id.x, bitcast<vec4<u32>>(z));
}

// In: nothing. Out: the slots of 64 epochs of the streams 0, 1, ….
@compute @workgroup_size(WORKGROUP)
fn write_slots(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= dispatch.observations) { return; }
    for (var epoch = 0u; epoch < 64u; epoch++) {
        draw_slot(epoch, vec2<u32>(id.x, 0u));
        atomicStore(&histogram[64u * id.x + epoch], slot);
    }
}

// In: a score (low, high). Out: its bin.
@compute @workgroup_size(WORKGROUP)
fn write_bins(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= dispatch.observations) { return; }
    score_low = thresholds[2u * id.x];
    score_high = thresholds[2u * id.x + 1u];
    atomicStore(&histogram[id.x], bin());
}
";

/// What the entry point `stage` of a kernel makes of groups of input words.
pub(crate) fn run_stage(
    gpu: &Gpu,
    kernel: &ScoreKernel,
    mode: FloatMode,
    stage: &str,
    groups_in: (&[u32], usize),
    results_each: usize,
) -> Result<Vec<u32>, String> {
    let program = kernel.program(mode);
    let pipeline = gpu.compiled(&(program.variant().source() + STAGES), stage)?;
    let (words, each) = groups_in;
    let count = (words.len() / each) as u32;
    let work = Work {
        thresholds: words.to_vec(),
        result_words: count as usize * results_each,
        dispatches: vec![dispatch(&program, count)],
        ..Work::of(&program, &[])
    };
    gpu.run(&pipeline, &work)
}

/// A dispatch of which only the number of invocations matters.
fn dispatch(program: &Program, invocations: u32) -> Dispatch {
    let piece = Piece { first: 0, observations: invocations, blocks: 0..1, bins: None };
    Dispatch { uniform: program.dispatch(&piece), groups: groups(invocations, 1) }
}

fn plain(seed: u64) -> Result<ScoreKernel, String> {
    kernel(&distribution(1.0, 1, 20, one_slot(2.0)), seed)
}

/// Test vectors TC1 (first two blocks) and TC2 (256-bit key, 8 rounds) of
/// draft-strombergson-chacha-test-vectors; the purpose is part of the key and 0 there.
fn published_words() -> Result<(), Failed> {
    let gpu = gpu()?;
    let blocks = [
        (
            0,
            0,
            "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e\
                984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42",
        ),
        (
            0,
            1,
            "d2aefa0deaa5c151bf0adb6c01f2a5adc0fd581259f9a2aadcf20f8fd566a26b\
                5032ec38bbc5da98ee0c6f568b872a65a08abf251deb21bb4b56e5d8821e68aa",
        ),
        (
            1,
            0,
            "cf5ee9a0494aa9613e05d5ed725b804b12f4a465ee635acc3a311de8740489ea\
                289d04f43c7518db56eb4433e498a1238cd8464d3763ddbb9222ee3bd8fae3c8",
        ),
    ];
    for (seed, block, published) in blocks {
        let program = plain(seed)?.program(FloatMode::Fast);
        let source = program.variant().source() + STAGES;
        let mut work = Work::of(&program, &[]);
        let purpose = program.uniforms()[0].iter().position(|(name, _)| *name == "noise_purpose");
        work.params[purpose.ok_or("no field noise_purpose")?] = 0;
        work.thresholds = vec![block, 0, 0, 0];
        work.result_words = 16;
        work.dispatches = vec![dispatch(&program, 1)];
        let words = gpu.run(&gpu.compiled(&source, "write_words")?, &work)?;
        let hex = words.iter().flat_map(|w| w.to_le_bytes()).map(|byte| format!("{byte:02x}"));
        exact(&[hex.collect::<String>()], &[published.to_string()]).agrees("published")?;
    }
    Ok(())
}

/// Blocks and streams whose words and carries are all kinds.
fn places() -> Vec<(u64, u64)> {
    let spread = |i: u64, odd: u64| (i + 1).wrapping_mul(odd) >> (i % 61);
    let place = |i| (spread(i, 0xd6e8_feb8_6659_fd93) >> 4, spread(i, 0x9e37_79b9_7f4a_7c15));
    (0..2_000).map(place).collect()
}

fn as_input(places: &[(u64, u64)]) -> Vec<u32> {
    let words = |n: u64| [n as u32, (n >> 32) as u32];
    places.iter().flat_map(|&(block, stream)| [words(block), words(stream)].concat()).collect()
}

fn words() -> Result<(), Failed> {
    let gpu = gpu()?;
    let places = places();
    for seed in [0, 7, u64::from(u32::MAX) + 5, u64::MAX] {
        for mode in [FloatMode::Exact, FloatMode::Fast] {
            let input = as_input(&places);
            let found = run_stage(gpu, &plain(seed)?, mode, "write_words", (&input, 4), 16)?;
            let mut expected = vec![0; found.len()];
            for (&(block, stream), out) in places.iter().zip(expected.chunks_exact_mut(16)) {
                stream_words(seed, Purpose::AuditNoise, stream, block * 16, out);
            }
            exact(&found, &expected).agrees("words")?;
            expected.rotate_left(1); // the broken twin
            exact(&found, &expected).differs("words off by one")?;
        }
    }
    Ok(())
}

/// Radius and angle words at the ends of all their ranges, with extensions.
pub(crate) fn chosen() -> (Vec<u32>, Vec<u32>) {
    let mut ends: Vec<u32> = (0..32).flat_map(|bit| [1 << bit, (1_u32 << bit) - 1]).collect();
    ends.extend((0..300).flat_map(|i| [i, u32::MAX - i, (1 << 12) + i, (1 << 31) - i]));
    ends.extend((0..20_000_u32).map(|i| i.wrapping_mul(2_654_435_761) >> (i % 31)));
    let (mut words, mut extensions) = (Vec::new(), Vec::new());
    for (i, &radius) in ends.iter().enumerate() {
        let other = (i as u32).wrapping_mul(0x9e37_79b9);
        for angle in [0, 1 << 30, 1 << 31, 3 << 30, u32::MAX, other] {
            words.extend([radius, angle]);
            extensions.extend([if i % 2 == 0 { other } else { radius }, 0]);
        }
    }
    (words, extensions)
}

/// What `write_normals_of_words` makes of chosen words.
pub(crate) fn normals_of_chosen(gpu: &Gpu, mode: FloatMode) -> Result<Vec<f32>, String> {
    let (words, extensions) = chosen();
    let fours = words.chunks_exact(4).zip(extensions.chunks_exact(4));
    let input: Vec<u32> =
        fours.flat_map(|(words, extensions)| [words, extensions].concat()).collect();
    let bits = run_stage(gpu, &plain(7)?, mode, "write_normals_of_words", (&input, 8), 4)?;
    Ok(bits.into_iter().map(f32::from_bits).collect())
}

fn bits(normals: &[f32]) -> Vec<u32> {
    normals.iter().map(|z| z.to_bits()).collect()
}

fn chosen_words() -> Result<(), Failed> {
    let (words, extensions) = chosen();
    let found = bits(&normals_of_chosen(gpu()?, FloatMode::Exact)?);
    let expected = normals_of_words(&words, &extensions);
    exact(&found, &bits(&expected)).agrees("normals of chosen words")?;
    let unextended = normals_of_words(&words, &vec![0; words.len()]);
    exact(&found, &bits(&unextended)).differs("extensions left out")
}

/// Streams whose first block contains an extended radius word, which one in 2¹⁷ does.
fn rare_words() -> Result<(), Failed> {
    const STREAMS: u64 = 1 << 20;
    let mut block = [0; 16];
    let mut rare = |&stream: &u64| {
        stream_words(7, Purpose::AuditNoise, stream, 0, &mut block);
        block.iter().step_by(2).any(|&radius| radius < 1 << 12)
    };
    let streams: Vec<(u64, u64)> =
        (0..STREAMS).filter(&mut rare).chain(0..100).map(|stream| (0, stream)).collect();
    if streams.len() < 103 {
        return Err(format!("{} rare streams are too few to test", streams.len() - 100).into());
    }
    let input = as_input(&streams);
    let found = run_stage(gpu()?, &plain(7)?, FloatMode::Exact, "write_normals", (&input, 4), 16)?;
    let normals = |&(_, stream): &(u64, u64)| stream_normals(7, Purpose::AuditNoise, stream, 16);
    let expected: Vec<f32> = streams.iter().flat_map(normals).collect();
    exact(&found, &bits(&expected)).agrees("normals of streams")?;
    let words = |&(_, stream): &(u64, u64)| {
        let mut words = vec![0; 16];
        stream_words(7, Purpose::AuditNoise, stream, 0, &mut words);
        normals_of_words(&words, &[0; 16])
    };
    let unextended: Vec<f32> = streams.iter().flat_map(words).collect();
    exact(&found, &bits(&unextended)).differs("extensions left out")
}

fn slots() -> Result<(), Failed> {
    let gpu = gpu()?;
    for (entries, total) in [(1, 0.5), (2, 1.0), (3, 0.3), (37, 0.9), (1000, 1.0)] {
        let kernel = kernel(&distribution(1.0, 64, entries, weighted(1.0, entries, total)), 13)?;
        let program = kernel.program(FloatMode::Exact);
        let pipeline = gpu.compiled(&(program.variant().source() + STAGES), "write_slots")?;
        let dispatches = vec![dispatch(&program, 200)];
        let work = Work { result_words: 64 * 200, dispatches, ..Work::of(&program, &[]) };
        let found = gpu.run(&pipeline, &work)?;
        let slots = |stream: u64| {
            let world = World::BOTH[(stream % 2) as usize];
            let target = kernel.draws(world, stream / 2).target;
            let slot = |epoch: &[bool]| epoch.iter().position(|&hit| hit).unwrap_or(epoch.len());
            target.chunks(entries as usize).map(slot).collect::<Vec<_>>()
        };
        let mut expected: Vec<u32> = (0..200).flat_map(slots).map(|slot| slot as u32).collect();
        exact(&found, &expected).agrees(&format!("slots of {entries} entries"))?;
        expected[777] ^= 1; // the broken twin
        exact(&found, &expected).differs("one slot changed")?;
    }
    Ok(())
}

/// Scores at every edge that a carry, a shift by whole words or a saturated bin makes.
fn bins() -> Result<(), Failed> {
    let gpu = gpu()?;
    let program = plain(7)?.program(FloatMode::Exact);
    let pipeline = gpu.compiled(&(program.variant().source() + STAGES), "write_bins")?;
    let largest = (1 << 60) - 1;
    for origin in [0, 1, -1, 1 << 31, 1 << 32, (1 << 32) - 1, -(1 << 32), -largest, largest] {
        for shift in [0, 1, 20, 31, 32, 33, 40] {
            for count in [2, 3, 1000, MAX_BINS] {
                let bins = ScoreBins::new(1.0, origin, shift, count)?;
                let edges = [0, 1, 2, i64::from(count) - 3, i64::from(count) - 2, 1 << 20];
                let near = edges.iter().flat_map(|edge| {
                    [-1, 0, 1].map(|off| origin.wrapping_add((edge << shift) + off))
                });
                let scores: Vec<i64> =
                    near.chain([i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX]).collect();
                let words: Vec<u32> =
                    scores.iter().flat_map(|&s| [s as u32, (s >> 32) as u32]).collect();
                let observations = scores.len() as u32;
                let piece = Piece { first: 0, observations, blocks: 0..1, bins: Some(&bins) };
                let uniform = program.dispatch(&piece);
                let work = Work {
                    thresholds: words,
                    result_words: scores.len(),
                    dispatches: vec![Dispatch { uniform, groups: groups(observations, 1) }],
                    ..Work::of(&program, &[])
                };
                let expected: Vec<u32> = scores.iter().map(|&s| bins.bin(s) as u32).collect();
                let what = format!("{bins:?}");
                exact(&gpu.run(&pipeline, &work)?, &expected).agrees(&what)?;
                let wider = work.changed("origin_low", |low| low.wrapping_add(1)); // the broken twin
                exact(&gpu.run(&pipeline, &wider)?, &expected).differs(&what)?;
            }
        }
    }
    Ok(())
}

//! Broken kernels and broken runs, each of which a comparison must reject.

use dpscope_core::mechanism::ScoreDistribution;
use dpscope_shaders::FloatMode;
use libtest_mimic::{Failed, Trial};

use crate::comparison::{Comparison, exact};
use crate::device::{Gpu, Work, gpu};
use crate::kernels::{
    Observations, bins, cpu_counts, cpu_scores, distribution, edited, kernel, one_slot, pieces,
    recorded, weighted,
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("broken_kernels_are_rejected", broken_kernels),
        Trial::test("broken_runs_are_rejected", broken_runs),
        Trial::test("broken_counts_are_rejected", broken_counts),
        Trial::test("a_kernel_that_does_not_compile_is_an_error", does_not_compile),
    ]
}

/// Observations whose numbers carry into the high word.
const FAR: Observations = Observations { first: (1 << 32) - 100, count: 200 };

/// An edited kernel, or work that is changed, beside the real twin.
fn broken(
    gpu: &Gpu,
    distribution: &ScoreDistribution,
    mode: FloatMode,
    edit: Option<(&str, &str)>,
    change: impl Fn(Work) -> Work,
) -> Result<Comparison, String> {
    let kernel = kernel(distribution, 7)?;
    let program = kernel.program(mode);
    let mut source = program.variant().source();
    if let Some((from, to)) = edit {
        source = edited(&source, from, to)?;
    }
    let work = change(Work::of(&program, &pieces(&program, FAR, None, u64::MAX)));
    let found = recorded(&gpu.run(&gpu.compiled(&source, "count")?, &work)?)?;
    Ok(exact(&found, &cpu_scores(&kernel, FAR)))
}

fn plain() -> ScoreDistribution {
    distribution(1.0, 3, 37, one_slot(2.0))
}

fn drawn() -> ScoreDistribution {
    distribution(1.0, 3, 37, weighted(2.0, 37, 0.9))
}

fn broken_kernels() -> Result<(), Failed> {
    let gpu = gpu()?;
    let exact_mode = FloatMode::Exact;
    broken(gpu, &plain(), exact_mode, None, |work| work)?.agrees("unchanged")?;
    broken(gpu, &drawn(), exact_mode, None, |work| work)?.agrees("unchanged")?;
    let edits = [
        (
            "noise x 0.9",
            "return vec4<f32>(x.x, y.x, x.y, y.y);",
            "return 0.9 * vec4<f32>(x.x, y.x, x.y, y.y);",
        ),
        ("seed reused for both worlds", "(low << 1u) | world", "(low << 1u)"),
        (
            "no carry into the high word",
            "dispatch.first_high + select(0u, 1u, low < index)",
            "dispatch.first_high",
        ),
        ("no carry into the stream", "(high << 1u) | (low >> 31u)", "high << 1u"),
        (
            "square root of a float",
            "fn root(x: vec2<f32>) -> vec2<f32> {",
            "fn root(x: vec2<f32>) -> vec2<f32> { if (EXACT) { return sqrt(x) * 1.0000001; }",
        ),
    ];
    for (what, from, to) in edits {
        broken(gpu, &plain(), exact_mode, Some((from, to)), |work| work)?.differs(what)?;
    }
    let off_by_one = Some(("slot = low;", "slot = low + 1u;"));
    broken(gpu, &drawn(), exact_mode, off_by_one, |work| work)?.differs("slots off by one")
}

fn run(
    what: &str,
    distribution: &ScoreDistribution,
    change: impl Fn(Work) -> Work,
) -> Result<(), Failed> {
    broken(gpu()?, distribution, FloatMode::Exact, None, change)?.differs(what)
}

fn broken_runs() -> Result<(), Failed> {
    run("last row dropped", &plain(), |work| work.changed("last_rows", |rows| rows - 1))?;
    run("last block dropped", &plain(), |work| work.changed("blocks", |blocks| blocks - 1))?;
    run("another block", &plain(), |work| work.changed("block_low", |low| low + 1))?;
    run("another observation", &plain(), |work| work.changed("first_low", |low| low + 1))?;
    run("another high word", &plain(), |work| work.changed("first_high", |_| 7))?;
    let program = kernel(&drawn(), 7)?.program(FloatMode::Exact);
    for (field, (name, _)) in program.uniforms()[0].iter().enumerate() {
        let flipped = |mut work: Work| {
            work.params[field] ^= 1 << 5;
            work
        };
        run(&format!("params.{name}"), &drawn(), flipped)?;
    }
    let less_one = |mut work: Work| {
        work.thresholds.iter_mut().for_each(|threshold| *threshold -= 1 << 20);
        work
    };
    run("other thresholds", &drawn(), less_one)?;
    let heavier = |mut work: Work| {
        work.weights[0] += 8;
        work
    };
    run("another weight", &drawn(), heavier)
}

fn broken_counts() -> Result<(), Failed> {
    let gpu = gpu()?;
    let kernel = kernel(&plain(), 7)?;
    let bins = bins(&kernel)?;
    let program = kernel.program(FloatMode::Exact);
    let expected = cpu_counts(&cpu_scores(&kernel, FAR), &bins, FAR.first);
    let counted = |edit: Option<(&str, &str)>, change: &dyn Fn(Work) -> Work| {
        let mut source = program.variant().source();
        if let Some((from, to)) = edit {
            source = edited(&source, from, to)?;
        }
        let work = change(Work::of(&program, &pieces(&program, FAR, Some(&bins), u64::MAX)));
        let found = gpu.run(&gpu.compiled(&source, "count")?, &work)?;
        Ok::<_, String>(exact(&found, &expected))
    };
    counted(None, &|work| work)?.agrees("unchanged")?;
    let parity = "(dispatch.first_low + index) & 1u";
    let swapped = Some((parity, "(dispatch.first_low + index + 1u) & 1u"));
    counted(swapped, &|work| work)?.differs("halves swapped")?;
    let width = 1 << bins.shift();
    counted(None, &|work| work.changed("origin_low", |low| low.wrapping_add(width)))?
        .differs("another origin")?;
    counted(None, &|work| work.changed("shift", |shift| shift + 1))?.differs("wider bins")?;
    counted(None, &|work| work.changed("observations", |n| n - 1))?
        .differs("the last not counted")?;
    let twice = |mut work: Work| {
        work.dispatches.push(work.dispatches[0].clone());
        work
    };
    counted(None, &twice)?.differs("counted twice")
}

fn does_not_compile() -> Result<(), Failed> {
    let source = kernel(&plain(), 7)?.program(FloatMode::Fast).variant().source();
    let gpu = gpu()?;
    gpu.compiled(&source, "count")?;
    for broken in [source.replace("fn chacha8(", "fn chacha9("), source.replace("1u", "1f")] {
        if gpu.compiled(&broken, "count").is_ok() {
            return Err("a source that does not compile yields a pipeline".into());
        }
    }
    Ok(())
}

//! Draws of the exact pair on the GPU: those of the twin, bit for bit, or those of the CPU.

use std::sync::Mutex;

use dpscope_core::accounting::pair::{ExactPair, PairMethod, epsilon_proposal};
use dpscope_core::accounting::{Given, Training};
use dpscope_engine::{Control, FloatMode, Unattended};
use dpscope_shaders::PairKernel;
use dpscope_shaders::pair::PairProgram;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Backend, pair};
use libtest_mimic::{Failed, Trial};

use crate::audits::OWN;
use crate::comparison::{Comparison, exact};
use crate::device::{Dispatch, Work, gpu, groups};
use crate::kernels::edited;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("pair_draws_equal_the_twin", pair_draws_equal_the_twin),
        Trial::test("broken_pair_draws_are_rejected", broken_pair_draws),
        Trial::test("pair_results_equal_those_of_the_cpu", pair_results_equal_those_of_the_cpu),
        Trial::test("a_lost_device_costs_no_pair_draw", a_lost_device_costs_no_pair_draw),
    ]
}

/// Draws whose numbers carry into the high word.
const FAR: u64 = (1 << 32) - 100;

/// A seed whose draw 0 has a deep radius word.
const DEEP: u64 = 87_151;

fn kernel(noise_multiplier: f64, steps: u64, seed: u64) -> Result<PairKernel, String> {
    let run = Training { noise_multiplier, steps_per_epoch: steps, epochs: 1, sampling_rate: None };
    let proposal = epsilon_proposal(&run, 1e-5).map_err(|error| error.to_string())?;
    PairKernel::new(&proposal, seed).map_err(|error| error.to_string())
}

fn work(program: &PairProgram, first: u64, draws: u32) -> Work {
    let uniform = program.dispatch(first, draws);
    Work {
        params: program.params().iter().map(|field| field.1).collect(),
        scoring: Vec::new(),
        weights: Vec::new(),
        thresholds: program.thresholds().to_vec(),
        state_words: 0,
        result_words: PairProgram::VALUES * draws as usize,
        dispatches: vec![Dispatch { uniform, groups: groups(draws, 1) }],
    }
}

/// Draws of a source beside those of the twin.
fn compared(
    source: &str,
    kernel: &PairKernel,
    first: u64,
    draws: u32,
    change: impl Fn(Work) -> Work,
) -> Result<Comparison, String> {
    let gpu = gpu()?;
    let work = change(work(&kernel.program(), first, draws));
    let found = gpu.run(&gpu.compiled(source, PairProgram::ENTRY)?, &work)?;
    let twin = kernel.values(first, draws as usize, &|| true).map_err(|e| e.to_string())?;
    Ok(exact(&found, twin.as_flattened()))
}

fn pair_draws_equal_the_twin() -> Result<(), Failed> {
    let source = PairProgram::source();
    for (sigma, steps) in
        [(1.0, 100), (0.05, 13), (0.3, 14), (5.0, 15), (0.1, 2), (2.0, 530), (1.0, 20_011)]
    {
        let what = format!("sigma {sigma}, {steps} steps");
        for (seed, first) in [(DEEP, 0), (7, FAR)] {
            let kernel = kernel(sigma, steps, seed)?;
            compared(&source, &kernel, first, 257, |work| work)?.agrees(&what)?;
        }
    }
    let kernel = kernel(1.0, 20, 3)?;
    for draws in [1, 255, 256, 257, 65_537] {
        let what = format!("{draws} draws");
        compared(&source, &kernel, 5, draws, |work| work)?.agrees(&what)?;
    }
    let gpu = gpu()?;
    let none = work(&kernel.program(), 5, 0);
    let found = gpu.run(&gpu.compiled(&source, PairProgram::ENTRY)?, &none)?;
    if found.is_empty() { Ok(()) } else { Err("draws where none were requested".into()) }
}

fn broken_pair_draws() -> Result<(), Failed> {
    let source = PairProgram::source();
    let far = kernel(1.0, 37, 7)?;
    let deep = kernel(1.0, 37, DEEP)?;
    for (what, kernel, first, from, to) in [
        (
            "noise x 0.9",
            &far,
            FAR,
            "return vec4<f32>(x.x, y.x, x.y, y.y);",
            "return 0.9 * vec4<f32>(x.x, y.x, x.y, y.y);",
        ),
        (
            "no carry into the high word",
            &far,
            FAR,
            "dispatch.first_high + select(0u, 1u, low < index)",
            "dispatch.first_high",
        ),
        ("another slot is never shifted", &far, FAR, "& 1u) == 1u", "& 1u) == 2u"),
        ("the target among the others", &far, FAR, "rows.first += select(0u, 1u, i == 0u);", ""),
        (
            "the last slot dropped",
            &far,
            FAR,
            "let end = params.steps + HEAD;",
            "let end = params.steps + HEAD - 1u;",
        ),
        ("no deep tail", &deep, 0, "const DEEP: u32 = 4096u", "const DEEP: u32 = 0u"),
        (
            "no extremes",
            &deep,
            0,
            "const MIN_RADIUS_WORD: u32 = 1u",
            "const MIN_RADIUS_WORD: u32 = 5000u",
        ),
    ] {
        let twin = edited(&source, from, to)?;
        compared(&twin, kernel, first, 257, |work| work)?.differs(what)?;
    }
    for (field, (name, _)) in far.program().params().iter().enumerate() {
        let flipped = |mut work: Work| {
            work.params[field] ^= match *name {
                "thresholds" => 1,
                "shifts_other" => 1 << 2,
                // none, so that centres move
                "span" => work.params[field],
                _ => 1 << 3,
            };
            work
        };
        compared(&source, &far, FAR, 257, flipped)?.differs(name)?;
    }
    let other = |work: Work| work.changed("first_low", |low| low + 1);
    compared(&source, &far, FAR, 257, other)?.differs("another draw")
}

fn backend() -> Result<Backend, Failed> {
    Ok(crate::audits::gpu(FloatMode::Exact, OWN)?)
}

const RUN: Training =
    Training { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1, sampling_rate: None };
const PAIR: ExactPair =
    ExactPair { method: PairMethod::OneEpoch, draws: 60_000, significance: 0.025 };
const DELTA: Given = Given::Delta(1e-5);

fn pair_results_equal_those_of_the_cpu() -> Result<(), Failed> {
    let cpu = Backend::Cpu(CpuBackend::new(0)?);
    for (noise_multiplier, steps_per_epoch) in [(1.0, 100), (0.4, 31), (5.0, 60)] {
        let run = Training { noise_multiplier, steps_per_epoch, epochs: 1, sampling_rate: None };
        let control = LosingControl { lost_at: usize::MAX, device: None, seen: Mutex::default() };
        let on_gpu = pair::evaluate(&PAIR, &run, DELTA, 3, &backend()?, &control)?;
        let on_cpu = pair::evaluate(&PAIR, &run, DELTA, 3, &cpu, &Unattended)?;
        let other = pair::evaluate(&PAIR, &run, DELTA, 4, &cpu, &Unattended)?;
        let (_, warnings) = control.seen.into_inner()?;
        if on_gpu != on_cpu || on_gpu == other || !warnings.is_empty() {
            return Err(format!("{run:?}: {on_gpu:?}, {on_cpu:?}, {warnings:?}").into());
        }
        let on_gpu = pair::evaluate(&PAIR, &run, Given::Epsilon(1.0), 3, &backend()?, &Unattended)?;
        if on_gpu != pair::evaluate(&PAIR, &run, Given::Epsilon(1.0), 3, &cpu, &Unattended)? {
            return Err(format!("{run:?}: another delta").into());
        }
    }
    Ok(())
}

/// Loses the device after some dispatches, and records warnings.
struct LosingControl<'a> {
    lost_at: usize,
    device: Option<&'a dpscope_simulation::backend::GpuBackend>,
    seen: Mutex<(usize, Vec<String>)>,
}

impl Control for LosingControl<'_> {
    fn keep_going(&self) -> bool {
        true
    }

    fn now_ms(&self) -> f64 {
        0.0
    }

    fn after_draws(&self, _: u64, _: u64) {
        let mut seen = self.seen.lock().expect("nothing panicked");
        seen.0 += 1;
        if let Some(device) = self.device.filter(|_| seen.0 == self.lost_at) {
            device.lose_device();
        }
    }

    fn warn(&self, message: &str) {
        self.seen.lock().expect("nothing panicked").1.push(message.to_owned());
    }
}

fn a_lost_device_costs_no_pair_draw() -> Result<(), Failed> {
    let cpu = Backend::Cpu(CpuBackend::new(0)?);
    let expected = pair::evaluate(&PAIR, &RUN, DELTA, 3, &cpu, &Unattended)?;
    for lost_at in [1, 2] {
        let backend = backend()?;
        let Backend::Gpu(device) = &backend else { return Err("not a GPU".into()) };
        let control = LosingControl { lost_at, device: Some(device), seen: Mutex::default() };
        let seen = pair::evaluate(&PAIR, &RUN, DELTA, 3, &backend, &control)?;
        let (_, warnings) = control.seen.into_inner()?;
        if seen != expected
            || warnings.len() != 1
            || !warnings[0].ends_with("continuing on the CPU")
        {
            return Err(format!("lost at {lost_at}: {seen:?}, {warnings:?}").into());
        }
    }
    Ok(())
}

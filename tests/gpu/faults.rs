//! A device that is lost and a run that is stopped cost no count.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use dpscope_engine::{Control, EngineError, FloatMode, RunControl, run};
use dpscope_simulation::backend::GpuBackend;
use dpscope_simulation::{Artefact, Backend, Plan, Simulation};
use dpscope_tests::simulate::{planned, shuffled};
use libtest_mimic::{Failed, Trial};

use crate::audits::{OWN, RunLog, Watch, gpu, same_as_cpu, start, watched};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("a_lost_device_costs_no_count", a_lost_device_costs_no_count),
        Trial::test("a_repeatedly_lost_device_is_abandoned", a_repeatedly_lost_device_is_abandoned),
        Trial::test("the_cpu_continues_without_a_device", the_cpu_continues_without_a_device),
        Trial::test("the_cpu_uses_its_own_wave_size", the_cpu_uses_its_own_wave_size),
        Trial::test(
            "losing_a_device_at_any_moment_costs_no_count",
            losing_a_device_at_any_moment_costs_no_count,
        ),
        Trial::test("a_fallback_of_a_fast_run_is_reported", a_fallback_of_a_fast_run_is_reported),
        Trial::test("a_stopped_run_can_be_resumed", a_stopped_run_can_be_resumed),
    ]
}

fn plan() -> Plan {
    planned(shuffled(1.0, 100, 1), 400_000, 7)
}

/// A run whose device is lost after some waves.
fn losing(
    mode: FloatMode,
    may_reopen: bool,
    is_lost: &(dyn Fn(usize) -> bool + Sync),
) -> Result<(Artefact, RunLog), Failed> {
    let backend = gpu(mode, OWN)?;
    let Backend::Gpu(device) = &backend else { return Err("not a GPU".into()) };
    if !may_reopen {
        device.forbid_reopening();
    }
    let lose = |wave: usize| {
        if is_lost(wave) {
            device.lose_device();
        }
        true
    };
    let watch = Watch::new(&lose);
    let state = watched(&plan(), &backend, &watch)?;
    Ok((state, watch.log()))
}

fn expect(holds: bool, what: &str, state: &Artefact, log: &RunLog) -> Result<(), Failed> {
    let Artefact { fallback_shards, devices, float_modes, .. } = state;
    let (waves, warnings) = (log.waves, &log.warnings);
    match holds {
        true => Ok(()),
        false => Err(format!(
            "not {what}: {fallback_shards} of {waves} waves, {devices:?}, {float_modes:?}, {warnings:?}"
        )
        .into()),
    }
}

fn a_lost_device_costs_no_count() -> Result<(), Failed> {
    let (state, log) = losing(FloatMode::Exact, true, &|wave| wave == 2)?;
    same_as_cpu(&plan(), &state)?;
    let on_gpu = state.fallback_shards == 0 && state.devices.len() == 1;
    expect(on_gpu, "all on the GPU", &state, &log)?;
    expect(log.warnings.len() == 1 && log.waves > 4, "one warning", &state, &log)
}

fn a_repeatedly_lost_device_is_abandoned() -> Result<(), Failed> {
    let (state, log) = losing(FloatMode::Exact, true, &|_| true)?;
    same_as_cpu(&plan(), &state)?;
    expect(state.fallback_shards > 0, "on the CPU at last", &state, &log)?;
    expect(log.warnings.len() == 4, "three reopenings and the CPU", &state, &log)
}

fn the_cpu_continues_without_a_device() -> Result<(), Failed> {
    let (state, log) = losing(FloatMode::Exact, false, &|wave| wave == 2)?;
    same_as_cpu(&plan(), &state)?;
    let both = state.devices.len() == 2 && state.devices[1].starts_with("cpu");
    expect(both, "first the GPU, then the CPU", &state, &log)?;
    let counted = log.waves as u64 - 2;
    expect(
        (1..=counted).contains(&state.fallback_shards),
        "each wave of the CPU noted",
        &state,
        &log,
    )?;
    expect(log.warnings.len() == 1, "one warning", &state, &log)
}

fn the_cpu_uses_its_own_wave_size() -> Result<(), Failed> {
    let lost = 6;
    let (state, log) = losing(FloatMode::Exact, false, &|wave| wave == lost)?;
    same_as_cpu(&plan(), &state)?;
    let wave = |wave: usize| log.done[wave] - log.done[wave - 1];
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let most = (dpscope_shaders::LANES * threads.div_ceil(2)) as u64;
    let is_cut = wave(lost - 1) > most && wave(lost) <= most;
    expect(is_cut, "the CPU's own first wave", &state, &log)
}

/// Loses the device at a reading of the clock, of which each dispatch has two.
struct Shaky<'a> {
    device: &'a GpuBackend,
    readings: AtomicUsize,
    lost_at: usize,
    warnings: Mutex<Vec<String>>,
}

impl Control for Shaky<'_> {
    fn keep_going(&self) -> bool {
        true
    }

    fn now_ms(&self) -> f64 {
        let reading = self.readings.fetch_add(1, Ordering::SeqCst);
        if reading == self.lost_at {
            self.device.lose_device();
        }
        // Slow enough for more than one dispatch a wave.
        40.0 * reading as f64
    }

    fn warn(&self, message: &str) {
        self.warnings.lock().expect("nothing panicked").push(message.to_owned());
    }
}

impl RunControl<Plan> for Shaky<'_> {}

fn losing_a_device_at_any_moment_costs_no_count() -> Result<(), Failed> {
    let plan = planned(shuffled(1.0, 100, 1), 30_000, 7);
    for lost_at in [0, 1, 2, 3, 6, 11, 18] {
        let backend = gpu(FloatMode::Exact, OWN)?;
        let Backend::Gpu(device) = &backend else { return Err("not a GPU".into()) };
        let (readings, warnings) = (AtomicUsize::new(0), Mutex::default());
        let control = Shaky { device, readings, lost_at, warnings };
        let (valid, state) = start(&plan, &backend);
        let state = pollster::block_on(run(&Simulation::new(&valid, &backend)?, state, &control))?;
        same_as_cpu(&plan, &state).map_err(|reason| format!("lost at {lost_at}: {reason}"))?;
        if state.fallback_shards > 0 || control.readings.load(Ordering::SeqCst) <= lost_at {
            let warnings = control.warnings.into_inner()?;
            return Err(format!("lost at {lost_at}: not, or not on the GPU: {warnings:?}").into());
        }
    }
    Ok(())
}

fn a_fallback_of_a_fast_run_is_reported() -> Result<(), Failed> {
    let (state, log) = losing(FloatMode::Fast, false, &|wave| wave == 1)?;
    let mixed = state.float_modes == [FloatMode::Fast, FloatMode::Exact];
    expect(mixed && state.is_complete(), "both modes named", &state, &log)
}

fn a_stopped_run_can_be_resumed() -> Result<(), Failed> {
    let backend = gpu(FloatMode::Exact, OWN)?;
    let (valid, mut state) = start(&plan(), &backend);
    for stops in 0.. {
        let watch = Watch::new(&|wave| wave < 5);
        match pollster::block_on(run(&Simulation::new(&valid, &backend)?, state, &watch)) {
            Ok(finished) => {
                same_as_cpu(&plan(), &finished)?;
                return if stops > 0 { Ok(()) } else { Err("it was never stopped".into()) };
            }
            Err(EngineError::Stopped) => {
                let log = watch.log();
                state = log.last.ok_or("stopped before its first wave")?;
                if log.waves != 5 {
                    return Err(format!("{} waves", log.waves).into());
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

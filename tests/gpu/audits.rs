//! Whole runs on the adapter under test, watched.

use std::error::Error;
use std::sync::{LazyLock, Mutex};
use std::time::Instant;

use dpscope_engine::gpu::{Adapter, adapters};
use dpscope_engine::{
    Control, EngineError, FloatMode, Progress, RunControl, Shard, Unattended, begin, run,
};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::backend::{GpuBackend, PieceLimits};
use dpscope_simulation::{Artefact, Backend, Evaluate, Plan, Simulation, ValidPlan};

use crate::device;

/// No limits but the device's own.
pub(crate) const OWN: PieceLimits =
    PieceLimits { workgroups: u32::MAX, binding_bytes: u64::MAX, turns: 50_000, wide: 1 << 10 };

pub(crate) fn adapter() -> Option<&'static Adapter> {
    static ADAPTER: LazyLock<Option<Adapter>> = LazyLock::new(|| {
        let name = &device::gpu().ok()?.name;
        pollster::block_on(adapters()).into_iter().find(|adapter| adapter.facts().name == *name)
    });
    ADAPTER.as_ref()
}

/// A backend on the adapter under test.
pub(crate) fn gpu(mode: FloatMode, limits: PieceLimits) -> Result<Backend, String> {
    let adapter = adapter().ok_or("no adapter")?;
    let cpu = CpuBackend::new(0).map_err(|error| error.to_string())?;
    let opened = pollster::block_on(GpuBackend::open_within(adapter, mode, cpu, limits));
    opened.map(|gpu| Backend::Gpu(Box::new(gpu))).map_err(|error| error.to_string())
}

/// Records progress and warnings; calls `after_wave`, which may stop the run.
pub(crate) struct Watch<'a> {
    started: Instant,
    after_wave: &'a (dyn Fn(usize) -> bool + Sync),
    log: Mutex<RunLog>,
}

/// Progress and warnings of a run.
#[derive(Default)]
pub(crate) struct RunLog {
    pub(crate) waves: usize,
    /// Observations of each world that were counted after each wave.
    pub(crate) done: Vec<u64>,
    pub(crate) warnings: Vec<String>,
    pub(crate) last: Option<Artefact>,
    is_stopped: bool,
}

impl<'a> Watch<'a> {
    /// After wave 1, 2, … `after_wave` returns whether to continue.
    pub(crate) fn new(after_wave: &'a (dyn Fn(usize) -> bool + Sync)) -> Self {
        Watch { started: Instant::now(), after_wave, log: Mutex::default() }
    }

    pub(crate) fn log(self) -> RunLog {
        self.log.into_inner().expect("nothing panicked")
    }
}

impl Control for Watch<'_> {
    fn keep_going(&self) -> bool {
        !self.log.lock().expect("nothing panicked").is_stopped
    }

    fn now_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }

    fn warn(&self, message: &str) {
        self.log.lock().expect("nothing panicked").warnings.push(message.to_owned());
    }
}

impl RunControl<Plan> for Watch<'_> {
    fn after_wave(
        &self,
        state: &Artefact,
        _: Progress,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut log = self.log.lock().expect("nothing panicked");
        log.waves += 1;
        log.done.push(state.done());
        log.is_stopped = !(self.after_wave)(log.waves);
        let bytes = state.to_bytes();
        log.last = Some(Artefact::from_bytes(&bytes)?);
        Ok(())
    }
}

/// The state before the first observation of a plan.
pub(crate) fn start(plan: &Plan, backend: &Backend) -> (ValidPlan, Artefact) {
    let valid = plan.validated().expect("the plan is valid");
    let simulation = Simulation::new(&valid, backend).expect("the kernel takes the plan");
    let range = Shard::WHOLE.range(plan.observations_per_world()).expect("a plan has a whole");
    let state = begin(&simulation, range, &Unattended).expect("the pilot has a layout");
    (valid, state)
}

/// The plan counted under watch.
pub(crate) fn watched(
    plan: &Plan,
    backend: &Backend,
    watch: &Watch<'_>,
) -> Result<Artefact, EngineError> {
    let (valid, state) = start(plan, backend);
    pollster::block_on(run(&Simulation::new(&valid, backend)?, state, watch))
}

/// Whether a finished state has the counts of the CPU, and not those of another seed.
pub(crate) fn same_as_cpu(plan: &Plan, state: &Artefact) -> Result<(), String> {
    let of_seed =
        |seed| dpscope_tests::simulate::counted(&Plan { seed, ..*plan }).histogram_digest();
    let digest = state.histogram_digest();
    if digest == of_seed(plan.seed + 1) {
        return Err("two seeds have the same counts".to_owned());
    }
    if state.is_complete() && digest == of_seed(plan.seed) {
        return Ok(());
    }
    Err(format!("{} of the observations, or other counts than the CPU's", state.done()))
}

//! Trainings on a device: what they submit, what they warn of, and kernels with a mistake.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use dpscope_engine::{
    Artefact, Control, Plan, RunControl, Unattended, UnitRange, Workload, begin, run,
};
use dpscope_shaders::train::Kernel;
use libtest_mimic::Failed;

/// Counts the calls of `keep_going` and records warnings.
pub(crate) struct Watch<'a> {
    started: Instant,
    calls: AtomicUsize,
    keep_going: &'a (dyn Fn(usize) -> bool + Sync),
    warnings: Mutex<Vec<String>>,
}

impl<'a> Watch<'a> {
    /// Before submission 0, 1, … `keep_going` returns whether to continue.
    pub(crate) fn new(keep_going: &'a (dyn Fn(usize) -> bool + Sync)) -> Self {
        let (calls, warnings) = (AtomicUsize::new(0), Mutex::default());
        Watch { started: Instant::now(), calls, keep_going, warnings }
    }

    /// How often `keep_going` was called.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.lock().expect("nothing panicked").clone()
    }
}

impl Control for Watch<'_> {
    fn keep_going(&self) -> bool {
        (self.keep_going)(self.calls.fetch_add(1, Ordering::SeqCst))
    }

    fn now_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }

    fn warn(&self, message: &str) {
        self.warnings.lock().expect("nothing panicked").push(message.to_owned());
    }
}

impl<P: Plan> RunControl<P> for Watch<'_> {}

/// The first `models` models, with the warnings; `each` is called before every submission.
pub(crate) fn trained<W: Workload>(
    workload: &W,
    models: u64,
    each: &(dyn Fn(usize) + Sync),
) -> Result<(Artefact<W::Plan>, Vec<String>), Failed> {
    let keep_going = |call| {
        each(call);
        true
    };
    let watch = Watch::new(&keep_going);
    let start = begin(workload, UnitRange { first: 0, end: models }, &Unattended)?;
    let state = pollster::block_on(run(workload, start, &watch))?;
    ensure(state.is_complete(), "models are missing")?;
    Ok((state, watch.warnings()))
}

/// The source of a kernel, changed if it has this name.
pub(crate) fn edited(kernel: &Kernel, name: &str, from: &str, to: &str) -> String {
    let source = kernel.source();
    if kernel.name() == name { source.replace(from, to) } else { source }
}

pub(crate) fn ensure(holds: bool, otherwise: impl std::fmt::Display) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(otherwise.to_string().into()) }
}

//! A command in the process of a caller: its files and its text are in memory.
//!
//! The command runs on one thread and on those of its [`pool`], which share this state.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::disk::HAS_DISK;
use crate::estimate::Consent;
use crate::failure::{Exit, Failure};
use crate::generator_function::GeneratorFunction;
use crate::inputs::Inputs;

/// Watches a command from another thread, and stops it.
#[derive(Debug, Default)]
pub struct Supervisor {
    is_stopped: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

/// How far a command is, in results such as observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Steps {
    /// Results so far.
    pub done: u64,
    /// Results in all; 0 before any work.
    pub total: u64,
}

impl Supervisor {
    /// Asks the command to stop as soon as it can.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// How far the command is.
    #[must_use]
    pub fn steps(&self) -> Steps {
        Steps { done: self.done.load(Ordering::Relaxed), total: self.total.load(Ordering::Relaxed) }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn report(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }
}

/// A report as its readers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// What the program prints without `--json`.
    pub text: String,
    /// The drawing of `--plot`, a self-contained SVG; none where the report has none.
    pub picture: Option<String>,
    /// The page of `--report`, self-contained HTML.
    pub page: String,
}

/// Files and text of a command.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The command line, without the name of the program.
    pub(crate) arguments: Vec<OsString>,
    /// Files that are read.
    pub(crate) files: BTreeMap<PathBuf, Vec<u8>>,
    /// Files that are written, by their paths; empty before.
    pub(crate) outputs: BTreeMap<PathBuf, Vec<u8>>,
    /// Files on the disk that were read.
    pub(crate) inputs: Inputs,
    /// What is printed on stdout.
    pub(crate) text: String,
    /// What is printed on stderr.
    pub(crate) notes: Vec<String>,
    /// What executes the runs of a generator.
    pub(crate) generator: Option<GeneratorFunction>,
    pub(crate) supervisor: Arc<Supervisor>,
    pub(crate) consent: Arc<Consent>,
    /// Whether reports are rendered, whatever options say about files.
    pub(crate) renders: bool,
    /// The last report that was rendered.
    pub(crate) rendered: Option<Box<Rendered>>,
}

thread_local! {
    static MEMORY: RefCell<Option<Arc<Mutex<Memory>>>> = const { RefCell::new(None) };
}

/// Who computes the workload of a command.
enum Handover {
    /// The command.
    NotWanted,
    /// The caller, who gets it.
    Wanted,
    Done(Box<dyn Any>),
}

thread_local! {
    static HANDOVER: RefCell<Handover> = const { RefCell::new(Handover::NotWanted) };
}

/// Runs `command` on this thread, and returns the workload that it prepares and hands over; a command without
/// one is executed whole.
pub(crate) fn with_handover<T>(command: impl FnOnce() -> T) -> (T, Option<Box<dyn Any>>) {
    /// Ends the handover, also after a panic.
    struct Ending;
    impl Drop for Ending {
        fn drop(&mut self) {
            HANDOVER.set(Handover::NotWanted);
        }
    }
    HANDOVER.set(Handover::Wanted);
    let _ending = Ending;
    let result = command();
    match HANDOVER.replace(Handover::NotWanted) {
        Handover::Done(workload) => (result, Some(workload)),
        Handover::NotWanted | Handover::Wanted => (result, None),
    }
}

/// Hands a workload to a caller who computes it in parts. It is returned where the command computes it, which
/// no command of a page does.
#[inline(always)] // a page then has no code for what comes after
pub(crate) fn hand_over<W: 'static>(workload: W) -> Option<W> {
    let is_wanted = HANDOVER.with_borrow(|handover| matches!(handover, Handover::Wanted));
    if HAS_DISK && !is_wanted {
        return Some(workload);
    }
    if is_wanted {
        HANDOVER.set(Handover::Done(Box::new(workload)));
    }
    None
}

/// Set by the first call; the process belongs to the caller from then on.
static IS_GUEST: OnceLock<()> = OnceLock::new();

/// Whether another program runs commands in its process.
pub(crate) fn is_guest() -> bool {
    IS_GUEST.get().is_some()
}

/// Runs `command` on this thread with files and text in memory.
pub(crate) fn with_memory<T>(memory: Memory, command: impl FnOnce() -> T) -> (T, Memory) {
    IS_GUEST.get_or_init(|| ());
    MEMORY.set(Some(Arc::new(Mutex::new(memory))));
    let result = command();
    let memory = use_memory(std::mem::take).unwrap_or_default();
    MEMORY.set(None);
    (result, memory)
}

fn use_memory<T>(apply: impl FnOnce(&mut Memory) -> T) -> Option<T> {
    MEMORY.with_borrow(|memory| {
        let memory = memory.as_ref()?;
        Some(apply(&mut memory.lock().unwrap_or_else(PoisonError::into_inner)))
    })
}

/// Threads on which the command can print, write files and be stopped as on its own; 0 for one per core.
pub(crate) fn pool(threads: usize) -> Result<rayon::ThreadPool, Failure> {
    let memory = MEMORY.with_borrow(Clone::clone);
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let pool = builder.start_handler(move |_| MEMORY.set(memory.clone())).build();
    pool.map_err(|error| {
        Failure::with(Exit::Internal, format!("no threads from the system ({error})"))
    })
}

/// Whether the user of this command accepts long runs.
pub(crate) fn consent() -> Arc<Consent> {
    static OF_PROGRAM: OnceLock<Arc<Consent>> = OnceLock::new();
    use_memory(|memory| Arc::clone(&memory.consent))
        .unwrap_or_else(|| Arc::clone(OF_PROGRAM.get_or_init(Arc::default)))
}

/// The watcher of the command on this thread.
pub(crate) fn supervisor() -> Option<Arc<Supervisor>> {
    use_memory(|memory| Arc::clone(&memory.supervisor))
}

/// The command line of the command on this thread.
pub(crate) fn arguments() -> Option<Vec<OsString>> {
    use_memory(|memory| memory.arguments.clone())
}

/// The function that releases rows in place of a command.
pub(crate) fn generator() -> Option<GeneratorFunction> {
    use_memory(|memory| memory.generator.clone()).flatten()
}

/// Applies a function to the inputs of the command on this thread.
pub(crate) fn with_inputs<T>(apply: impl FnOnce(&mut Inputs) -> T) -> T {
    /// Inputs of the program, which runs one command.
    static INPUTS: Mutex<Inputs> = Mutex::new(Inputs::new());
    MEMORY.with_borrow(|memory| match memory {
        Some(memory) => apply(&mut memory.lock().unwrap_or_else(PoisonError::into_inner).inputs),
        None => apply(&mut INPUTS.lock().unwrap_or_else(PoisonError::into_inner)),
    })
}

/// The content of a file in memory.
pub(crate) fn file(path: &Path) -> Option<Vec<u8>> {
    use_memory(|memory| memory.files.get(path).cloned()).flatten()
}

/// Whether there is such a file, in memory or on the disk.
pub(crate) fn exists(path: &Path) -> bool {
    let is_kept = use_memory(|memory| memory.files.contains_key(path)).unwrap_or(false);
    is_kept || (HAS_DISK && path.exists())
}

/// Whether the caller takes reports in every form.
pub(crate) fn renders() -> bool {
    use_memory(|memory| memory.renders).unwrap_or(false)
}

/// Hands a report to the caller.
pub(crate) fn render(rendered: Rendered) {
    use_memory(|memory| memory.rendered = Some(Box::new(rendered)));
}

/// Whether the file is written to memory.
pub(crate) fn keeps(path: &Path) -> bool {
    use_memory(|memory| memory.outputs.contains_key(path)).unwrap_or(false)
}

/// Writes a file to memory if it belongs there.
pub(crate) fn keep(path: &Path, bytes: &[u8]) -> bool {
    let kept = use_memory(|memory| match memory.outputs.get_mut(path) {
        Some(output) => {
            bytes.clone_into(output);
            true
        }
        None => false,
    });
    kept.unwrap_or(false)
}

/// Takes what would be printed on stdout.
pub(crate) fn print(text: &str) -> bool {
    use_memory(|memory| memory.text.push_str(text)).is_some()
}

/// Takes what would be printed on stderr.
pub(crate) fn note(text: &str) -> bool {
    use_memory(|memory| memory.notes.push(text.trim().to_owned())).is_some()
}

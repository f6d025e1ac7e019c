//! The outputs of every run: saved while runs are trained, written as npz at the end.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dpscope_core::adjacency::World;
use dpscope_core::foreign_text::ForeignText;
use dpscope_engine::UnitRange;
use dpscope_formats::{Dataset, NpzWriter};
use dpscope_simulation::{Artefact, Plan};
use dpscope_train::{OutputSink, Training};

use crate::failure::Failure;
use crate::files::{cannot_write, check_replaces, limits, part_of, read_own, write_whole};
use crate::job::Job;

/// The first bytes of every npz.
const ZIP: &str = "PK\u{3}\u{4}";

/// A name that makes readers expect npz, whatever the file is called.
const ZIP_NAME: &str = "outputs.npz";

/// The array that names the plan whose outputs are in the npz.
const PLAN: &str = "plan_sha256";

/// Largest file of outputs, in bytes as f64.
const MOST_BYTES: u64 = 4 << 30;

/// Outputs read from the part file at a time.
const VALUES_AT_ONCE: usize = 1 << 16;

/// Bytes before the first output.
const HEADER: u64 = 128;

/// Outputs are stored in a part file beside the npz, at places that do not depend on when they were
/// computed, so that a resumed run finds earlier ones. Each is stored as the complement of its bits,
/// so that an unwritten place (zero) is no output.
#[derive(Debug, Clone)]
pub(super) struct OutputsFile {
    plan: Plan,
    path: PathBuf,
    part: PathBuf,
    file: Arc<Mutex<File>>,
    /// Whether this run created the part file.
    is_new: bool,
    runs: u64,
    epochs: usize,
    steps: usize,
}

impl OutputsFile {
    /// Opens the part file of an earlier run of the same plan, or creates one; none if the complete npz
    /// exists already.
    pub(super) fn open(
        path: &Path,
        job: &Job<'_, Plan>,
        training: &Training,
    ) -> Result<Option<Self>, Failure> {
        let plan = &job.plan;
        let runs = plan.observations_per_world();
        if job.range.len() < runs {
            let why = "--outputs-to needs the runs of all shards together; leave it out";
            return Err(Failure::input(why));
        }
        let is_whole = contains_outputs_of(path, plan)?;
        let mechanism = training.mechanism();
        let (epochs, steps) = (mechanism.epochs as usize, mechanism.steps_per_epoch as usize);
        let bytes = runs.saturating_mul(16).saturating_mul((epochs * steps) as u64);
        if bytes > MOST_BYTES {
            return Err(Failure::input(format!(
                "the file of --outputs-to would have {bytes} bytes, more than the limit of {MOST_BYTES}; \
                 reduce --runs, or leave it out"
            )));
        }
        let part = part_of(path);
        let is_new = !part.exists();
        let is_finished = job.resumed.as_ref().is_some_and(Artefact::is_finished);
        if is_whole && is_finished && !part.exists() {
            return Ok(None);
        }
        let header =
            format!("{:<1$}", format!("dpscope.outputs/1 {}\n", plan.hash()), HEADER as usize);
        let file = match &job.resumed {
            Some(state) if state.done() > 0 => reopened(&part, &header),
            _ => create(&part, &header),
        };
        let file = Arc::new(Mutex::new(file?));
        let (plan, path) = (*plan, path.to_path_buf());
        let outputs = OutputsFile { plan, path, part, file, is_new, runs, epochs, steps };
        let counted = job.resumed.iter().flat_map(|state| &state.counted);
        for &range in counted {
            for world in World::BOTH {
                outputs.outputs(world, range)?;
            }
        }
        Ok(Some(outputs))
    }

    fn place(&self, world: World, run: u64) -> u64 {
        let row = 4 * (self.epochs * self.steps) as u64;
        HEADER + (world.index() as u64 * self.runs + run) * row
    }

    /// The stored outputs of some runs of a world.
    fn outputs(&self, world: World, range: UnitRange) -> Result<Vec<f64>, Failure> {
        let mut bytes = vec![0; 4 * range.len() as usize * self.epochs * self.steps];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file
            .seek(SeekFrom::Start(self.place(world, range.first)))
            .and_then(|_| file.read_exact(&mut bytes));
        let output = |bytes: &[u8]| {
            let bits = <[u8; 4]>::try_from(bytes).map_or(0, u32::from_le_bytes);
            (bits != 0).then(|| f64::from(f32::from_bits(!bits)))
        };
        let outputs: Option<Vec<f64>> = bytes.chunks_exact(4).map(output).collect();
        outputs.filter(|_| read.is_ok()).ok_or_else(|| missing_outputs(&self.part))
    }

    /// Writes the whole npz and removes the part file.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        write_whole(&self.path, |file| self.write_npz(file))
            .map_err(|error| cannot_write(&self.path, &error))?;
        self.remove_part();
        Ok(())
    }

    fn write_npz(&self, file: impl Write + Seek) -> std::io::Result<()> {
        let mut npz = NpzWriter::new(file);
        let entries = self.epochs * self.steps;
        let at_once = (VALUES_AT_ONCE / entries).max(1) as u64;
        for (name, world) in [("target", World::Target), ("zero_out", World::ZeroOut)] {
            npz.begin(name, &[self.runs as usize, self.epochs, self.steps])?;
            for first in (0..self.runs).step_by(at_once as usize) {
                let range = UnitRange { first, end: (first + at_once).min(self.runs) };
                let outputs = self.outputs(world, range);
                npz.values(&outputs.map_err(|failure| std::io::Error::other(failure.error))?)?;
            }
        }
        let mechanism = &self.plan.mechanism;
        for (name, value) in [
            ("noise_multiplier", mechanism.noise_multiplier),
            ("clip_norm", 1.0), // outputs are in clip norms already
            ("batch_size", mechanism.batch_size.map_or(f64::NAN, f64::from)),
        ] {
            npz.begin(name, &[])?;
            npz.values(&[value])?;
        }
        let words = plan_words(&self.plan);
        npz.begin(PLAN, &[words.len()])?;
        npz.values(&words)?;
        npz.finish().map(drop)
    }

    /// Removes the part file, unless it may contain the outputs of an earlier run.
    pub(super) fn discard(&self) {
        if self.is_new {
            self.remove_part();
        }
    }

    fn remove_part(&self) {
        let _ = std::fs::remove_file(&self.part); // best effort: it may not exist
    }
}

impl OutputSink for OutputsFile {
    fn save(
        &self,
        world: World,
        range: UnitRange,
        outputs: &[f32],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        // all NaNs as one, whose complement is not 0
        let bits =
            |output: &f32| if output.is_nan() { f32::NAN.to_bits() } else { output.to_bits() };
        let bytes: Vec<u8> =
            outputs.iter().flat_map(|output| (!bits(output)).to_le_bytes()).collect();
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file
            .seek(SeekFrom::Start(self.place(world, range.first)))
            .and_then(|_| file.write_all(&bytes))
            .and_then(|()| file.sync_data());
        written.map_err(|error| {
            format!("{} cannot be written: {error}", ForeignText::new(&self.part)).into()
        })
    }
}

/// The plan's SHA-256 in words of 32 bits.
fn plan_words(plan: &Plan) -> Vec<f64> {
    let hash = plan.hash();
    let word = |place: usize| u32::from_str_radix(hash.get(8 * place..8 * place + 8)?, 16).ok();
    (0..8).filter_map(word).map(f64::from).collect()
}

/// Whether the npz of this plan exists; any other existing file is an error.
fn contains_outputs_of(path: &Path, plan: &Plan) -> Result<bool, Failure> {
    check_replaces(path, ZIP)?;
    if !path.exists() {
        return Ok(false);
    }
    let limits = limits();
    let bytes = read_own(path, &limits)?;
    if bytes.is_empty() {
        return Ok(false);
    }
    let found = Dataset::open(&bytes, ZIP_NAME, &limits).and_then(|npz| npz.array(PLAN));
    match found {
        Ok(found) if found.data() == plan_words(plan) => Ok(true),
        _ => Err(Failure::input(
            "contains the outputs of another run, which are not overwritten; choose another file",
        )
        .about(path)),
    }
}

/// The part file of a new run: new, or of an earlier run of the same plan, with the same outputs.
fn create(part: &Path, header: &str) -> Result<File, Failure> {
    if part.exists() {
        check_replaces(part, header)?;
    }
    let mut options = OpenOptions::new();
    let opened = options.read(true).write(true).create(true).truncate(false).open(part);
    let written = opened.and_then(|mut file| file.write_all(header.as_bytes()).map(|()| file));
    written.map_err(|error| Failure::input(format!("cannot be written: {error}")).about(part))
}

/// The part file of a resumed run.
fn reopened(part: &Path, header: &str) -> Result<File, Failure> {
    let mut found = vec![0; header.len()];
    let opened = OpenOptions::new().read(true).write(true).open(part);
    let read = opened.and_then(|mut file| file.read_exact(&mut found).map(|()| file));
    read.ok().filter(|_| found == header.as_bytes()).ok_or_else(|| missing_outputs(part))
}

fn missing_outputs(part: &Path) -> Failure {
    Failure::input(
        "does not contain the outputs of all runs in the checkpoint; resume without --outputs-to, or \
         start again with another --checkpoint",
    )
    .about(part)
}

//! The outputs of every run, kept while runs are trained and written as npz at the end.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::BatchedGaussian;
use dpscope_engine::ObservationRange;
use dpscope_formats::{Array, write_npz};
use dpscope_train::{OutputSink, Training};

use crate::commands::simulate::Job;
use crate::failure::Failure;
use crate::files::{check_replaces, write_bytes};

/// What every npz begins with.
const ZIP: &str = "PK\u{3}\u{4}";

/// Largest file of outputs, in bytes as f64.
const MOST_BYTES: u64 = 4 << 30;

/// Bytes before the first output.
const HEADER: u64 = 128;

/// Outputs lie in a file beside the npz, in an order that does not depend on when they were made: a run
/// that is gone on with finds those of before.
#[derive(Debug, Clone)]
pub(super) struct OutputsFile {
    path: PathBuf,
    part: PathBuf,
    file: Arc<Mutex<File>>,
    runs: u64,
    epochs: usize,
    steps: usize,
}

impl OutputsFile {
    /// Opens the file of an earlier run of the same plan, or begins one.
    pub(super) fn open(path: &Path, job: &Job<'_>, training: &Training) -> Result<Self, Failure> {
        check_replaces(path, ZIP)?;
        let plan = job.plan.plan();
        let runs = plan.observations_per_world();
        let mechanism = training.mechanism();
        let (epochs, steps) = (mechanism.epochs as usize, mechanism.steps_per_epoch as usize);
        let bytes = runs.saturating_mul(16).saturating_mul((epochs * steps) as u64);
        if bytes > MOST_BYTES {
            return Err(Failure::input(format!(
                "--outputs-to would hold {bytes} bytes, and the most is {MOST_BYTES}; train fewer runs, \
                 or leave it out"
            )));
        }
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".part");
        let part = path.with_file_name(name);
        let header =
            format!("{:<1$}", format!("dpscope.outputs/1 {}\n", plan.hash()), HEADER as usize);
        let cannot = |error: std::io::Error| {
            Failure::input(format!("cannot be written: {error}")).about(&part)
        };
        let is_resumed = job.resumed.as_ref().is_some_and(|state| state.done() > 0);
        let file = if is_resumed {
            let opened = OpenOptions::new().read(true).write(true).open(&part);
            let mut found = vec![0; HEADER as usize];
            let is_same = opened.and_then(|mut file| {
                file.read_exact(&mut found)?;
                Ok((file, found == header.as_bytes()))
            });
            match is_same {
                Ok((file, true)) => file,
                _ => {
                    return Err(Failure::input(
                        "does not hold the outputs of the runs that the checkpoint counted; go on \
                         without --outputs-to, or begin anew with another --checkpoint",
                    )
                    .about(&part));
                }
            }
        } else {
            let mut options = OpenOptions::new();
            let opened = options.read(true).write(true).create(true).truncate(true).open(&part);
            let mut file = opened.map_err(cannot)?;
            file.write_all(header.as_bytes()).map_err(cannot)?;
            file
        };
        let file = Arc::new(Mutex::new(file));
        Ok(OutputsFile { path: path.to_path_buf(), part, file, runs, epochs, steps })
    }

    fn place(&self, world: World, run: u64) -> u64 {
        let row = 4 * (self.epochs * self.steps) as u64;
        HEADER + (world.index() as u64 * self.runs + run) * row
    }

    /// Writes the npz, whole, and removes the file beside it.
    pub(super) fn finish(self, mechanism: &BatchedGaussian) -> Result<(), Failure> {
        let cannot = |error: std::io::Error| {
            Failure::input(format!("cannot be read: {error}")).about(&self.part)
        };
        let world = |world: World| -> Result<Array, Failure> {
            let count = self.runs as usize * self.epochs * self.steps;
            let mut bytes = vec![0; 4 * count];
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(self.place(world, 0))).map_err(cannot)?;
            file.read_exact(&mut bytes).map_err(cannot)?;
            let value =
                |bytes: &[u8]| <[u8; 4]>::try_from(bytes).map_or(f32::NAN, f32::from_le_bytes);
            let values = bytes.chunks_exact(4).map(|bytes| f64::from(value(bytes))).collect();
            let shape = vec![self.runs as usize, self.epochs, self.steps];
            Ok(Array::new(shape, values)?)
        };
        let number = |value: f64| Array::new(vec![], vec![value]);
        let batch_size = mechanism.batch_size.map_or(f64::NAN, f64::from);
        let (target, zero_out) = (world(World::Target)?, world(World::ZeroOut)?);
        // outputs are in clip norms already
        let numbers = [number(mechanism.noise_multiplier)?, number(1.0)?, number(batch_size)?];
        let bytes = write_npz(&[
            ("target", &target),
            ("zero_out", &zero_out),
            ("noise_multiplier", &numbers[0]),
            ("clip_norm", &numbers[1]),
            ("batch_size", &numbers[2]),
        ])?;
        write_bytes(&self.path, &bytes)?;
        let _ = std::fs::remove_file(&self.part); // what it held is in the npz
        Ok(())
    }
}

impl OutputSink for OutputsFile {
    fn keep(
        &self,
        world: World,
        range: ObservationRange,
        outputs: &[f32],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let bytes: Vec<u8> = outputs.iter().flat_map(|output| output.to_le_bytes()).collect();
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.place(world, range.first)))?;
        file.write_all(&bytes)?;
        file.sync_data()?;
        Ok(())
    }
}

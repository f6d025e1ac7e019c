//! `dpscope canaries direction`: the update that a canary client sends.

use std::path::{Path, PathBuf};

use clap::Args;
use dpscope_formats::{Array, read_npy, read_npz, write_npy, write_npz};
use dpscope_report::record::DirectionReport;
use dpscope_simulation::CanaryDirections;

use crate::args::count;
use crate::commands::audit::federated::ModelFile;
use crate::failure::{CommandResult, Exit, Failure};
use crate::federated_plan::{self, CONTROL};
use crate::files::{cannot_write, check_writable, limits, read_own, write_atomically};
use crate::host;
use crate::output::{print_json, print_text};

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dpscope canaries direction --plan federated-plan --index 0 --out c0.npy"
)]
pub(crate) struct DirectionArgs {
    /// Folder of a plan that `dpscope plan federated` committed.
    #[arg(long, value_name = "DIR")]
    pub(crate) plan: PathBuf,
    /// Index of the canary, starting at 0.
    #[arg(long, value_name = "I", value_parser = count, required_unless_present = "control")]
    pub(crate) index: Option<u64>,
    /// The direction of the control client, which is no canary, in place of --index.
    #[arg(long, conflicts_with = "index")]
    pub(crate) control: bool,
    /// Model whose arrays the direction is split into, by sorted name; --out is then an npz file.
    #[arg(long, value_name = "FILE")]
    pub(crate) like: Option<PathBuf>,
    /// Output file: the direction as a unit vector; multiply it by the clipping norm.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &DirectionArgs) -> CommandResult {
    let ending = if args.like.is_some() { "npz" } else { "npy" };
    if args.out.extension().is_none_or(|found| found != ending) {
        return Err(Failure::input(format!("must end in .{ending}")).about(&args.out));
    }
    let committed = federated_plan::open(&args.plan)?;
    check_direction(&args.out, committed.plan.dimension)?;
    let inserted = committed.inserted();
    if let Some(index) = args.index.filter(|&index| index >= inserted) {
        return Err(Failure::input(format!(
            "--index is {index}; the plan has {inserted} canaries, numbered from 0"
        )));
    }
    let dimension = committed.plan.dimension;
    let model = match &args.like {
        Some(path) => {
            let model = ModelFile::read(std::slice::from_ref(path))?;
            model.check_dimension(dimension)?;
            Some(model)
        }
        None => None,
    };
    if Vec::<f64>::new().try_reserve_exact(dimension as usize).is_err() {
        return Err(Failure::input(format!(
            "the plan has dimension {dimension}, and a direction does not fit in memory; commit a plan \
             with the number of trained parameters"
        )));
    }
    let direction = CanaryDirections::new(committed.direction_seed(), dimension as usize);
    let direction = { direction }.direction(args.index.unwrap_or(CONTROL));
    let bytes = match model {
        None => write_npy(&Array::new(vec![direction.len()], direction).map_err(Failure::input)?),
        Some(model) => {
            let arrays = model.split(&direction)?;
            let named: Vec<(&str, &Array)> =
                arrays.iter().map(|(name, array)| (name.as_str(), array)).collect();
            write_npz(&named).map_err(Failure::input)?
        }
    };
    write_atomically(&args.out, &bytes).map_err(|error| cannot_write(&args.out, &error))?;
    let report = DirectionReport {
        schema: "dpscope.direction/1",
        file: args.out.display().to_string(),
        canary: args.index,
        dimension,
    };
    if args.json {
        print_json(&report)?;
    } else {
        print_text(&format!(
            "{}: direction of {}, norm 1\n",
            report.file,
            match report.canary {
                Some(canary) => format!("canary {canary} of {inserted}"),
                None => "the control client".to_owned(),
            }
        ))?;
    }
    Ok(Exit::Done)
}

/// Rejects an existing output that is not a direction of this dimension.
fn check_direction(path: &Path, dimension: u64) -> Result<(), Failure> {
    check_writable(path)?;
    if host::keeps(path) || !path.exists() {
        return Ok(());
    }
    let bytes = read_own(path, &limits())?;
    let arrays = match read_npy(&bytes, &limits()) {
        Ok(array) => vec![array],
        Err(_) => {
            let named = read_npz(&bytes, &limits()).unwrap_or_default();
            named.into_iter().map(|(_, array)| array).collect()
        }
    };
    let values = || arrays.iter().flat_map(Array::data);
    let square_norm = values().map(|value| value * value).sum::<f64>();
    let is_direction = values().count() as u64 == dimension && (square_norm - 1.0).abs() < 1e-6;
    match is_direction {
        true => Ok(()),
        false => Err(Failure::input(
            "has other content than a direction, which is not overwritten; choose another file",
        )
        .about(path)),
    }
}

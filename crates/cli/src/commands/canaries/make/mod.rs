//! `dpscope canaries make`: records of a file, records with another label, or directions.

mod args;
mod directions;
mod records;

pub(crate) use args::MakeArgs;

use dpscope_formats::{Array, write_npz};
use dpscope_report::record::CanariesReport;

use crate::canary_plan::digest_of_file;
use crate::commands::audit::one_run::read_canaries;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{cannot_write, check_replaces, write_atomically};
use crate::output::{print_json, print_text};
use crate::seed::seed_or_fresh;
use args::KindArg;

/// How an npz file starts.
const ZIP_MARK: &str = "PK";

pub(crate) fn run(args: &MakeArgs) -> CommandResult {
    if args.out.extension().is_none_or(|ending| ending != "npz") {
        return Err(Failure::input("must end in .npz").about(&args.out));
    }
    check_replaces(&args.out, ZIP_MARK)?;
    let (seed, _) = seed_or_fresh(args.seed)?;
    let arrays = match (args.kind, &args.data, args.dimension) {
        (KindArg::Random, Some(data), None) => records::chosen(data, args.count, false, seed)?,
        (KindArg::Mislabelled, Some(data), None) => records::chosen(data, args.count, true, seed)?,
        (KindArg::Directions, None, Some(dimension)) => {
            directions::drawn(args.count, dimension, seed)?
        }
        (KindArg::Directions, ..) => {
            return Err(Failure::input("directions need --dimension, and no --data"));
        }
        _ => return Err(Failure::input("records need --data, and no --dimension")),
    };
    let named: Vec<(&str, &Array)> = arrays.iter().map(|(name, array)| (*name, array)).collect();
    let bytes = write_npz(&named).map_err(Failure::input)?;
    write_atomically(&args.out, &bytes).map_err(|error| cannot_write(&args.out, &error))?;
    let report = CanariesReport {
        schema: "dpscope.canaries/1",
        file: args.out.display().to_string(),
        canaries: args.count,
        canaries_digest: digest_of_file(&args.out)?,
        copies: read_canaries(&args.out)?.copies(),
        in_base_data: None,
        seed: Some(seed.to_string()),
        plan: None,
    };
    if args.json {
        print_json(&report)?;
        return Ok(Exit::Done);
    }
    let mut text = format!("{} with digest {}, seed {seed}\n", report.file, report.canaries_digest);
    if args.kind != KindArg::Directions {
        text.push_str(
            "The array `indices` has the records that became canaries: leave them out of the training \
             data, and insert those whose coin is 1.\n",
        );
    }
    if report.copies > 0 {
        text.push_str(&format!(
            "note: {} equal an earlier one; remove duplicates from the data for more power\n",
            report.copies
        ));
    }
    print_text(&text)?;
    Ok(Exit::Done)
}

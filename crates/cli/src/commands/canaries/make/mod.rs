//! `dpscope canaries make`: records of a file, records with another label, or directions.

mod args;
mod directions;
mod records;

pub(crate) use args::MakeArgs;

use dpscope_report::record::CanariesReport;

use super::file::{canary_file, check_keeps_canaries, write_canaries};
use crate::canary_plan::digest_of_file;
use crate::commands::audit::one_run::read_canaries;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::check_writable;
use crate::output::{print_json, print_text};
use crate::seed::seed_or_fresh;
use args::KindArg;

pub(crate) fn run(args: &MakeArgs) -> CommandResult {
    if args.out.extension().is_none_or(|ending| ending != "npz") {
        return Err(Failure::input("must end in .npz").about(&args.out));
    }
    check_keeps_canaries(&args.out, None)?;
    check_writable(&args.out)?;
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
    write_canaries(&args.out, &canary_file(&arrays)?)?;
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

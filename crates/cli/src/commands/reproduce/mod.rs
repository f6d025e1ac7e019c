//! `dpscope reproduce`: repeats published audits.

mod args;
mod chart;
mod data;
mod discrepancies;
mod fedavg;
mod mean;
mod metagradient_canaries;
mod names;
mod one_run_validity;
mod one_shot_table_2;
mod page;
mod pategan;
mod published;
mod shuffle;

pub(crate) use args::ReproduceArgs;

use dpscope_report::figure::row_chart_svg;
use dpscope_report::text::reproduction_text;

use crate::args::{check_drawing, write_drawing};
use crate::failure::{CommandResult, Exit};
use crate::output::{print_json, print_note, print_text};
use crate::seed::seed_or_fresh;

pub(crate) fn run(args: &ReproduceArgs) -> CommandResult {
    args.reject_unused()?;
    args.plot.as_deref().map_or(Ok(()), check_drawing)?;
    let (seed, _) = seed_or_fresh(args.seed)?;
    let found = match &*args.what.kind {
        "mechanism" => shuffle::run(args, seed),
        "dpsgd" => shuffle::dpsgd::run(args, seed),
        "published" => published::run(args, seed),
        "one-run-validity" => one_run_validity::run(args, seed),
        "one-shot-table-2" => one_shot_table_2::run(args, seed),
        "pategan" => pategan::run(args, seed),
        "metagradient-canaries" => metagradient_canaries::run(args, seed),
        _ => fedavg::run(args, seed),
    }?;
    let document = found.document(&args.what.name, seed)?;
    if args.show.json {
        print_json(&document)?;
    } else {
        print_text(&reproduction_text(&document))?;
    }
    if let (Some(path), Some(chart)) = (&args.plot, &document.chart) {
        write_drawing(path, &row_chart_svg(chart))?;
    }
    let Some(message) = found.interrupted else { return Ok(Exit::Done) };
    print_note(&message);
    Ok(Exit::Interrupted)
}

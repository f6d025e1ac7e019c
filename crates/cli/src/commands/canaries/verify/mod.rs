//! `dpscope canaries verify`: canaries against a committed plan.

use std::path::PathBuf;

use clap::Args;
use dpscope_report::record::{CanariesReport, PlanCheck};

use crate::canary_plan::{self, check_canaries, check_published, digest_of_file};
use crate::commands::audit::one_run::read_canaries;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_text};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope canaries verify canaries.npz --plan plan")]
pub(crate) struct VerifyArgs {
    /// File of the canaries, npz or npy.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Folder of a committed plan.
    #[arg(long, value_name = "DIR")]
    pub(crate) plan: Option<PathBuf>,
    /// The revealed seed of the plan [default: seed.secret of the plan].
    #[arg(long, value_name = "FILE", requires = "plan")]
    pub(crate) seed: Option<PathBuf>,
    /// Training records other than the canaries; canaries that are also among them are counted.
    #[arg(long, value_name = "FILE")]
    pub(crate) base_data: Option<PathBuf>,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &VerifyArgs) -> CommandResult {
    let canaries = read_canaries(&args.file)?;
    let in_base_data = match &args.base_data {
        Some(base) => {
            let found = canaries.found_in(&read_canaries(base)?);
            Some(found.map_err(|why| Failure::input(why).about(base))?)
        }
        None => None,
    };
    let plan = match &args.plan {
        None => None,
        Some(folder) if args.seed.is_some() || canary_plan::has_seed(folder) => {
            let found = canary_plan::open(folder, args.seed.as_deref())?;
            check_canaries(&found.plan, &args.file)?;
            Some(PlanCheck::Verified)
        }
        Some(folder) => {
            check_published(folder, &args.file)?;
            Some(PlanCheck::SeedHidden)
        }
    };
    let report = CanariesReport {
        schema: "dpscope.canaries/1",
        file: args.file.display().to_string(),
        canaries: canaries.len() as u64,
        canaries_digest: digest_of_file(&args.file)?,
        copies: canaries.copies(),
        in_base_data,
        seed: None,
        plan,
    };
    if args.json {
        print_json(&report)?;
        return Ok(Exit::Done);
    }
    let plan = match plan {
        None => "",
        Some(PlanCheck::Verified) => {
            "Canaries, plan, seed and coins are those of the commitment.\n"
        }
        Some(PlanCheck::SeedHidden) => {
            "The canaries are those of the plan; its coins can be checked once the seed is revealed.\n"
        }
    };
    let base = in_base_data.map_or_else(String::new, |found| {
        let advice =
            if found > 0 { "; remove them from these data before the training" } else { "" };
        format!("{found} canaries are also records of the base data{advice}\n")
    });
    print_text(&format!(
        "{}: {} canaries, {} of them equal to an earlier one\ndigest {}\n{base}{plan}",
        report.file, report.canaries, report.copies, report.canaries_digest
    ))?;
    Ok(Exit::Done)
}

//! `dpscope audit pategan`: PATE-GAN with faults as switches, its checks, and an attack on its rows.

mod args;
mod refusals;
mod report;
mod table;
mod utility;

pub(crate) use args::PateGanArgs;

use std::path::Path;
use web_time::Instant;

use dpscope_engine::Artefact;
use dpscope_synth::audit::Audit;
use dpscope_synth::workload::{PateGanPlan, PateGanRuns};
use dpscope_synth::{Fault, Settings, Stop};

use crate::args::{DeviceArgs, DeviceChoice, ReportArgs, RuleArg};
use crate::commands::merge::MergeArgs;
use crate::commands::resume::ResumeArgs;
use crate::commands::saved_run::SavedAudit;
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::host;
use crate::job::{Job, ResumePoint, RunPlan, report_merged};
use crate::shell::quoted_path;
pub(in crate::commands) use refusals::check_memory;
use refusals::{check_saved, named};
use report::{Subject, check, finish};
pub(in crate::commands) use table::read_data;
use table::{described, read_again, with_target};
use utility::UtilityRequest;
pub(in crate::commands) use utility::{UtilityTest, outcome};

/// The most iterations of `--epsilon`.
const MOST_ITERATIONS: u32 = 10_000;

impl RunPlan for PateGanPlan {
    const PREPARATION: &'static str = "preparing the runs";

    fn seed(&self) -> u64 {
        self.seed
    }

    fn progress(_: &Artefact<Self>, rate: &str) -> String {
        format!("{rate} runs/s")
    }
}

pub(crate) fn run(args: &PateGanArgs) -> CommandResult {
    let run = &args.run;
    let is_other_rule = run.threshold_rule != RuleArg::Simultaneous;
    reject_unused_options(&[("--threshold-rule", is_other_rule)], "on runs of PATE-GAN")?;
    check(&run.report)?;
    check_device(&run.device)?;
    let faults = if args.harness_faults { args.fault.with(Fault::E1) } else { args.fault };
    let start = ResumePoint::<PateGanPlan>::read(run.checkpoint.as_deref(), run.seed)?;
    let settings = settings(args)?;
    let mut plan = PateGanPlan {
        settings,
        faults,
        table: None,
        runs: args.runs,
        significance: run.statement.significance(),
        checks_significance: args.checks_significance,
        seed: start.seed,
    };
    let files = (args.table.data.as_deref(), args.table.columns.as_deref());
    let data = read_data(files.0, files.1, args.table.label.as_deref())?;
    let utility = UtilityRequest::of(args, data.as_ref().map(|(_, table)| table), &plan)?;
    let threads = run.device.threads();
    let pool = host::pool(threads)?;
    if let Some((audited, table)) = &data {
        let target =
            || with_target(args, (audited.clone(), table), &plan.settings, faults, plan.seed);
        // a search is not repeated
        let saved = start.plan().and_then(|saved| saved.table.clone());
        let saved = saved.filter(|_| args.table.target_row.is_none());
        plan.table = Some(saved.map_or_else(|| pool.install(target), Ok)?);
    }
    let subject = subject(&plan, data.as_ref().map(|(_, table)| table))?;
    let subject = Subject { utility, ..subject };
    pool.install(|| check_memory(&subject.audit, args.runs))?;
    let mut job = Job::new(plan, start, &run.destination())?;
    job.resume_options = resume_options(files);
    execute(&job, subject, &run.device, &run.report)
}

impl SavedAudit for PateGanPlan {
    fn resume(args: &ResumeArgs, state: Artefact<Self>) -> CommandResult {
        args.check_taken(&["--data", "--columns"], "`audit pategan`")?;
        check(&args.report)?;
        check_device(&args.device)?;
        let files = (args.data.data.as_deref().map(Path::new), args.columns.as_deref());
        let subject = read_subject(&state.plan, files)?;
        let mut job = Job::of_checkpoint(state, &args.checkpoint, args.out.as_deref());
        job.resume_options = resume_options(files);
        execute(&job, subject, &args.device, &args.report)
    }

    fn merge(args: &MergeArgs, merged: &Artefact<Self>, started: Instant) -> CommandResult {
        args.check_taken(&["--data", "--allow-gaps"], "`audit pategan`")?;
        check(&args.report)?;
        if !merged.is_complete() {
            args.report.check_for_part()?;
        }
        let files = (args.table.data.as_deref(), args.table.columns.as_deref());
        let subject = read_subject(&merged.plan, files)?;
        report_merged(merged, args.out.as_deref(), started, |facts| {
            finish(merged, &subject, facts, &args.report)
        })
    }
}

fn execute(
    job: &Job<'_, PateGanPlan>,
    subject: Subject,
    device: &DeviceArgs,
    args: &ReportArgs,
) -> CommandResult {
    job.check_with_result(args)?;
    if job.checkpoint.or(job.out).is_some() {
        check_saved(&subject.audit, job.plan.runs)?;
    }
    let threads = device.threads();
    let runs = PateGanRuns::new(job.plan.clone(), subject.audit.clone(), threads)?;
    let written = args.files();
    job.run(&runs, device, (args.show.quiet, &written), |outcome| {
        finish(&outcome.state, &subject, &job.facts(outcome), args)
    })
}

fn read_subject(
    plan: &PateGanPlan,
    (data, columns): (Option<&Path>, Option<&Path>),
) -> Result<Subject, Failure> {
    let Some(audited) = &plan.table else {
        let unused = [("--data", data.is_some()), ("--columns", columns.is_some())];
        reject_unused_options(&unused, "on runs of the worst case")?;
        return subject(plan, None);
    };
    let table = read_again(audited, data, columns)?;
    subject(plan, Some(&table))
}

fn subject(
    plan: &PateGanPlan,
    table: Option<&dpscope_synth::table::Table>,
) -> Result<Subject, Failure> {
    let PateGanPlan { settings, faults, seed, .. } = plan;
    match (&plan.table, table) {
        (Some(audited), Some(table)) => {
            let audit = Audit::new(table, audited.target_row, settings, *faults, *seed);
            let data = Some(described(audited, table));
            Ok(Subject { audit: audit.map_err(named)?, data, utility: None })
        }
        _ => {
            let audit = Audit::worst_case(settings, *faults, *seed).map_err(named)?;
            Ok(Subject { audit, data: None, utility: None })
        }
    }
}

fn resume_options((data, columns): (Option<&Path>, Option<&Path>)) -> String {
    let named = [("data", data), ("columns", columns)];
    let named = named.into_iter().filter_map(|(name, path)| Some((name, path?)));
    named.map(|(name, path)| format!(" --{name} {}", quoted_path(path))).collect()
}

fn check_device(args: &DeviceArgs) -> Result<(), Failure> {
    reject_unused_options(
        &[("--float-mode", args.float_mode.is_some())],
        "on runs of PATE-GAN, which are the same on every machine",
    )?;
    match args.device {
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(()),
        DeviceChoice::Gpu | DeviceChoice::Named(_) => Err(Failure::with(
            Exit::Device,
            "PATE-GAN runs on the CPU only; leave --device out, or pass --device cpu",
        )),
    }
}

/// Settings of the mechanism; defaults are those of the published worst case.
fn settings(args: &PateGanArgs) -> Result<Settings, Failure> {
    let stop = match args.epsilon {
        Some(epsilon) if epsilon > 0.0 && epsilon.is_finite() => {
            Stop::Epsilon { epsilon, at_most: MOST_ITERATIONS }
        }
        Some(epsilon) => {
            return Err(Failure::input(format!(
                "--epsilon {epsilon} is not a positive number; pass one, for example 1"
            )));
        }
        None => Stop::Iterations(args.iterations.unwrap_or(100)),
    };
    let worst_case = Settings::worst_case();
    Ok(Settings {
        teachers: args.teachers,
        inverse_scale: args.gamma,
        batch_size: args.batch_size,
        stop,
        delta: args.run.statement.delta,
        rows: args.table.rows.unwrap_or(worst_case.rows),
        ..worst_case
    })
}

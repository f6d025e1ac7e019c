//! `dpscope audit federated`: canary clients of one federated training.

mod args;
#[cfg(feature = "native")]
mod model;
mod open_plan;
mod server;
#[cfg(feature = "native")]
mod shards;
#[cfg_attr(not(feature = "native"), path = "in_memory.rs")]
mod updates;

use args::ControlArg;
pub(crate) use args::{AttackerArg, DesignArg, FederatedArgs, design, option_of, option_of_design};
#[cfg(feature = "native")]
pub(crate) use model::ModelFile;
use open_plan::{OpenPlan, failure_of};

use std::path::{Path, PathBuf};

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::OneRunFinding;
use dpscope_core::audit::one_shot::{CosineNull, NullTails};
use dpscope_recorded::{Cosines, FederatedScores, FederatedSettings};
use dpscope_report::record::{ClaimTest, OneShotFiles, OneShotReport};
use dpscope_report::words::{OneShotAttacker, OneShotDesign};

use super::canary_report::Shown;
use crate::args::{DeviceArgs, DeviceChoice, check_drawing};
use crate::canary_plan::Content;
use crate::disk::HAS_DISK;
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::federated_plan;
use crate::files::limits;
use crate::output::claim_test;
use server::{StatedServer, UpdateFiles};

pub(crate) fn run(args: &FederatedArgs) -> CommandResult {
    let started = web_time::Instant::now();
    args.plot.as_deref().map_or(Ok(()), check_drawing)?;
    args.page.check()?;
    let plan = match &args.plan {
        None => None,
        Some(folder) => Some(OpenPlan { folder, committed: federated_plan::open(folder)? }),
    };
    let settings = match &plan {
        Some(plan) => FederatedSettings::from(&plan.committed),
        None => stated(args)?,
    };
    let test = test_of(args, &settings)?;
    let null = CosineNull::new(settings.dimension).map_err(option_of)?;
    let server = StatedServer::new(args)?;
    if let (Some(path), Some(plan)) = (&args.control, &plan) {
        updates::check_flattening(path, &plan.committed)?;
    }
    if args.unseen.is_some() && settings.server_rounds != 1 {
        return Err(Failure::input(
            "--unseen has an effect with one server round per cosine only; leave it out for the \
             maximum over several",
        ));
    }
    let mut scores = scores_of(args, &settings, &null, (plan.as_ref(), server))?;
    check_control(args, &settings, &null, &mut scores)?;
    if let (Some(server), Some(path)) = (server, &args.replies) {
        scores.findings.extend(server.reply_findings(path)?);
    }
    let unseen = args.unseen.as_deref().map(cosines_of).transpose()?;
    let report = scores.report(&settings, &null, unseen.as_ref(), &test).map_err(failure_of)?;
    let report = OneShotReport { input: files(args), ..report };
    finish(args, report, &scores.tails, started)
}

fn cosines_of(path: &Path) -> Result<Cosines, Failure> {
    let limits = limits();
    Ok(Cosines::read(&Content::read(path, limits.max_bytes)?.file(&limits))?)
}

/// Scores of a file of cosines; a plan is bound to the first one.
fn of_cosines(
    path: &Path,
    null: &CosineNull,
    settings: &FederatedSettings,
    plan: Option<&OpenPlan<'_>>,
) -> Result<FederatedScores, Failure> {
    let cosines = cosines_of(path)?;
    let committed = plan.map(|plan| &plan.committed);
    let scores = FederatedScores::of_cosines(&cosines, null, settings, committed);
    let mut scores = scores.map_err(failure_of)?;
    if let Some(plan) = plan {
        let is_second = federated_plan::is_second(plan.folder, &cosines.digest())?;
        scores.findings.extend(is_second.then_some(OneRunFinding::SecondScores));
    }
    Ok(scores)
}

/// Scores from cosines, from every update, or from two models.
fn scores_of(
    args: &FederatedArgs,
    settings: &FederatedSettings,
    null: &CosineNull,
    (plan, server): (Option<&OpenPlan<'_>>, Option<StatedServer>),
) -> Result<FederatedScores, Failure> {
    let (paths, initial) = match &args.models[..] {
        [] => (&args.updates, None),
        _ => (&args.models, args.initial.as_deref()),
    };
    let unused = [
        ("--participation", args.participation.is_some()),
        ("--momentum", args.momentum.is_some()),
    ];
    if paths.is_empty() {
        reject_unused_options(&unused, "without --updates or --models")?;
    }
    check_device(&args.device, !args.trained.is_empty())?;
    match (&args.cosines, plan) {
        (Some(path), plan) => of_cosines(path, null, settings, plan),
        (None, Some(plan)) if !paths.is_empty() => {
            let participation = args.participation.as_deref();
            let momentum = args.momentum.unwrap_or(0.0);
            let files = UpdateFiles { paths, initial, participation, momentum, server };
            updates::score(&files, null, plan, args.show.quiet)
        }
        (None, Some(plan)) => {
            let initial = args.initial.as_deref().filter(|_| !args.trained.is_empty());
            let Some(initial) = initial else { return Err(Failure::input(NOTHING)) };
            if plan.committed.plan.attacker != OneShotAttacker::FinalModel {
                return Err(Failure::input(SEES_UPDATES));
            }
            let models = (initial, &args.trained[..]);
            updates::score_models(models, null, plan, (&args.device, args.show.quiet))
        }
        (None, None) => Err(Failure::input(NOTHING)),
    }
}

/// A GPU multiplies directions with the change of a model; the rest is done on the CPU.
fn check_device(device: &DeviceArgs, has_models: bool) -> Result<(), Failure> {
    reject_unused_options(
        &[("--float-mode", device.float_mode.is_some())],
        "on cosines, which are the same on every device",
    )?;
    match device.device {
        DeviceChoice::Gpu | DeviceChoice::Named(_) if !has_models => Err(Failure::with(
            Exit::Device,
            "a device is used with --initial and --final only; leave --device out, or pass --device \
             cpu",
        )),
        _ => Ok(()),
    }
}

/// Whether the control client is seen as it must be.
fn check_control(
    args: &FederatedArgs,
    settings: &FederatedSettings,
    null: &CosineNull,
    scores: &mut FederatedScores,
) -> Result<(), Failure> {
    let Some(control) = args.control_client else { return Ok(()) };
    if scores.control.is_none() && args.control_cosine.is_none() {
        return Err(Failure::input(
            "--control-cosine is missing: pass the cosine of the control client with --cosines",
        ));
    }
    let stated = args.control_cosine.map(|cosine| (cosine, settings.server_rounds));
    scores
        .check_control(null, control == ControlArg::Included, stated)
        .map_err(|error| Failure::input(format!("--control-cosine: {error}")))
}

const NOTHING: &str = if HAS_DISK {
    "nothing to audit: pass --cosines, or --plan with --initial and --final, with --updates, or with \
     --initial and --models"
} else {
    "nothing to audit: add cosines, or the models before and after the training and their plan; the \
     program reads the updates of every server round"
};

const SEES_UPDATES: &str = if HAS_DISK {
    "the plan's attacker sees every update; pass them with --updates, the models with --models, or the \
     cosines with --cosines"
} else {
    "the plan's attacker sees every update, which only the program reads; add the cosines"
};

/// What was fixed before the training, as the options state.
fn stated(args: &FederatedArgs) -> Result<FederatedSettings, Failure> {
    let Some(dimension) = args.dimension else {
        return Err(Failure::input(
            "--dimension is missing; pass the number of trained parameters",
        ));
    };
    if let (DesignArg::Fixed(Some(number)), Some(canaries)) = (args.design, args.canaries)
        && number != canaries
    {
        return Err(Failure::input(format!(
            "--canaries is {canaries}, but --design has a fixed number of {number}; leave --canaries \
             out, and canaries without a cosine are counted"
        )));
    }
    let (design, inserted) = match args.design {
        DesignArg::Fixed(None) => (None, args.canaries),
        DesignArg::Fixed(Some(number)) => (Some(args.design.design(0)), Some(number)),
        DesignArg::Poisson(_) | DesignArg::Bernoulli(..) => {
            (Some(args.design.design(0)), args.canaries)
        }
    };
    Ok(FederatedSettings {
        dimension,
        design,
        inserted,
        attacker: args.attacker.into(),
        server_rounds: server_rounds(args.attacker, args.server_rounds)?,
        delta: args.statement.delta,
        significance: args.statement.significance(),
        adjacency: design.map_or(Adjacency::AddRemove, OneShotDesign::certified),
        is_committed: false,
    })
}

/// Server rounds over which a cosine is the maximum.
pub(crate) fn server_rounds(attacker: AttackerArg, number: Option<u64>) -> Result<u64, Failure> {
    match (attacker, number) {
        (AttackerArg::AllUpdates, None) => Err(Failure::input(
            "--server-rounds is missing: pass the number of updates over which each cosine is the \
             maximum",
        )),
        (AttackerArg::AllUpdates, Some(number)) => Ok(number),
        (_, Some(_)) => Err(Failure::input(
            "--server-rounds has an effect with --attacker all-updates only; leave it out",
        )),
        (_, None) => Ok(1),
    }
}

fn files(args: &FederatedArgs) -> OneShotFiles {
    let name = |path: &Path| path.display().to_string();
    let joined = |paths: &[PathBuf]| {
        let names: Vec<String> = paths.iter().map(|path| name(path)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    OneShotFiles {
        scores: args.cosines.as_deref().map(name),
        unseen: args.unseen.as_deref().map(name),
        model: joined(&args.trained),
        updates: joined(&args.updates),
        models: joined(&args.models),
        participation: args.participation.as_deref().map(name),
        replies: args.replies.as_deref().map(name),
        initial_model: args.initial.as_deref().map(name),
        plan: args.plan.as_deref().map(name),
        control: args.control.as_deref().map(name),
    }
}

fn test_of(args: &FederatedArgs, settings: &FederatedSettings) -> Result<ClaimTest, Failure> {
    let test = claim_test(&args.claim, settings.delta)?;
    check_adjacency(&test, settings.adjacency)?;
    Ok(test)
}

/// Refuses a claim about replacement where canaries are added.
pub(crate) fn check_adjacency(test: &ClaimTest, certified: Adjacency) -> Result<(), Failure> {
    let is_replace = test.claim.is_some_and(|claim| claim.adjacency == Adjacency::Replace);
    if is_replace && certified == Adjacency::AddRemove {
        return Err(Failure::input(
            "--claim-adjacency is replace, but added canaries only test add-remove; pass the \
             claim for add-remove",
        ));
    }
    Ok(())
}

fn finish(
    args: &FederatedArgs,
    report: OneShotReport,
    tails: &NullTails,
    started: web_time::Instant,
) -> CommandResult {
    let report = OneShotReport { elapsed_ms: started.elapsed().as_secs_f64() * 1e3, ..report };
    let shown = Shown { delivery: args.delivery(), plot: args.plot.as_deref(), claim: &args.claim };
    shown.finish(&report, tails)
}

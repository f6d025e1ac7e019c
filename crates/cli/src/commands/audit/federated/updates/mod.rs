//! Scores of canaries from models or from the update of every server round, read in blocks.
//!
//! Beyond one update, memory holds a block of every server round (16 MiB, or 16 KiB per server round
//! above 1,024) and the products of one group of canaries (16 MiB); groups read the files in turn.

mod class;
mod files;
mod flattening;
mod group;
mod model;
mod participation;
mod recent;
mod series;

use dpscope_core::audit::one_run::OneRunFinding;
use dpscope_core::audit::one_shot::{CosineNull, NullTails, OneShotError, unseen_finding};
use dpscope_engine::Control;
use dpscope_recorded::{FederatedScores, ReleaseSummary, class_findings};
use dpscope_report::words::OneShotAttacker;
use dpscope_simulation::ReleaseCosines;

use super::args::option_of;
use super::open_plan::OpenPlan;
use super::server::{StatedServer, UpdateFiles};
use crate::failure::{Exit, Failure};
use crate::federated_plan::is_second;
use crate::progress::Terminal;
pub(super) use flattening::check_flattening;
use group::{CanaryGroup, UpdateCosines, groups};
pub(super) use model::score_models;
use participation::read_participation;
use recent::RecentProducts;
use series::UpdateSeries;

/// Memory for one block of all server rounds, in numbers.
const BLOCK_NUMBERS: usize = 4 << 20;

/// The largest number of blocks that are read together.
const MOST_BLOCKS: usize = 64;

/// Scores of the canaries of a plan by the statistic that the plan fixed.
pub(super) fn score(
    files: &UpdateFiles<'_>,
    null: &CosineNull,
    plan: &OpenPlan<'_>,
    quiet: bool,
) -> Result<FederatedScores, Failure> {
    let terminal = Terminal::of_files(quiet, "reading updates");
    let attacker = plan.committed.plan.attacker;
    check_files(files, attacker)?;
    let dimension = plan.committed.plan.dimension;
    let series = UpdateSeries::open(files.paths, files.initial, files.momentum, dimension)?;
    let inserted = plan.committed.inserted();
    check_rounds(&series, plan)?;
    let participation = files
        .participation
        .map(|path| read_participation(path, inserted, series.len()))
        .transpose()?;
    let summaries = series.summaries(&terminal)?;
    let statistic = format!("{attacker:?} {participation:?}");
    bind(plan, &ReleaseSummary::digest_of(&summaries, &statistic))?;
    let participation = participation.unwrap_or_default();
    let seed = plan.committed.direction_seed();
    let is_sum_of_raw = attacker == OneShotAttacker::KnownServerRounds;
    let mut recent = files.server.map(|_| RecentProducts::new(series.len()));
    let mut cosines = UpdateCosines::default();
    let groups: Vec<CanaryGroup> = groups(inserted, series.len()).collect();
    for (place, group) in groups.iter().enumerate() {
        let directions = group.directions(attacker, &participation, series.len());
        let products = ReleaseCosines::new(seed, dimension as usize, series.len() + 1, directions);
        // products of updates need one pass
        let recent = recent.as_mut().filter(|_| group.is_first());
        let keep_going = |share: f64| {
            let share = (place as f64 + share) / groups.len() as f64;
            terminal.show_share(share, "comparing canaries with updates");
            terminal.keep_going()
        };
        let products =
            streamed(&series, &summaries, (products, recent), is_sum_of_raw, keep_going)?;
        cosines.add(group, &products, attacker, series.len());
    }
    let mut found = scores(&cosines, attacker, null, inserted, series.len())?;
    let sums = (0..).zip(cosines.sums.iter().copied());
    found.findings.extend(class_findings(null, &plan.committed, sums).map_err(option_of)?);
    if let (Some(server), Some(recent)) = (files.server, &recent) {
        let scale = |round: usize| scale_of(&summaries, round, is_sum_of_raw);
        found.findings.extend(noise_findings(server, recent, scale, dimension)?);
        let products = arrived(&cosines, &participation, scale(0));
        found.findings.extend(class::arrival_findings(server, &plan.committed, &products));
        let claimed = class::participation_finding(server, &summaries, &found, attacker)?;
        found.findings.extend(claimed);
    }
    Ok(found)
}

/// Noise that is too small, or else reused.
fn noise_findings(
    server: StatedServer,
    recent: &RecentProducts,
    scale: impl Fn(usize) -> f64,
    dimension: u64,
) -> Result<Option<OneRunFinding>, Failure> {
    let too_small = server.noise.noise_finding(&recent.square_norms(&scale), dimension);
    match too_small.map_err(option_of)? {
        Some(finding) => Ok(Some(finding)),
        None => server.noise.reuse_finding(&recent.residuals(scale), dimension).map_err(option_of),
    }
}

/// Each canary that took part, and its ⟨c, a⟩/|R| and ‖a‖/|R|, a the sum of the updates of its server
/// rounds.
fn arrived(cosines: &UpdateCosines, rounds: &[Vec<usize>], scale: f64) -> Vec<(usize, (f64, f64))> {
    let of = |(canary, rounds): (usize, &Vec<usize>)| {
        let norm = cosines.norms[canary] * scale / rounds.len() as f64;
        let is_known = norm > 0.0 && norm.is_finite();
        is_known.then(|| (canary, (cosines.seen[canary] * norm, norm)))
    };
    rounds.iter().enumerate().filter_map(of).collect()
}

/// The unit of a release while it is processed: sums over server rounds need a common one, maxima the
/// largest precision of each.
fn scale_of(summaries: &[ReleaseSummary], round: usize, is_sum_of_raw: bool) -> f64 {
    if is_sum_of_raw {
        summaries.iter().map(|summary| summary.unit).fold(0.0, f64::max)
    } else {
        summaries[round].unit
    }
}

fn check_files(files: &UpdateFiles<'_>, attacker: OneShotAttacker) -> Result<(), Failure> {
    let knows = attacker == OneShotAttacker::KnownServerRounds;
    Failure::first_of(&[
        (
            attacker == OneShotAttacker::FinalModel,
            "the plan's attacker sees the final model only: pass --initial and --final, or commit a \
             plan with another --attacker before the next training",
        ),
        (
            knows && files.participation.is_none(),
            "--participation is missing: the plan's attacker knows when each canary took part",
        ),
        (
            !knows && files.participation.is_some(),
            "--participation has an effect only with a plan for --attacker known-server-rounds; \
             leave it out",
        ),
    ])?;
    if !(0.0..1.0).contains(&files.momentum) {
        return Err(Failure::input(format!(
            "--momentum is {}; it must be at least 0 and below 1",
            files.momentum
        )));
    }
    Ok(())
}

/// Refuses another number of server rounds than that of the plan.
fn check_rounds(series: &UpdateSeries, plan: &OpenPlan<'_>) -> Result<(), Failure> {
    let (planned, found) = (plan.committed.plan.server_rounds, series.len() as u64);
    let is_maximum = plan.committed.plan.attacker == OneShotAttacker::AllUpdates;
    if is_maximum && planned != found {
        return Err(Failure::input(format!(
            "--updates has {found} server rounds, but the plan has {planned}; pass the update of \
             every server round once"
        )));
    }
    Ok(())
}

/// Binds the plan to the first updates that are audited with it.
fn bind(plan: &OpenPlan<'_>, digest: &str) -> Result<(), Failure> {
    if !is_second(plan.folder, digest)? {
        return Ok(());
    }
    Err(Failure::with(
        Exit::Artefact,
        "other updates, another order of them, another momentum or another participation was audited \
         with this plan before: a training that received these canaries has no known null \
         distribution in a second audit; commit a new plan and train again",
    )
    .about(plan.folder))
}

/// Passes all releases in blocks, and their sum.
fn streamed(
    series: &UpdateSeries,
    summaries: &[ReleaseSummary],
    (mut cosines, mut recent): (ReleaseCosines, Option<&mut RecentProducts>),
    is_sum_of_raw: bool,
    keep_going: impl Fn(f64) -> bool,
) -> Result<ReleaseCosines, Failure> {
    const BLOCK: usize = ReleaseCosines::BLOCK;
    let rounds = series.len();
    let blocks = (BLOCK_NUMBERS / BLOCK / (rounds + 1)).clamp(1, MOST_BLOCKS);
    let dimension = series.dimension();
    for first in (0..dimension).step_by(blocks * BLOCK) {
        let count = (dimension - first).min((blocks * BLOCK) as u64) as usize;
        let mut releases = Vec::with_capacity(rounds + 1);
        let mut sum = vec![0.0; count];
        if !keep_going(first as f64 / dimension as f64) {
            return Err(Failure::interrupted());
        }
        for (round, ReleaseSummary { unit, .. }) in summaries.iter().enumerate() {
            let values = series.read(round, first, count)?;
            sum.iter_mut().zip(&values).for_each(|(sum, value)| *sum += value / unit);
            let unit = scale_of(summaries, round, is_sum_of_raw);
            releases.push(values.iter().map(|value| (value / unit) as f32).collect::<Vec<f32>>());
        }
        if let Some(recent) = &mut recent {
            recent.add(&releases);
        }
        releases.push(sum.iter().map(|&sum| sum as f32).collect());
        cosines.add(first as usize, &releases);
    }
    Ok(cosines)
}

/// Null probabilities of the cosines.
fn scores(
    cosines: &UpdateCosines,
    attacker: OneShotAttacker,
    null: &CosineNull,
    inserted: u64,
    rounds: usize,
) -> Result<FederatedScores, Failure> {
    let is_maximum = attacker == OneShotAttacker::AllUpdates && rounds > 1;
    let tail = |&cosine: &f64| null.ln_tail_of_maximum(cosine, rounds as u64);
    let known = |cosines: &[f64]| -> Vec<f64> {
        cosines.iter().copied().filter(|cosine| !cosine.is_nan()).collect()
    };
    let seen = known(&cosines.seen);
    let tails = if is_maximum {
        seen.iter().map(tail).collect::<Result<_, OneShotError>>().and_then(NullTails::new)
    } else {
        null.tails(&seen)
    };
    let unseen = null.tails(&cosines.unseen).map_err(option_of)?;
    let exact = is_maximum.then(|| null.tails(&known(&cosines.sums))).transpose();
    Ok(FederatedScores {
        tails: tails.map_err(option_of)?,
        exact_tails: exact.map_err(option_of)?,
        cosines: seen,
        inserted,
        control: cosines.control,
        is_control_seen: false,
        findings: unseen_finding(&unseen).into_iter().collect(),
    })
}

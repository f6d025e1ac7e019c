//! `dpscope plan one-run`: sizes of an audit of one run, and committed coins.

mod args;
mod pool;

pub(crate) use args::OneRunPlanArgs;

use std::path::Path;

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::{
    CanaryError, CanaryGame, GuessEvidence, GuessRecord, GuessRule, Guesses, IdealAttack,
    KnownSides, OneRunError, OneRunResult, PlannedRuns, ranking_sizes,
};
use dpscope_core::format::given;
use dpscope_core::gdp::{gdp_epsilon, gdp_mu_for};
use dpscope_report::record::{
    CommitmentRecord, OneRunPlan, OneRunSize, OneRunSizes, OneRunTarget, PlannedGame, PlannedRule,
};
use dpscope_report::text::one_run_sizes_text;

use crate::canary_plan::{self, MOST_COINS, digest_of_file};
use crate::commands::audit::one_run::{CanariesArg, read_canaries};
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_text};

/// Sizes of a table without a number of canaries.
const SIZES: [u64; 4] = [100, 1_000, 10_000, 100_000];
const SCHEMA: &str = "dpscope.one_run_sizes/1";
/// Runs of the power of a plan.
const MOST_RUNS_OF_POWER: u64 = 1_000;

pub(crate) fn run(args: &OneRunPlanArgs) -> CommandResult {
    let deltas = if args.delta.is_empty() { vec![1e-5] } else { args.delta.clone() };
    let significance = args.level.significance().unwrap_or(0.05);
    if let (Some(folder), Some(nonce)) = (&args.out, &args.nonce) {
        return redraw(args, folder, nonce);
    }
    if let Some(design) = args.design {
        return pool::plan(args, design, &deltas, significance, |delta| mus(args, delta));
    }
    if args.out.is_none() {
        check_sizes_alone(args)?;
    }
    let canaries = match &args.canaries {
        Some(CanariesArg::Number(number)) => vec![*number],
        Some(CanariesArg::File(path)) => vec![read_canaries(path)?.len() as u64],
        None => sizes_for(args.guesses.unwrap_or(0)),
    };
    // before anything is committed: an invalid option would leave a plan behind
    let sizes = sizes(args, canaries, deltas[0], significance)?;
    let committed = match &args.out {
        Some(folder) => Some(commit(args, folder, &deltas, significance)?),
        None => None,
    };
    let sizes = OneRunSizes { committed, ..sizes };
    if args.json {
        print_json(&sizes)?;
    } else {
        print_text(&one_run_sizes_text(&sizes))?;
    }
    Ok(Exit::Done)
}

/// The sizes of a table with so many guesses: at least this many canaries.
fn sizes_for(guesses: u64) -> Vec<u64> {
    let sizes: Vec<u64> = SIZES.into_iter().filter(|&size| size >= guesses).collect();
    if sizes.is_empty() { vec![guesses] } else { sizes }
}

/// Refuses options of a committed plan that the sizes do not depend on.
fn check_sizes_alone(args: &OneRunPlanArgs) -> Result<(), Failure> {
    let of_plan = [
        ("guesses-in", args.guesses_in.is_some()),
        ("guesses-out", args.guesses_out.is_some()),
        ("pairs", args.pairs),
        ("set-size", args.set_size.is_some()),
        ("runs", args.runs > 1),
        ("adjacency", args.adjacency.is_some()),
    ];
    let Some((name, _)) = of_plan.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    Err(Failure::input(format!(
        "--{name} is for a plan that is committed: pass --canaries FILE and --out DIR, or leave it out; \
         without --out, the table is for one run with one coin per canary"
    )))
}

/// Draws the coins of a committed plan again.
fn redraw(args: &OneRunPlanArgs, folder: &Path, nonce: &str) -> CommandResult {
    let (plan, commitment) = canary_plan::add_nonce(folder, nonce)?;
    if !args.json {
        print_text(
            "The coins were drawn again, from the seed and the nonce. Pass the new coins.npy to the \
             trainer.\n",
        )?;
        return Ok(Exit::Done);
    }
    print_json(&OneRunSizes {
        schema: SCHEMA,
        delta: plan.deltas.first().copied().unwrap_or_default(),
        significance: plan.significance,
        rows: Vec::new(),
        targets: Vec::new(),
        committed: Some(CommitmentRecord {
            folder: folder.display().to_string(),
            commitment,
            canaries: plan.canaries,
            canaries_digest: plan.canaries_digest,
            runs: plan.runs,
        }),
    })?;
    Ok(Exit::Done)
}

fn sizes(
    args: &OneRunPlanArgs,
    canaries: Vec<u64>,
    delta: f64,
    significance: f64,
) -> Result<OneRunSizes, Failure> {
    let row = |gdp_mu: f64, canaries: u64| -> Result<OneRunSize, Failure> {
        let game = CanaryGame::coins(canaries).map_err(option_of)?;
        let attack = IdealAttack::new(game, gdp_mu).map_err(option_of)?;
        let (guesses, expected_epsilon) =
            attack.bound(args.guesses, delta, significance).map_err(option_of)?;
        let ceiling = Guesses::new(game, guesses, guesses)
            .and_then(|all| all.ceiling(delta, significance))
            .map_err(option_of)?;
        let true_epsilon = gdp_epsilon(gdp_mu, delta).map_err(Failure::input)?;
        Ok(OneRunSize { gdp_mu, true_epsilon, canaries, guesses, expected_epsilon, ceiling })
    };
    let mus = mus(args, delta)?;
    let target = |epsilon: f64, gdp_mu: f64| -> Result<OneRunTarget, Failure> {
        let canaries =
            IdealAttack::canaries_for(gdp_mu, epsilon, args.guesses, delta, significance);
        Ok(OneRunTarget { gdp_mu, epsilon, canaries: canaries.map_err(option_of)? })
    };
    let mut rows = Vec::new();
    for &gdp_mu in &mus {
        for &number in &canaries {
            rows.push(row(gdp_mu, number)?);
        }
    }
    let targets = match args.epsilon {
        Some(epsilon) => mus.iter().map(|&mu| target(epsilon, mu)).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    Ok(OneRunSizes { schema: SCHEMA, delta, significance, rows, targets, committed: None })
}

/// The μ of the table.
fn mus(args: &OneRunPlanArgs, delta: f64) -> Result<Vec<f64>, Failure> {
    if let Some(&mu) = args.mu.iter().find(|&&mu| !(mu > 0.0 && mu <= 100.0)) {
        return Err(Failure::input(format!("--mu is {}; it must lie in (0, 100]", given(mu))));
    }
    // a plan for pure DP has no table
    if delta == 0.0 && args.out.is_some() && args.mu.is_empty() && args.claim.is_none() {
        return Ok(Vec::new());
    }
    if delta == 0.0 {
        return Err(Failure::input(
            "--delta is 0, and a Gaussian mechanism has no finite epsilon there; pass a delta above 0",
        ));
    }
    match args.claim {
        Some(epsilon) => {
            let mu = gdp_mu_for(epsilon, delta);
            Ok(vec![mu.map_err(|error| Failure::input(format!("--claim: {error}")))?])
        }
        None if args.mu.is_empty() => Ok(vec![0.5, 1.0, 2.0, 3.0]),
        None => Ok(args.mu.clone()),
    }
}

fn option_of(error: OneRunError) -> Failure {
    CanaryError::from(error).into()
}

/// Draws the coins and writes what must be fixed before the training.
fn commit(
    args: &OneRunPlanArgs,
    folder: &Path,
    deltas: &[f64],
    significance: f64,
) -> Result<CommitmentRecord, Failure> {
    let Some(CanariesArg::File(path)) = &args.canaries else {
        return Err(Failure::input(
            "--out needs the file of the canaries, which are committed with the coins: pass \
             --canaries FILE",
        ));
    };
    let canaries = read_canaries(path)?.len() as u64;
    let size = args.set_size.or(args.pairs.then_some(2));
    let members = u64::from(size.unwrap_or(1));
    if members < 2 && size.is_some() {
        return Err(Failure::input("--set-size is below 2; a set has at least 2 canaries"));
    }
    if !canaries.is_multiple_of(members) {
        let sets = if args.pairs { "pairs".to_owned() } else { format!("sets of {members}") };
        let problem = format!("has {canaries} canaries, which cannot be divided into {sets}");
        return Err(Failure::input(problem).about(path));
    }
    let units = canaries / members;
    if units < 5 {
        let problem =
            format!("has {canaries} canaries: at least 5, or 5 pairs or sets, are needed");
        return Err(Failure::input(problem).about(path));
    }
    if canaries.checked_mul(args.runs).is_none_or(|coins| coins > MOST_COINS) {
        return Err(Failure::input(format!(
            "--runs is {}: canaries times runs must be at most {MOST_COINS}",
            args.runs
        )));
    }
    let rule = GuessRule::of_counts(args.guesses, args.guesses_in, args.guesses_out).into();
    let game = CanaryGame::sets(units, size.unwrap_or(2)).map_err(option_of)?;
    check_power(rule, (game, size.is_some()), args.runs, deltas, significance)?;
    let adjacency = match (args.adjacency, size.is_some()) {
        (Some(Adjacency::Replace) | None, true) => Adjacency::Replace,
        (Some(_), true) => {
            return Err(Failure::input(
                "--adjacency is not replace, but one canary of each pair or set is included: that \
                 replaces a record; leave --adjacency out",
            ));
        }
        (adjacency, false) => adjacency.unwrap_or(Adjacency::AddRemove),
    };
    let canaries_digest = digest_of_file(path)?;
    let plan = OneRunPlan {
        schema: OneRunPlan::SCHEMA.to_owned(),
        game: match size {
            None => PlannedGame::Coins,
            Some(2) => PlannedGame::Pairs,
            Some(size) => PlannedGame::Sets(size),
        },
        adjacency,
        canaries,
        canaries_digest: canaries_digest.clone(),
        rule,
        deltas: deltas.to_vec(),
        significance,
        direction: args.direction.into(),
        runs: args.runs,
    };
    let commitment = canary_plan::commit(folder, &plan)?;
    let folder = folder.display().to_string();
    Ok(CommitmentRecord { folder, commitment, canaries, canaries_digest, runs: args.runs })
}

/// Refuses a plan that could show nothing.
fn check_power(
    rule: PlannedRule,
    (game, is_sets): (CanaryGame, bool),
    runs: u64,
    deltas: &[f64],
    significance: f64,
) -> Result<(), Failure> {
    let all = |guesses: u64, sides| -> Result<GuessEvidence, Failure> {
        Guesses::new(game, guesses, guesses).map_err(option_of)?; // the number of one run
        let of_all_runs = CanaryGame::sets(game.canaries() * runs, game.set_size());
        let guesses = guesses * runs;
        let all = of_all_runs.and_then(|game| Guesses::new(game, guesses, guesses));
        Ok(GuessEvidence::fixed(all.map_err(option_of)?.with_sides(sides)))
    };
    let evidence = match rule {
        PlannedRule::Walk => {
            let sizes = ranking_sizes(game.canaries());
            if runs == 1 {
                GuessEvidence::walk(game, sizes.clone(), sizes).map_err(option_of)?
            } else {
                let record = GuessRecord::new(game, sizes.clone(), sizes).map_err(option_of)?;
                // more runs than these say no more about power
                let made = vec![record; runs.min(MOST_RUNS_OF_POWER) as usize];
                let runs = PlannedRuns::new(runs, made).map_err(option_of)?;
                GuessEvidence::runs(runs).map_err(option_of)?
            }
        }
        PlannedRule::Most(guesses) => all(guesses, KnownSides::Both)?,
        PlannedRule::Sides { .. } if is_sets => return Err(CanaryError::SidesOfSets.into()),
        PlannedRule::Sides { included, excluded } => {
            let is_one = included == 0 || excluded == 0;
            let sides = if is_one { KnownSides::One } else { KnownSides::Both };
            all(included.saturating_add(excluded), sides)?
        }
    };
    OneRunResult::new(evidence, deltas, significance)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_row_for_any_number_of_guesses() {
        assert_eq!(sizes_for(0), SIZES);
        assert_eq!(sizes_for(1_001), [10_000, 100_000]);
        assert_eq!(sizes_for(200_000), [200_000]);
    }
}

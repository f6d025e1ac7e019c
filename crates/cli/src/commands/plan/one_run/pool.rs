//! Canaries whose number is drawn, of an audit without coins.

use std::path::Path;

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_shot::CanaryDesign;
use dpscope_report::record::{
    FederatedSizes, OneRunPlan, PlannedGame, PlannedRule, PoolCommitment,
};
use dpscope_report::text::federated_sizes_text;

use super::args::OneRunPlanArgs;
use crate::canary_plan::{self, digest_of_file};
use crate::commands::audit::federated::DesignArg;
use crate::commands::audit::one_run::{CanariesArg, read_canaries};
use crate::commands::plan::federated::canary_sizes;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_text};

/// Sizes, and a committed plan if a folder is named.
pub(super) fn plan(
    args: &OneRunPlanArgs,
    design: DesignArg,
    deltas: &[f64],
    significance: f64,
    mus: impl Fn(f64) -> Result<Vec<f64>, Failure>,
) -> CommandResult {
    let &[delta] = deltas else {
        return Err(Failure::input("--delta has several values: --design is for one delta"));
    };
    let number = match design {
        DesignArg::Poisson(_) | DesignArg::Fixed(Some(_)) => design.design(0),
        _ => {
            return Err(Failure::input(
                "--design is neither poisson:MEAN nor fixed:NUMBER, and other numbers are not planned",
            ));
        }
    };
    let sizes = canary_sizes(number, 1, (delta, significance), mus(delta)?)?;
    let pool = match (&args.out, number) {
        (None, _) => None,
        (Some(folder), CanaryDesign::Poisson { mean }) => {
            Some(commit(args, folder, mean, delta, significance)?)
        }
        (Some(_), _) => {
            return Err(Failure::input(
                "--out draws a Poisson number of canaries: pass --design poisson:MEAN",
            ));
        }
    };
    let sizes = FederatedSizes { pool, ..sizes };
    if args.json {
        print_json(&sizes)?;
    } else {
        print_text(&federated_sizes_text(&sizes))?;
    }
    Ok(Exit::Done)
}

fn commit(
    args: &OneRunPlanArgs,
    folder: &Path,
    mean: f64,
    delta: f64,
    significance: f64,
) -> Result<PoolCommitment, Failure> {
    let Some(CanariesArg::File(path)) = &args.canaries else {
        return Err(Failure::input(
            "--out needs the file of the pool, which is committed: pass --canaries FILE",
        ));
    };
    let members = read_canaries(path)?.len() as u64;
    if mean > members as f64 {
        let problem = format!("has {members} canaries, and --design draws {mean} on average");
        return Err(Failure::input(format!("{problem}: make a larger pool")).about(path));
    }
    let canaries_digest = digest_of_file(path)?;
    let plan = OneRunPlan {
        schema: OneRunPlan::SCHEMA.to_owned(),
        game: PlannedGame::Poisson(mean),
        adjacency: Adjacency::AddRemove,
        canaries: members,
        canaries_digest: canaries_digest.clone(),
        rule: PlannedRule::Walk, // without coins there are no guesses
        deltas: vec![delta],
        significance,
        direction: args.direction.into(),
        runs: 1,
    };
    let commitment = canary_plan::commit(folder, &plan)?;
    let copies = canary_plan::open(folder, None)?.copies(mean);
    let inserted = copies.into_iter().map(u64::from).sum();
    let folder = folder.display().to_string();
    Ok(PoolCommitment { folder, commitment, members, canaries_digest, inserted })
}

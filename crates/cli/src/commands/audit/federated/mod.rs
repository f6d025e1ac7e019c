//! `dpscope audit federated`: canary clients of one federated training.

mod args;
mod cosines;

use args::DesignArg;
pub(crate) use args::FederatedArgs;

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_shot::{
    CosineNull, EpsilonEstimator, NullTails, OneShotQuestion, OneShotResult, ScoreChecks,
    unseen_finding,
};
use dpscope_report::figure::one_shot_svg;
use dpscope_report::record::{
    ClaimTest, OneShotEstimate, OneShotFiles, OneShotReport, PrivacyUnit,
};
use dpscope_report::text::{one_shot_brief_text, one_shot_text};
use dpscope_report::words::{CanaryNull, OneShotDesign};

use crate::args::{check_drawing, write_drawing};
use crate::failure::{CommandResult, Failure};
use crate::output::{claim_test, print_json, print_text};
use args::AttackerArg;
use cosines::Cosines;

/// Significance of the range that estimates have without a leak.
const NULL_RANGE: f64 = 0.1;

pub(crate) fn run(args: &FederatedArgs) -> CommandResult {
    let started = std::time::Instant::now();
    args.plot.as_deref().map_or(Ok(()), check_drawing)?;
    let server_rounds = server_rounds(args)?;
    let null = CosineNull::new(args.dimension).map_err(option_of)?;
    let cosines = Cosines::read(&args.cosines)?;
    let inserted = args.canaries.unwrap_or(cosines.len());
    cosines.check(inserted, &args.cosines)?;
    let tails = cosines.tails(&null, server_rounds, &args.cosines)?;
    let question = OneShotQuestion {
        design: args.design.design(inserted),
        inserted,
        delta: args.statement.delta,
        significance: args.statement.significance(),
        null_significance: 0.0,
    };
    let adjacency = match args.design {
        DesignArg::Bernoulli(..) => Adjacency::ZeroOut,
        DesignArg::Poisson(_) | DesignArg::Fixed => Adjacency::AddRemove,
    };
    let test = test_of(args, adjacency)?;
    let result = OneShotResult::new(&tails, question).map_err(option_of)?;
    let is_exact = server_rounds == 1;
    let checks = ScoreChecks::new(&tails);
    let mut findings = if is_exact { checks.findings().map_err(option_of)? } else { Vec::new() };
    if let Some(path) = &args.unseen {
        let unseen = Cosines::read(path)?;
        let unseen = unseen.tails(&null, 1, path)?;
        findings.extend(unseen_finding(&unseen));
    }
    let design = OneShotDesign {
        number: question.design,
        inserted,
        null: CanaryNull::Cosines { dimension: args.dimension },
        attacker: args.attacker.into(),
        unit: PrivacyUnit::User,
        adjacency,
        is_committed: false,
    };
    let mean = is_exact.then(|| checks.standardised_mean());
    let report = OneShotReport::new(result.with_findings(findings), design, mean, &test)?;
    let name = |path: &std::path::Path| path.display().to_string();
    let report = OneShotReport {
        estimates: if is_exact {
            estimates(&null, &cosines.known(), question.delta)
        } else {
            Vec::new()
        },
        input: OneShotFiles {
            scores: Some(name(&args.cosines)),
            unseen: args.unseen.as_deref().map(name),
            ..OneShotFiles::default()
        },
        ..report
    };
    finish(args, report, &tails, started)
}

/// Server rounds over which a cosine is the maximum.
fn server_rounds(args: &FederatedArgs) -> Result<u64, Failure> {
    match (args.attacker, args.server_rounds) {
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

fn test_of(args: &FederatedArgs, certified: Adjacency) -> Result<ClaimTest, Failure> {
    let test = claim_test(&args.claim, args.statement.delta)?;
    let is_replace = test.claim.is_some_and(|claim| claim.adjacency == Adjacency::Replace);
    if is_replace && certified == Adjacency::AddRemove {
        return Err(Failure::input(
            "--claim-adjacency is replace, but canaries that are added say nothing about a replacement",
        ));
    }
    Ok(test)
}

/// Estimates beside their range without a leak; none at δ = 0 or for fewer than two cosines.
fn estimates(null: &CosineNull, cosines: &[f64], delta: f64) -> Vec<OneShotEstimate> {
    let estimate = |method: EpsilonEstimator| {
        let epsilon = method.epsilon(null, cosines, delta).ok()?;
        let null_range = method.null_range(cosines.len() as u64, delta, NULL_RANGE).ok()?;
        Some(OneShotEstimate { method, epsilon, null_range })
    };
    [EpsilonEstimator::Mean, EpsilonEstimator::TwoGaussians]
        .into_iter()
        .filter_map(estimate)
        .collect()
}

fn finish(
    args: &FederatedArgs,
    report: OneShotReport,
    tails: &NullTails,
    started: std::time::Instant,
) -> CommandResult {
    let report = OneShotReport { elapsed_ms: started.elapsed().as_secs_f64() * 1e3, ..report };
    if args.show.json {
        print_json(&report)?;
    } else if args.brief {
        print_text(&one_shot_brief_text(&report))?;
    } else {
        print_text(&one_shot_text(&report))?;
    }
    if let Some(path) = &args.plot {
        let scores: Vec<f64> = tails.normal_scores().collect();
        write_drawing(path, &one_shot_svg(&scores, &report))?;
    }
    Ok(args.claim.exit(report.verdict, !report.findings.is_empty()))
}

/// The name of the option in front of a message that starts with the argument.
fn option_of(error: dpscope_core::audit::one_shot::OneShotError) -> Failure {
    use dpscope_core::audit::one_shot::OneShotError;
    match &error {
        OneShotError::Canaries { .. }
        | OneShotError::Dimension { .. }
        | OneShotError::Delta { .. }
        | OneShotError::Significance { .. } => Failure::input(format!("--{error}")),
        OneShotError::Inclusion { .. } => Failure::input(format!("--design: {error}")),
        _ => Failure::input(error),
    }
}

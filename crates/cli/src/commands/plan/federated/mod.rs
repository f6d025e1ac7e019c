//! `dpscope plan federated`: sizes of an audit with canary clients, and a committed plan.

mod args;

pub(crate) use args::FederatedPlanArgs;

use std::path::Path;

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::CanaryClass;
use dpscope_core::audit::one_shot::{
    AnyMechanism, CanaryDesign, CosineNull, GaussianLeak, most_canaries,
};
use dpscope_core::format::given;
use dpscope_core::gdp::{gdp_epsilon, gdp_mu_for};
use dpscope_report::record::{FederatedCommitment, FederatedPlan, FederatedSize, FederatedSizes};
use dpscope_report::text::federated_sizes_text;

use crate::commands::audit::federated::{DesignArg, option_of, option_of_design, server_rounds};
use crate::committed::CANARIES;
use crate::failure::{CommandResult, Exit, Failure};
use crate::federated_plan::{self, CommittedFederatedPlan};
use crate::files::write_text;
use crate::new_files::write_new_files;
use crate::output::{print_json, print_text};

/// The most canaries that it lists: 20 MB.
const MOST_LISTED: f64 = 1e6;

pub(crate) fn run(args: &FederatedPlanArgs) -> CommandResult {
    let design = match args.design {
        DesignArg::Poisson(_) | DesignArg::Fixed(Some(_)) => args.design.design(0),
        DesignArg::Fixed(None) => {
            return Err(Failure::input("--design is fixed; pass the number: fixed:1000"));
        }
        DesignArg::Bernoulli(..) => {
            return Err(Failure::input(
                "--design is bernoulli, whose empty slots need clients with zero updates; pass \
                 poisson:MEAN, or draw the coins yourself and audit the cosines",
            ));
        }
    };
    let (delta, significance) = (args.statement.delta, args.statement.significance());
    let server_rounds = server_rounds(args.attacker, args.server_rounds)?;
    let has_classes = !(args.weights.is_empty() && args.loudness.is_empty());
    if has_classes && design.mean() > MOST_LISTED {
        return Err(Failure::input(format!(
            "--design has {} canaries, and --weights and --loudness list each in {CANARIES}; plan at \
             most {} with them",
            given(design.mean()),
            given(MOST_LISTED)
        )));
    }
    let mus = mus(args, delta)?;
    let sizes = canary_sizes(design, server_rounds, (delta, significance), mus)?;
    let committed = match (&args.out, args.dimension) {
        (Some(folder), Some(dimension)) => {
            CosineNull::new(dimension).map_err(option_of)?;
            let plan = FederatedPlan {
                schema: FederatedPlan::SCHEMA.to_owned(),
                dimension,
                design,
                adjacency: Adjacency::AddRemove,
                attacker: args.attacker.into(),
                server_rounds,
                delta,
                significance,
                weights: declared("--weights", &args.weights)?,
                loudness: declared("--loudness", &args.loudness)?,
            };
            Some(commit(folder, plan)?)
        }
        _ => None,
    };
    let sizes = FederatedSizes { committed, ..sizes };
    if args.json {
        print_json(&sizes)?;
    } else {
        print_text(&federated_sizes_text(&sizes))?;
    }
    Ok(Exit::Done)
}

/// What a Gaussian leak is expected to show.
pub(super) fn canary_sizes(
    design: CanaryDesign,
    server_rounds: u64,
    (delta, significance): (f64, f64),
    mus: Vec<f64>,
) -> Result<FederatedSizes, Failure> {
    let rule = AnyMechanism::new(design).and_then(|any| any.simultaneous_rule(delta, significance));
    let rule = rule.map_err(option_of_design)?;
    let row = |gdp_mu: f64| -> Result<FederatedSize, Failure> {
        let leak = GaussianLeak::new(gdp_mu).map_err(option_of_design)?;
        let true_epsilon = gdp_epsilon(gdp_mu, delta).map_err(Failure::input)?;
        let median = leak.epsilon_shown(&rule, design.mean(), 0.5, server_rounds);
        let median_epsilon = median.map_err(option_of_design)?;
        Ok(FederatedSize { gdp_mu, true_epsilon, median_epsilon })
    };
    let most = most_canaries(delta, significance * design.significance_factor());
    let most = most.map_err(option_of_design)?;
    Ok(FederatedSizes {
        schema: "dpscope.federated_sizes/1",
        canaries: design.mean(),
        delta,
        significance,
        most_canaries: most.is_finite().then_some(most),
        rows: mus.into_iter().map(row).collect::<Result<_, _>>()?,
        committed: None,
        pool: None,
    })
}

fn commit(folder: &Path, plan: FederatedPlan) -> Result<FederatedCommitment, Failure> {
    let written = write_new_files(folder, &federated_plan::FILES, |unfinished| {
        let (committed, commitment) = federated_plan::commit(unfinished, plan)?;
        let has_classes = write_classes(unfinished, &committed)?;
        Ok((committed, commitment, has_classes))
    });
    let (committed, commitment, has_classes) = written?;
    let classes = has_classes.then(|| folder.join(CANARIES).display().to_string());
    let (folder, inserted) = (folder.display().to_string(), committed.inserted());
    Ok(FederatedCommitment { folder, commitment, inserted, classes })
}

/// Writes what each canary reports and sends; false without classes.
fn write_classes(folder: &Path, committed: &CommittedFederatedPlan) -> Result<bool, Failure> {
    let columns = [("weight", CanaryClass::Weight), ("loudness", CanaryClass::Loudness)];
    let columns: Vec<_> =
        columns.into_iter().filter(|&(_, class)| committed.declared(class, 0).is_some()).collect();
    if columns.is_empty() {
        return Ok(false);
    }
    let mut text = "canary".to_owned();
    columns.iter().for_each(|(name, _)| text.extend([",", name]));
    for canary in 0..committed.inserted() {
        text.push_str(&format!("\n{canary}"));
        for number in columns.iter().filter_map(|&(_, class)| committed.declared(class, canary)) {
            text.push_str(&format!(",{}", number.value));
        }
    }
    text.push('\n');
    write_text(&folder.join(CANARIES), &text)?;
    Ok(true)
}

/// Numbers that canaries declare.
fn declared(option: &str, numbers: &[f64]) -> Result<Vec<f64>, Failure> {
    match numbers.iter().find(|&&number| !(number > 0.0 && number < 1e15)) {
        None => Ok(numbers.to_vec()),
        Some(&number) => Err(Failure::input(format!(
            "{option} has {}; it must be positive and below 1e15",
            given(number)
        ))),
    }
}

/// The μ of the table.
fn mus(args: &FederatedPlanArgs, delta: f64) -> Result<Vec<f64>, Failure> {
    if let Some(&mu) = args.mu.iter().find(|&&mu| !(mu > 0.0 && mu <= 100.0)) {
        return Err(Failure::input(format!("--mu is {}; it must lie in (0, 100]", given(mu))));
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

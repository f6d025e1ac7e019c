//! `dpscope plan secrets`: what secrets are expected to show, and committed ones.

use std::path::{Path, PathBuf};

use clap::Args;
use dpscope_core::audit::drawn::DrawnDesign;
use dpscope_core::audit::one_run::{CanaryGame, Guesses};
use dpscope_formats::{CoinSeed, write_secrets};
use dpscope_recorded::hex;
use dpscope_report::record::{DrawnSizes, SecretCommitment, SecretPlan};

use super::drawn::{ExpectedArgs, print, sizes};
use crate::args::positive;
use crate::canary_plan::{new_seed, text_of, write_commitment};
use crate::commands::audit::one_run::DirectionArg;
use crate::committed::{COMMITMENT, PLAN, SECRETS, SEED, VALUES};
use crate::failure::{CommandResult, Failure};
use crate::files::write_secret;
use crate::new_files::write_new_files;
use crate::secret_plan;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  dpscope plan secrets --records 200 --values 1e6\n  \
        dpscope plan secrets --records 200 --values 1e12 --decoys 999 --out plan")]
pub(crate) struct SecretsPlanArgs {
    /// Number of records with a secret.
    #[arg(long, value_name = "M", value_parser = positive)]
    pub(crate) records: u64,
    /// Number of values from which each secret is drawn.
    #[arg(long, value_name = "S", value_parser = positive)]
    pub(crate) values: u64,
    /// Number of decoys of each secret, at most half of the values; attacks then rank the secret among these.
    #[arg(long, value_name = "R", value_parser = positive)]
    pub(crate) decoys: Option<u64>,
    /// Values named for each secret [default: several numbers tested together; in the table the best one].
    #[arg(long, value_name = "J", value_parser = positive)]
    pub(crate) list_length: Option<u64>,
    /// Guess this many secrets, those with the clearest lists; for --out [default: all].
    #[arg(long, value_name = "K", value_parser = positive, requires = "out")]
    pub(crate) guesses: Option<u64>,
    /// Which scores indicate the true value; for --out.
    #[arg(long, value_enum, default_value = "higher")]
    pub(crate) direction: DirectionArg,
    /// Draw the secrets, and write plan, secret seed, secrets, decoys and commitment to this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) expected: ExpectedArgs,
}
/// What a plan without a length of lists does.
const RANKS: &str = "The first rows are for the best length of lists, the others for ranks, which are what an \
    audit tests without --list-length. For a claim about adding or removing a record, pass --list-length.";

pub(crate) fn run(args: &SecretsPlanArgs) -> CommandResult {
    let (records, list_length) = (args.records, args.list_length);
    let (values, decoys) = match args.decoys {
        Some(decoys) => (decoys + 1, true),
        None => (args.values, false),
    };
    let design = DrawnDesign::Secrets { records, values, decoys, list_length };
    // before anything is committed: an invalid option would leave a plan behind
    let found = sizes(&args.expected, design)?;
    // without a length the audit tests ranks; the best length is shown beside
    let of_ranks = match list_length {
        None => sizes(&args.expected, DrawnDesign::Ranks { records, values, decoys })?.rows,
        Some(_) => Vec::new(),
    };
    let rule = list_length.is_none().then(|| RANKS.to_owned());
    let rows = found.rows.into_iter().chain(of_ranks).collect();
    let sizes = DrawnSizes { rows, rule, ..found };
    let (delta, significance) = (sizes.delta, sizes.significance);
    let coins = CanaryGame::coins(records).and_then(|game| Guesses::new(game, records, records));
    let ceiling = coins.and_then(|all| all.ceiling(delta, significance));
    let plan = SecretPlan {
        schema: SecretPlan::SCHEMA.to_owned(),
        records,
        values: args.values,
        decoys: args.decoys,
        list_length,
        guesses: args.guesses,
        direction: args.direction.into(),
        delta,
        significance,
    };
    secret_plan::check(&plan).map_err(Failure::input)?;
    let committed = |folder: &PathBuf| -> Result<SecretCommitment, Failure> {
        let commitment = commit(folder, &plan)?;
        Ok(SecretCommitment { folder: folder.display().to_string(), commitment })
    };
    let committed = args.out.as_ref().map(committed).transpose()?;
    let coins_ceiling = Some(ceiling.map_err(Failure::input)?);
    print(&args.expected, DrawnSizes { coins_ceiling, committed, ..sizes })
}

/// Draws a seed, writes the files of a plan that was checked, and returns the commitment.
fn commit(folder: &Path, plan: &SecretPlan) -> Result<String, Failure> {
    write_new_files(folder, &[PLAN, SEED, SECRETS, VALUES, COMMITMENT], |folder| {
        let bytes = new_seed()?;
        let seed = CoinSeed::new(bytes);
        let text = text_of(plan)?;
        let commitment = hex(&seed.secret_commitment(text.as_bytes()));
        write_commitment(folder, &text, &bytes, &commitment)?;
        let secrets = seed.secrets(plan.records, plan.values);
        let rows: Vec<Vec<u64>> = secrets.iter().map(|&secret| vec![secret]).collect();
        write_secret(&folder.join(SECRETS), &write_secrets(&rows))?;
        if let Some(decoys) = plan.decoys {
            let of = |(record, &secret): (usize, &u64)| {
                let others = seed.decoys(record as u64, plan.values, decoys);
                std::iter::once(secret).chain(others).collect()
            };
            let rows: Vec<Vec<u64>> = secrets.iter().enumerate().map(of).collect();
            write_secret(&folder.join(VALUES), &write_secrets(&rows))?;
        }
        Ok(commitment)
    })
}

//! `dpscope plan secrets`: what secrets are expected to show, and committed ones.

use std::path::{Path, PathBuf};

use clap::Args;
use dpscope_core::audit::drawn::DrawnDesign;
use dpscope_core::audit::one_run::{CanaryGame, Guesses};
use dpscope_formats::{CoinSeed, write_secrets};
use dpscope_recorded::hex;
use dpscope_report::record::{DrawnSizes, SecretCommitment, SecretPlan};

use super::drawn::{ExpectedArgs, print, rows, sizes};
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
        dpscope plan secrets --records 200 --values 1e12 --decoys 999 --list-length 1 \\
    \
        --direction lower --out plan")]
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
    #[arg(long, value_enum, default_value = "higher", requires = "out")]
    pub(crate) direction: DirectionArg,
    /// Draw the secrets, and write plan, secret seed, secrets, decoys and commitment to this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) expected: ExpectedArgs,
}

/// What a plan without a length of lists does.
const RANKS: &str = "The first rows are for lists of the best length, the others for ranks, which audit secrets \
    tests without --list-length. To test an add/remove claim, pass --list-length.";

pub(crate) fn run(args: &SecretsPlanArgs) -> CommandResult {
    let records = args.records;
    let (values, decoys) = match args.decoys {
        Some(decoys) => (decoys.saturating_add(1), true),
        None => (args.values, false),
    };
    let level = &args.expected.statement;
    let (delta, significance) = (level.delta, level.significance());
    let plan = SecretPlan {
        schema: SecretPlan::SCHEMA.to_owned(),
        records,
        values: args.values,
        decoys: args.decoys,
        list_length: args.list_length,
        guesses: args.guesses,
        direction: args.direction.into(),
        delta,
        significance,
    };
    secret_plan::check(&plan).map_err(Failure::input)?;
    // a number of guesses alone is of lists of one value
    let list_length = args.list_length.or(args.guesses.map(|_| 1));
    let found =
        sizes(&args.expected, DrawnDesign::Secrets { records, values, decoys, list_length })?;
    // without a length the audit tests ranks; the best length is shown beside
    let ranks = DrawnDesign::Ranks { records, values, decoys };
    let of_ranks = match list_length {
        None => rows(&args.expected, ranks)?,
        Some(_) => Vec::new(),
    };
    let coins = CanaryGame::coins(records).and_then(|game| Guesses::new(game, records, records));
    let ceiling = coins.and_then(|all| all.ceiling(delta, significance));
    let coins_ceiling = Some(ceiling.map_err(Failure::input)?);
    // last: an invalid option would leave a plan behind
    let committed = |folder: &PathBuf| -> Result<SecretCommitment, Failure> {
        let commitment = commit(folder, &plan)?;
        Ok(SecretCommitment { folder: folder.display().to_string(), commitment })
    };
    let committed = args.out.as_ref().map(committed).transpose()?;
    let rule = list_length.is_none().then(|| RANKS.to_owned());
    let rows = found.rows.into_iter().chain(of_ranks).collect();
    print(&args.expected, DrawnSizes { rows, rule, coins_ceiling, committed, ..found })
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

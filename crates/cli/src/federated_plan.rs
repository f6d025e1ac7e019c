//! The folder of a committed plan of canary clients: `plan.json`, `seed.secret`, `commitment.txt`.

use std::path::Path;

use dpscope_formats::CoinSeed;
use dpscope_recorded::FederatedPlanFiles;
pub(crate) use dpscope_recorded::{CONTROL, CommittedFederatedPlan};
use dpscope_report::record::FederatedPlan;

use crate::canary_plan::{Content, MOST_BYTES, new_seed, text_of, write_commitment};
use crate::committed::{CANARIES, COMMITMENT, PLAN, SCORED, SEED};
use crate::failure::Failure;
use crate::files::{limits, read_own_text, write_text};
use crate::host;

/// The files of a plan, which must be new.
pub(crate) const FILES: [&str; 4] = [PLAN, SEED, COMMITMENT, CANARIES];

/// Draws a seed, writes plan, secret and commitment, and returns the plan with the commitment.
pub(crate) fn commit(
    folder: &Path,
    plan: FederatedPlan,
) -> Result<(CommittedFederatedPlan, String), Failure> {
    let bytes = new_seed()?;
    let text = text_of(&plan)?;
    let seed = CoinSeed::new(bytes);
    let commitment = CommittedFederatedPlan::commitment(&seed, text.as_bytes());
    write_commitment(folder, &text, &bytes, &commitment)?;
    Ok((CommittedFederatedPlan::new(plan, &seed), commitment))
}

/// Reads a plan and checks its commitment.
pub(crate) fn open(folder: &Path) -> Result<CommittedFederatedPlan, Failure> {
    let limits = limits();
    let [plan, seed, commitment] =
        [PLAN, SEED, COMMITMENT].map(|name| Content::of_plan(&folder.join(name), MOST_BYTES));
    let (plan, seed, commitment) = (plan?, seed?, commitment?);
    Ok(CommittedFederatedPlan::open(&FederatedPlanFiles {
        plan: plan.file(&limits),
        seed: seed.file(&limits),
        commitment: commitment.file(&limits),
    })?)
}

/// Whether another object was audited with this plan before; remembers this one.
pub(crate) fn is_second(folder: &Path, digest: &str) -> Result<bool, Failure> {
    let path = folder.join(SCORED);
    if host::exists(&path) {
        return Ok(read_own_text(&path, MOST_BYTES)?.trim() != digest);
    }
    write_text(&path, &format!("{digest}\n"))?;
    Ok(false)
}

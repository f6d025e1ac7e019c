//! The folder of a plan of secrets: `plan.json`, `seed.secret`, `secrets.npy`, `values.npy`, `commitment.txt`.

use std::path::Path;

use dpscope_formats::{CoinSeed, write_secrets};
use dpscope_recorded::{hex, unhex};
use dpscope_report::number::{counted, grouped};
use dpscope_report::record::SecretPlan;

use crate::canary_plan::{MOST_BYTES, MOST_COINS};
use crate::committed::{COMMITMENT, PLAN, SECRETS, SEED, VALUES};
use crate::failure::{Exit, Failure};
use crate::files::{limits, read_own, read_own_text};
use crate::host;

/// Reads a plan and checks its commitment.
pub(crate) fn open(folder: &Path) -> Result<(SecretPlan, String), Failure> {
    let path = folder.join(PLAN);
    let text = read_own_text(&path, MOST_BYTES)?;
    let plan: SecretPlan = serde_json::from_str(&text).map_err(|error| {
        let error = dpscope_core::foreign_text::ForeignText::of(error);
        Failure::input(format!("is not a plan of secrets: {error}")).about(&path)
    })?;
    check(&plan).map_err(|problem| Failure::input(problem).about(&path))?;
    let seed_path = folder.join(SEED);
    let seed = unhex(read_own_text(&seed_path, MOST_BYTES)?.trim());
    let seed =
        seed.and_then(|bytes| bytes.try_into().ok()).map(CoinSeed::new).ok_or_else(|| {
            Failure::input("is not a seed: expected 64 hexadecimal digits").about(&seed_path)
        })?;
    let commitment = hex(&seed.secret_commitment(text.as_bytes()));
    let stated_path = folder.join(COMMITMENT);
    if read_own_text(&stated_path, MOST_BYTES)?.trim() != commitment {
        let problem = format!(
            "is not the commitment to this plan and seed ({commitment}): one of them was changed after secrets \
             were committed, so there is no bound"
        );
        return Err(Failure::with(Exit::Artefact, problem).about(&stated_path));
    }
    let secrets = seed.secrets(plan.records, plan.values);
    let drawn = |record: u64, decoys: u64| -> Vec<u64> {
        let others = seed.decoys(record, plan.values, decoys);
        std::iter::once(secrets[record as usize]).chain(others).collect()
    };
    for (name, decoys) in [(SECRETS, Some(0)), (VALUES, plan.decoys)] {
        let path = folder.join(name);
        let Some(decoys) = decoys.filter(|_| host::exists(&path)) else { continue };
        let rows: Vec<Vec<u64>> = (0..plan.records).map(|record| drawn(record, decoys)).collect();
        if read_own(&path, &limits())? != write_secrets(&rows) {
            let problem =
                "is not what the seed of the plan draws: it was changed, so there is no bound";
            return Err(Failure::with(Exit::Artefact, problem).about(&path));
        }
    }
    Ok((plan, commitment))
}

/// Rejects plans that draw too many values, or that no audit could follow.
pub(crate) fn check(plan: &SecretPlan) -> Result<(), String> {
    let SecretPlan { records, values, decoys, .. } = *plan;
    if plan.schema != SecretPlan::SCHEMA {
        return Err(format!("is not a plan of this version: {}", SecretPlan::SCHEMA));
    }
    let each = decoys.unwrap_or_default().saturating_add(1);
    if records == 0 || records.checked_mul(each).is_none_or(|all| all > MOST_COINS) {
        return Err(format!(
            "{} records with {} decoys each: at most {} values are drawn in all",
            grouped(records),
            grouped(each - 1),
            grouped(MOST_COINS)
        ));
    }
    let candidates = decoys.map_or(values, |decoys| decoys + 1);
    if values < 2 || decoys == Some(0) {
        return Err("a secret needs at least 2 values, and 1 decoy if there are any".to_owned());
    }
    if let Some(guesses) = plan.guesses.filter(|&guesses| guesses > records) {
        return Err(format!("{} guesses of {}", grouped(guesses), counted(records, "record")));
    }
    if let Some(length) = plan.list_length.filter(|&length| length >= candidates) {
        return Err(format!(
            "lists of {} of {} values; a list has to leave values out",
            grouped(length),
            grouped(candidates)
        ));
    }
    match decoys {
        Some(decoys) if decoys > values / 2 => Err(format!(
            "{} decoys of {} values: at most half of the values can be decoys; leave --decoys out, and rank all \
             values",
            grouped(decoys),
            grouped(values)
        )),
        _ => Ok(()),
    }
}

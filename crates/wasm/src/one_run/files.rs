//! Files of canaries with coins, or with a committed plan.

use dpscope_recorded::{CommittedPlan, File, OneRunFiles, PlanFiles};

use crate::canary_files::RoleFiles;
use crate::failure::Failure;

/// The only file of a role.
pub(super) fn only<'a>(files: &RoleFiles<'a>, role: &'static str) -> Result<File<'a>, Failure> {
    match files.all(role).count() {
        0 | 1 => files.wanted(role),
        _ => Err(Failure::input(role, &["has several files; without coins, there is one run"])),
    }
}

pub(super) fn with_coins<'a>(files: &RoleFiles<'a>) -> OneRunFiles<'a> {
    OneRunFiles {
        scores: files.all("scores").collect(),
        coins: files.get("coins").filter(|_| files.get("plan").is_none()),
        sets: files.get("sets"),
        baseline: files.get("baseline"),
        canaries: files.get("canaries"),
        base_data: files.get("base_data"),
    }
}

/// The plan with its seed; the commitment, and coins where there are some, are compared.
pub(super) fn plan(files: &RoleFiles<'_>) -> Result<Option<CommittedPlan>, Failure> {
    let Some(plan) = files.get("plan") else { return Ok(None) };
    let of_plan = PlanFiles {
        plan,
        seed: files.wanted("seed")?,
        commitment: files.wanted("commitment")?,
        nonce: files.get("nonce"),
        coins: files.get("coins"),
    };
    CommittedPlan::open(&of_plan).map(Some).map_err(|error| files.refused(error))
}

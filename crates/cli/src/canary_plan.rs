//! The folder of a committed plan: `plan.json`, `seed.secret`, `coins.npy`, `commitment.txt`.

use std::fs;
use std::path::Path;

use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::{CanariesDigest, CoinSeed, FormatError};
pub(crate) use dpscope_recorded::{CommittedPlan, MOST_COINS, hex};
use dpscope_recorded::{File, PlanFiles, unhex};
use dpscope_report::record::OneRunPlan;

use crate::committed::{COINS, COMMITMENT, NONCE, PLAN, SCORED, SEED};
use crate::failure::{Exit, Failure};
use crate::files::{
    cannot_write, limits, read, read_own, read_own_text, read_text, write_secret, write_text,
};
use crate::host;
use crate::new_files::write_new_files;

/// Larger plans and seeds are no plans.
pub(crate) const MOST_BYTES: u64 = dpscope_recorded::MOST_PLAN_BYTES as u64;

/// Draws a seed, writes the files of a plan, and returns the commitment.
pub(crate) fn commit(folder: &Path, plan: &OneRunPlan) -> Result<String, Failure> {
    write_new_files(folder, &[PLAN, SEED, COINS, COMMITMENT], |folder| {
        let bytes = new_seed()?;
        let seed = CoinSeed::new(bytes);
        let text = text_of(plan)?;
        let (limits, path) = (limits(), folder.join(PLAN));
        let name = path.display().to_string();
        let file = File { name: &name, bytes: text.as_bytes(), limits: &limits };
        let commitment = CommittedPlan::commitment(&seed, plan, &file)?;
        write_commitment(folder, &text, &bytes, &commitment)?;
        write_coins(folder, &CommittedPlan { plan: plan.clone(), seed, nonce: Vec::new() })?;
        Ok(commitment)
    })
}

/// The bytes of a plan, which the commitment covers.
pub(crate) fn text_of(plan: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(plan);
    Ok(text.map_err(|error| Failure::with(Exit::Internal, error))? + "\n")
}

/// A fresh secret.
pub(crate) fn new_seed() -> Result<[u8; 32], Failure> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        Failure::with(Exit::Internal, format!("no entropy from the system ({error})"))
    })?;
    Ok(bytes)
}

/// Writes plan, secret and commitment.
pub(crate) fn write_commitment(
    folder: &Path,
    plan: &str,
    seed: &[u8; 32],
    commitment: &str,
) -> Result<(), Failure> {
    write_text(&folder.join(PLAN), plan)?;
    write_secret(&folder.join(SEED), format!("{}\n", hex(seed)).as_bytes())?;
    write_text(&folder.join(COMMITMENT), &format!("{commitment}\n"))
}

/// Draws the coins of a committed plan again, with bytes that were published after the commitment; returns
/// the plan and its commitment.
pub(crate) fn add_nonce(folder: &Path, nonce: &str) -> Result<(OneRunPlan, String), Failure> {
    let nonce = unhex(nonce).filter(|bytes| !bytes.is_empty()).ok_or_else(|| {
        Failure::input(format!(
            "--nonce is `{}`; expected bytes in hexadecimal, two digits (0-9, a-f) for each, such as 00ff",
            ForeignText::new(nonce)
        ))
    })?;
    if !folder.join(PLAN).exists() {
        let problem = "has no plan for the nonce: commit one first, with --canaries FILE and --out";
        return Err(Failure::input(problem).about(folder));
    }
    if folder.join(NONCE).exists() {
        let problem = "exists: the coins of a plan are drawn with one nonce only; for another one, commit \
             a new plan";
        return Err(Failure::input(problem).about(&folder.join(NONCE)));
    }
    if folder.join(SCORED).exists() {
        let problem = "exists: scores of this plan were audited, so its coins are fixed";
        return Err(Failure::input(problem).about(&folder.join(SCORED)));
    }
    let found = CommittedPlan { nonce, ..open(folder, None)? };
    let nonce = hex(&found.nonce);
    // first, so that an interruption leaves no coins of another nonce
    let coins = folder.join(COINS);
    if coins.exists() {
        fs::remove_file(&coins).map_err(|error| cannot_write(&coins, &error))?;
    }
    write_text(&folder.join(NONCE), &format!("{nonce}\n"))?;
    write_coins(folder, &found)?;
    let commitment = read_text(&folder.join(COMMITMENT), MOST_BYTES)?;
    Ok((found.plan, commitment.trim().to_owned()))
}

/// Whether the folder has the secret seed.
pub(crate) fn has_seed(folder: &Path) -> bool {
    folder.join(SEED).exists()
}

/// Bytes of a file with their name.
pub(crate) struct Content(String, Vec<u8>);

impl Content {
    pub(crate) fn read(path: &Path, most_bytes: u64) -> Result<Self, Failure> {
        let limits = dpscope_formats::Limits { max_bytes: most_bytes, ..limits() };
        Ok(Self(path.display().to_string(), read(path, &limits)?))
    }

    /// Reads a file of a plan. Outputs do not inherit its permissions, since they show no secrets.
    pub(crate) fn of_plan(path: &Path, most_bytes: u64) -> Result<Self, Failure> {
        let limits = dpscope_formats::Limits { max_bytes: most_bytes, ..limits() };
        Ok(Self(path.display().to_string(), read_own(path, &limits)?))
    }

    fn present(path: &Path, most_bytes: u64) -> Result<Option<Self>, Failure> {
        host::exists(path).then(|| Self::of_plan(path, most_bytes)).transpose()
    }

    pub(crate) fn file<'a>(&'a self, limits: &'a dpscope_formats::Limits) -> File<'a> {
        File { name: &self.0, bytes: &self.1, limits }
    }
}

/// Reads a plan and checks its commitment; the seed is in the folder, or in another file.
pub(crate) fn open(folder: &Path, seed: Option<&Path>) -> Result<CommittedPlan, Failure> {
    let limits = limits();
    let plan = Content::of_plan(&folder.join(PLAN), MOST_BYTES)?;
    let seed = Content::of_plan(seed.unwrap_or(&folder.join(SEED)), MOST_BYTES)?;
    let commitment = Content::of_plan(&folder.join(COMMITMENT), MOST_BYTES)?;
    let nonce = Content::present(&folder.join(NONCE), MOST_BYTES)?;
    let coins = Content::present(&folder.join(COINS), limits.max_bytes)?;
    Ok(CommittedPlan::open(&PlanFiles {
        plan: plan.file(&limits),
        seed: seed.file(&limits),
        commitment: commitment.file(&limits),
        nonce: nonce.as_ref().map(|content| content.file(&limits)),
        coins: coins.as_ref().map(|content| content.file(&limits)),
    })?)
}

/// Remembers the audited scores, run by run; scores that were refused leave the plan as it is.
pub(crate) fn remember(folder: &Path, digests: &[String]) -> Result<(), Failure> {
    if audited(folder)?.len() >= digests.len() {
        return Ok(());
    }
    write_text(&folder.join(SCORED), &(digests.join("\n") + "\n"))
}

fn write_coins(folder: &Path, plan: &CommittedPlan) -> Result<(), Failure> {
    write_secret(&folder.join(COINS), &plan.coins_file())
}

/// Digests of the scores of a plan that were audited.
pub(crate) fn audited(folder: &Path) -> Result<Vec<String>, Failure> {
    let path = folder.join(SCORED);
    if !host::exists(&path) {
        return Ok(Vec::new());
    }
    let text = read_own_text(&path, MOST_BYTES)?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// Checks canaries against a plan.
pub(crate) fn check_canaries(plan: &OneRunPlan, path: &Path) -> Result<(), Failure> {
    let limits = limits();
    let canaries = Content::read(path, limits.max_bytes)?;
    Ok(CommittedPlan::check_canaries(plan, &canaries.file(&limits))?)
}

/// Checks canaries against a plan whose seed is not revealed yet.
pub(crate) fn check_published(folder: &Path, canaries: &Path) -> Result<(), Failure> {
    let limits = limits();
    let plan = Content::read(&folder.join(PLAN), MOST_BYTES)?;
    check_canaries(&dpscope_recorded::read_plan(&plan.file(&limits))?, canaries)
}

/// SHA-256 of the arrays of a file, hexadecimal.
pub(crate) fn digest_of_file(path: &Path) -> Result<String, Failure> {
    let bytes = read(path, &limits())?;
    let digest = CanariesDigest::of_file(&bytes, &limits());
    let digest = digest.map_err(|error: FormatError| Failure::from(error).about(path))?;
    Ok(hex(&digest))
}

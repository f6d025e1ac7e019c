//! Files of committed plans, which no output replaces: without them, a plan cannot be audited.

use std::fs;
use std::path::{Path, PathBuf};

use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::{CanariesDigest, Limits};
use dpscope_recorded::{MOST_PLAN_BYTES, hex};
use serde_json::Value;

use crate::failure::Failure;

pub(crate) const PLAN: &str = "plan.json";
pub(crate) const SEED: &str = "seed.secret";
pub(crate) const COINS: &str = "coins.npy";
/// The secrets of records.
pub(crate) const SECRETS: &str = "secrets.npy";
/// The secret of each record and its decoys.
pub(crate) const VALUES: &str = "values.npy";
pub(crate) const COMMITMENT: &str = "commitment.txt";
pub(crate) const NONCE: &str = "nonce.txt";
/// Digest of the first audited scores.
pub(crate) const SCORED: &str = "audited.txt";
/// Canary rows, or what each canary client reports and sends.
pub(crate) const CANARIES: &str = "canaries.csv";
/// Canary rows as an array.
pub(crate) const CANARY_ARRAY: &str = "canaries.npy";
/// The plan of an audit of a generator.
pub(crate) const MANIFEST: &str = "manifest.toml";
/// The folder of the data of each world.
pub(crate) const DATA: &str = "data";

/// Files in the folder of a plan.
const FILES: [&str; 11] = [
    PLAN,
    SEED,
    COINS,
    SECRETS,
    VALUES,
    COMMITMENT,
    NONCE,
    SCORED,
    CANARIES,
    CANARY_ARRAY,
    MANIFEST,
];
/// Subfolders of the plan of a generator audit: the data, and the rows of each world.
const FOLDERS: [&str; 3] = [DATA, "with", "without"];

/// Most folders that are searched for a plan committed to a file of canaries.
const MOST_FOLDERS: usize = 1_000;

/// Refuses an existing file of a committed plan, and canaries to which a nearby plan is committed.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    let Ok(file) = path.canonicalize() else { return Ok(()) };
    let problem = if is_of_plan(&file) {
        "belongs to a committed plan, which is never overwritten; choose another file".to_owned()
    } else if let Some(plan) = plan_of_canaries(&file) {
        format!(
            "contains the canaries to which the plan in {} is committed; choose another file",
            ForeignText::new(plan)
        )
    } else {
        return Ok(());
    };
    Err(Failure::input(problem).about(path))
}

fn is_of_plan(file: &Path) -> bool {
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str().map(str::to_owned));
    let is_one_of =
        |path: &Path, names: &[&str]| name(path).is_some_and(|name| names.contains(&name.as_str()));
    let Some(folder) = file.parent() else { return false };
    let is_plan = |folder: &Path| [COMMITMENT, MANIFEST].iter().any(|n| folder.join(n).exists());
    (is_one_of(file, &FILES) && is_plan(folder))
        || (is_one_of(folder, &FOLDERS)
            && folder.parent().is_some_and(|parent| parent.join(MANIFEST).exists()))
}

/// The folder of a plan committed to these canaries: the folder of the file, or one inside or beside it.
fn plan_of_canaries(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?;
    let inside = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).take(MOST_FOLDERS)
    };
    let beside = folder.parent().into_iter().flat_map(inside);
    let folders = [folder.to_owned()].into_iter().chain(inside(folder)).chain(beside);
    let mut plans = folders.filter_map(|folder| Some((digest_in(&folder)?, folder))).peekable();
    plans.peek()?;
    let bytes = fs::read(file).ok()?;
    let digest = hex(&CanariesDigest::of_file(&bytes, &Limits::default()).ok()?);
    plans.find(|(committed, _)| *committed == digest).map(|(_, folder)| folder)
}

/// The canaries digest of the plan in a folder.
fn digest_in(folder: &Path) -> Option<String> {
    let path = folder.join(PLAN);
    let is_small = fs::metadata(&path).ok()?.len() <= MOST_PLAN_BYTES as u64;
    let plan: Value = serde_json::from_slice(&is_small.then(|| fs::read(&path).ok())??).ok()?;
    Some(plan.get("canaries_digest")?.as_str()?.to_owned())
}

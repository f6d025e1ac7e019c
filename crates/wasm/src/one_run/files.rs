//! Files of canaries: scores with coins, with a committed plan, or with null scores.

use dpscope_formats::Limits;
use dpscope_recorded::{
    CommittedPlan, File, FileError, FileProblem, MOST_PLAN_BYTES, OneRunFiles, PlanFiles,
    RecordedError,
};

use crate::failure::{Failure, FailureKind};
use crate::file::with_remedy;

/// A file with what it contains.
#[derive(Debug, Clone, Copy)]
pub struct RoleFile<'a> {
    /// What it contains, as [`audit_one_run`](super::audit_one_run) lists.
    pub role: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

/// All files of an audit.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunFiles<'a> {
    pub(super) files: &'a [RoleFile<'a>],
    pub(super) limits: &'a Limits,
}

impl<'a> RunFiles<'a> {
    pub(super) fn all(&self, role: &str) -> impl Iterator<Item = File<'a>> {
        let limits = self.limits;
        let of_role = self.files.iter().filter(move |found| found.role == role);
        of_role.map(move |&RoleFile { name, bytes, .. }| File { name, bytes, limits })
    }

    pub(super) fn get(&self, role: &str) -> Option<File<'a>> {
        self.all(role).next()
    }

    pub(super) fn name(&self, role: &str) -> Option<&'a str> {
        self.get(role).map(|file| file.name)
    }

    pub(super) fn wanted(&self, role: &'static str) -> Result<File<'a>, Failure> {
        self.get(role).ok_or_else(|| Failure::missing(role))
    }

    /// The only file of a role.
    pub(super) fn only(&self, role: &'static str) -> Result<File<'a>, Failure> {
        match self.all(role).count() {
            0 | 1 => self.wanted(role),
            _ => Err(Failure::input(role, &["has several files; without coins, there is one run"])),
        }
    }

    pub(super) fn with_coins(&self) -> OneRunFiles<'a> {
        OneRunFiles {
            scores: self.all("scores").collect(),
            coins: self.get("coins").filter(|_| self.get("plan").is_none()),
            sets: self.get("sets"),
            baseline: self.get("baseline"),
            canaries: self.get("canaries"),
            base_data: self.get("base_data"),
        }
    }

    /// The plan with its seed; the commitment, and coins where there are some, are compared.
    pub(super) fn plan(&self) -> Result<Option<CommittedPlan>, Failure> {
        let Some(plan) = self.get("plan") else { return Ok(None) };
        let files = PlanFiles {
            plan,
            seed: self.wanted("seed")?,
            commitment: self.wanted("commitment")?,
            nonce: self.get("nonce"),
            coins: self.get("coins"),
        };
        CommittedPlan::open(&files).map(Some).map_err(|error| self.refused(error))
    }

    /// Digests of the scores that were audited with this plan before.
    pub(super) fn audited(&self) -> Vec<String> {
        let file = self.get("audited").filter(|file| file.bytes.len() <= MOST_PLAN_BYTES);
        let text = file.and_then(|file| std::str::from_utf8(file.bytes).ok()).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    }

    pub(super) fn refused(&self, error: FileError) -> Failure {
        let role = self.files.iter().find(|file| file.name == error.file);
        let message = match &error.problem {
            FileProblem::Format(problem) => format!("{}: {}", error.file, with_remedy(problem)),
            _ => error.to_string(),
        };
        let field = role.and_then(|file| ROLES.into_iter().find(|role| *role == file.role));
        Failure { field, ..Failure::of(FailureKind::File, &message) }
    }

    pub(super) fn rejected(&self, error: RecordedError) -> Failure {
        match error {
            RecordedError::File(error) => self.refused(error),
            RecordedError::CoinsMissing => Failure::missing("coins"),
            RecordedError::CanariesMissing => Failure::missing("canaries"),
            error => Failure::rejected(&error),
        }
    }
}

/// What files contain.
const ROLES: [&str; 13] = [
    "scores",
    "coins",
    "sets",
    "baseline",
    "canaries",
    "base_data",
    "null_scores",
    "pool_scores",
    "plan",
    "seed",
    "commitment",
    "nonce",
    "audited",
];

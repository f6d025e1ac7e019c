//! Files of canaries with their roles, and what pages state about canaries.

use dpscope_core::audit::one_shot::CanaryDesign;
use dpscope_formats::Limits;
use dpscope_recorded::{File, FileError, FileProblem, MOST_PLAN_BYTES, RecordedError};
use js_sys::Uint8Array;

use crate::claim::of_claim;
use crate::failure::{Failure, FailureKind};
use crate::file::with_remedy;

/// A file with what it contains.
#[derive(Debug, Clone, Copy)]
pub struct RoleFile<'a> {
    /// What it contains, as the audits list.
    pub role: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

/// Roles, names and contents, as a page passes them.
pub(crate) struct PageFiles {
    files: Vec<(String, String, Vec<u8>)>,
}

impl PageFiles {
    pub(crate) fn new(
        roles: Vec<String>,
        names: Vec<String>,
        contents: &[Uint8Array],
    ) -> Result<Self, Failure> {
        if roles.len() != names.len() || roles.len() != contents.len() {
            return Err(Failure::of(FailureKind::Internal, "each file needs a role and a name"));
        }
        let contents = contents.iter().map(Uint8Array::to_vec);
        let files = roles.into_iter().zip(names).zip(contents);
        Ok(Self { files: files.map(|((role, name), bytes)| (role, name, bytes)).collect() })
    }

    pub(crate) fn files(&self) -> Vec<RoleFile<'_>> {
        self.files.iter().map(|(role, name, bytes)| RoleFile { role, name, bytes }).collect()
    }
}

/// All files of an audit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoleFiles<'a> {
    pub(crate) files: &'a [RoleFile<'a>],
    pub(crate) limits: &'a Limits,
}

impl<'a> RoleFiles<'a> {
    pub(crate) fn all(&self, role: &str) -> impl Iterator<Item = File<'a>> {
        let limits = self.limits;
        let of_role = self.files.iter().filter(move |found| found.role == role);
        of_role.map(move |&RoleFile { name, bytes, .. }| File { name, bytes, limits })
    }

    pub(crate) fn get(&self, role: &str) -> Option<File<'a>> {
        self.all(role).next()
    }

    pub(crate) fn name(&self, role: &str) -> Option<&'a str> {
        self.get(role).map(|file| file.name)
    }

    pub(crate) fn wanted(&self, role: &'static str) -> Result<File<'a>, Failure> {
        self.get(role).ok_or_else(|| Failure::missing(role))
    }

    /// Digests of the scores that were audited with this plan before.
    pub(crate) fn audited(&self) -> Vec<String> {
        let file = self.get("audited").filter(|file| file.bytes.len() <= MOST_PLAN_BYTES);
        let text = file.and_then(|file| std::str::from_utf8(file.bytes).ok()).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    }

    pub(crate) fn refused(&self, error: FileError) -> Failure {
        let role = self.files.iter().find(|file| file.name == error.file);
        let message = match &error.problem {
            FileProblem::Format(problem) => format!("{}: {}", error.file, with_remedy(problem)),
            _ => error.to_string(),
        };
        let field = role.and_then(|file| ROLES.into_iter().find(|role| *role == file.role));
        Failure { field, ..Failure::of(FailureKind::File, &message) }
    }

    pub(crate) fn rejected(&self, error: RecordedError) -> Failure {
        match error {
            RecordedError::File(error) => self.refused(error),
            RecordedError::CoinsMissing => Failure::missing("coins"),
            RecordedError::CanariesMissing => Failure::missing("canaries"),
            RecordedError::Claim(error) => of_claim(error),
            error => Failure::rejected(&error),
        }
    }
}

/// What files contain.
const ROLES: [&str; 18] = [
    "scores",
    "coins",
    "sets",
    "baseline",
    "canaries",
    "base_data",
    "null_scores",
    "pool_scores",
    "cosines",
    "initial_model",
    "final_model",
    "unseen",
    "control",
    "plan",
    "seed",
    "commitment",
    "nonce",
    "audited",
];

/// How the number of canaries was drawn; none where it was fixed.
pub(crate) fn drawn(
    mean: Option<f64>,
    slots: Option<u64>,
    inclusion: Option<f64>,
) -> Result<Option<CanaryDesign>, Failure> {
    match (mean, slots, inclusion) {
        (None, None, None) => Ok(None),
        (Some(mean), None, None) => Ok(Some(CanaryDesign::Poisson { mean })),
        (None, Some(slots), Some(inclusion)) => {
            Ok(Some(CanaryDesign::Bernoulli { slots, inclusion }))
        }
        _ => Err(Failure::input("mean", &["stands alone, and slots with inclusion"])),
    }
}

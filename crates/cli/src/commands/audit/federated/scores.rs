//! Null probabilities of the canaries, from cosines or from models.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use dpscope_core::audit::one_run::OneRunFinding;
use dpscope_core::audit::one_shot::{CosineNull, NullTails, unseen_finding};
use dpscope_core::random::content_seed;
use dpscope_formats::CanariesDigest;
use dpscope_simulation::{CanaryDirections, ModelChange};

use super::args::option_of;
use super::cosines::Cosines;
use super::model::ModelFile;
use crate::canary_plan::hex;
use crate::failure::{Exit, Failure};
use crate::federated_plan::{CONTROL, CommittedFederatedPlan};

/// Directions that no client sent, whose cosines are tested for uniformity.
pub(super) const UNSEEN: u64 = 200;

/// Null probabilities of the seen canaries.
pub(super) struct CanaryScores {
    pub(super) tails: NullTails,
    /// Where these are limits: exact ones of another statistic, for checks of the protocol.
    pub(super) exact_tails: Option<NullTails>,
    /// Cosines that are numbers.
    pub(super) cosines: Vec<f64>,
    pub(super) inserted: u64,
    /// Cosine of the control client; none in a file of cosines.
    pub(super) control: Option<f64>,
    pub(super) findings: Vec<OneRunFinding>,
}

/// A plan and its folder.
pub(super) struct OpenPlan<'a> {
    pub(super) folder: &'a Path,
    pub(super) committed: CommittedFederatedPlan,
}

impl CanaryScores {
    /// From a file of cosines.
    pub(super) fn of_cosines(
        path: &Path,
        null: &CosineNull,
        server_rounds: u64,
        inserted: Option<u64>,
        plan: Option<&OpenPlan<'_>>,
    ) -> Result<Self, Failure> {
        let file = Cosines::read(path)?;
        let inserted = inserted.unwrap_or(file.len());
        file.check(inserted, path)?;
        let tails = file.tails(null, server_rounds, path)?;
        let cosines = file.known();
        let mut findings = Vec::new();
        if let Some(plan) = plan {
            let digest = format!("{:014x}", content_seed([&file.by_canary(), &[]]));
            if CommittedFederatedPlan::is_second(plan.folder, &digest)? {
                findings.push(OneRunFinding::SecondScores);
            }
        }
        Ok(Self { tails, exact_tails: None, cosines, inserted, control: None, findings })
    }

    /// From the models before and after the training of a plan.
    pub(super) fn of_models(
        initial: &Path,
        last: &[PathBuf],
        null: &CosineNull,
        plan: &OpenPlan<'_>,
    ) -> Result<Self, Failure> {
        let trained = ModelFile::read(last)?;
        let initial = ModelFile::read(&[initial.to_owned()])?;
        trained.check_same(&initial)?;
        let dimension = plan.committed.plan.dimension;
        trained.check_dimension(dimension)?;
        let (before, after) = (initial.parameters(), trained.parameters());
        let Some(change) = ModelChange::between(&before, &after) else {
            let path = last.first().map_or(Path::new(""), PathBuf::as_path);
            let problem = match before == after {
                true => "has the same parameters as --initial: pass the model after the training",
                false => {
                    "differs from --initial by more than f64 holds: pass models that did not diverge"
                }
            };
            return Err(Failure::input(problem).about(path));
        };
        let digest = digest_of(&before, &after);
        if CommittedFederatedPlan::is_second(plan.folder, &digest)? {
            return Err(Failure::with(
                Exit::Artefact,
                "another model, or another initial one, was audited with this plan before: a model trained on these canaries has \
                 no known null distribution; commit a new plan and train again",
            )
            .about(plan.folder));
        }
        let inserted = plan.committed.inserted();
        let seed = plan.committed.direction_seed();
        let cosines = cosines(seed, dimension as usize, &change, inserted + UNSEEN);
        let control = CanaryDirections::new(seed, dimension as usize).cosine(CONTROL, &change);
        let (seen, unseen) = cosines.split_at(inserted as usize);
        let unseen = null.tails(unseen).map_err(option_of)?;
        Ok(Self {
            tails: null.tails(seen).map_err(option_of)?,
            exact_tails: None,
            cosines: seen.to_vec(),
            inserted,
            control: Some(control),
            findings: unseen_finding(&unseen).into_iter().collect(),
        })
    }
}

/// The cosines of canaries 0, 1, …, on all CPU threads; they do not depend on their number.
fn cosines(seed: u64, dimension: usize, change: &ModelChange, canaries: u64) -> Vec<f64> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let each = canaries.div_ceil(threads).max(1);
    let part = |first: u64| {
        let mut directions = CanaryDirections::new(seed, dimension);
        let canaries = first..(first + each).min(canaries);
        canaries.map(|canary| directions.cosine(canary, change)).collect::<Vec<f64>>()
    };
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..canaries)
            .step_by(each as usize)
            .map(|first| scope.spawn(move || part(first)))
            .collect();
        // a panic of a thread is one of this program
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// SHA-256 of all parameters before and after the training, hexadecimal: cosines depend on both.
fn digest_of(before: &[f64], after: &[f64]) -> String {
    let with = |digest: CanariesDigest, name, parameters: &[f64]| {
        let bytes: Vec<u8> = parameters.iter().flat_map(|value| value.to_le_bytes()).collect();
        digest.with_array(name, "<f8", &[parameters.len() as u64], &bytes)
    };
    hex(&with(with(CanariesDigest::default(), "after", after), "before", before).finish())
}

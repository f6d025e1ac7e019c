//! What is saved of runs.

use dpscope_core::adjacency::World;
use dpscope_core::audit::generator::OwnRowLosses;
use dpscope_core::random::stream_of;
use dpscope_engine::{ArtefactError, EngineError, Evidence, join_by_index};
use serde::{Deserialize, Serialize};

use crate::audit::{Audit, AuditedRun};
use crate::trace::{LabelNoise, Reader, Trace, VoteCounts};

/// A run in both worlds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PateGanRun {
    /// Its index in the plan.
    pub run: u64,
    /// With the target and without.
    pub(super) worlds: [SavedRun; 2],
}

/// What cannot be computed again without the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedRun {
    pub(super) features: Vec<f64>,
    released_rows: u64,
    iterations: u32,
    votes: VoteCounts,
    /// None where the division did not change in the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    teacher_rows: Option<Vec<Vec<u64>>>,
    label_noise: LabelNoise,
    teacher_age: u64,
    own_losses: OwnRowLosses,
    readers: Vec<Reader>,
    training_latent: f64,
    output_latent: f64,
}

impl Audit {
    pub(super) fn saved(&self, run: &AuditedRun) -> SavedRun {
        let Trace {
            unit,
            released_rows,
            iterations,
            teacher_rows,
            votes,
            moments: _,
            label_noise,
            teacher_age,
            own_losses,
            readers,
            training_latent,
            output_latent,
        } = run.trace.clone();
        let is_divided = teacher_rows == self.mechanism().rows_of_teachers(unit);
        SavedRun {
            features: run.features.clone(),
            released_rows,
            iterations,
            votes,
            teacher_rows: (!is_divided).then_some(teacher_rows),
            label_noise,
            teacher_age,
            own_losses,
            readers,
            training_latent,
            output_latent,
        }
    }

    pub(super) fn restored(&self, world: World, run: u64, saved: &SavedRun) -> AuditedRun {
        let unit = stream_of(world, run);
        let SavedRun {
            features,
            released_rows,
            iterations,
            votes,
            teacher_rows,
            label_noise,
            teacher_age,
            own_losses,
            readers,
            training_latent,
            output_latent,
        } = saved.clone();
        let trace = Trace {
            unit,
            released_rows,
            iterations,
            teacher_rows: teacher_rows.unwrap_or_else(|| self.mechanism().rows_of_teachers(unit)),
            moments: self.mechanism().moments(world, &votes),
            votes,
            label_noise,
            teacher_age,
            own_losses,
            readers,
            training_latent,
            output_latent,
        };
        AuditedRun { trace, features }
    }

    /// Checks that runs have the numbers that this audit evaluates.
    pub(super) fn check_saved(&self, evidence: &PateGanEvidence) -> Result<(), ArtefactError> {
        let teachers = self.mechanism().settings().teachers as usize;
        let is_whole = |saved: &SavedRun| {
            let VoteCounts { votes, ones, accounted } = &saved.votes;
            saved.features.len() == self.feature_count()
                && [votes, ones, accounted].iter().all(|counts| counts.len() == teachers + 1)
        };
        match evidence.runs.iter().flat_map(|run| &run.worlds).all(is_whole) {
            true => Ok(()),
            false => Err(ArtefactError::WorkloadMismatch {
                what: "its runs are of other data or settings; pass those that the run was started \
                       with",
            }),
        }
    }
}

impl SavedRun {
    /// Whether its numbers are finite, and its counts those of a run.
    fn is_finite(&self) -> bool {
        let OwnRowLosses { sum, squared_ranges, .. } = self.own_losses;
        let squares = self.label_noise.squares;
        let numbers = [self.training_latent, self.output_latent, squares, sum, squared_ranges];
        let VoteCounts { votes, ones, accounted } = &self.votes;
        let mut counts = votes.iter().chain(ones).chain(accounted);
        self.features.iter().chain(&numbers).all(|number| number.is_finite())
            && counts.all(|&count| count <= u32::MAX.into())
            && self.votes.votes.iter().zip(&self.votes.ones).all(|(votes, ones)| ones <= votes)
    }
}

/// Some runs of a plan, in the order of their indices.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PateGanEvidence {
    /// The runs.
    pub runs: Vec<PateGanRun>,
}

impl PateGanEvidence {
    /// Checks what was read from a file.
    pub(super) fn check(&self, runs: u64, units: u64) -> Result<(), &'static str> {
        if !self.is_of(units) {
            return Err("its runs do not match its counted ranges");
        }
        let is_sorted = self.runs.windows(2).all(|pair| pair[0].run < pair[1].run);
        if !is_sorted || self.runs.last().is_some_and(|last| last.run >= runs) {
            return Err("its runs are not in order");
        }
        if !self.runs.iter().flat_map(|run| &run.worlds).all(SavedRun::is_finite) {
            return Err("the numbers of a run are not finite, or its votes do not add up");
        }
        Ok(())
    }
}

impl Evidence for PateGanEvidence {
    fn join(&mut self, other: &Self) -> Result<(), EngineError> {
        join_by_index(&mut self.runs, &other.runs, |run| run.run, "it contains a run twice")
    }

    fn is_of(&self, units: u64) -> bool {
        self.runs.len() as u64 == units
    }
}

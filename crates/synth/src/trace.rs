//! What a run did, for detectors. None of it is released.

use dpscope_core::audit::generator::OwnRowLosses;

/// Who read real rows, other than through a noisy vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "workload", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "workload", serde(rename_all = "snake_case"))]
pub enum Reader {
    /// Teachers, whose votes are noisy.
    Teachers,
    /// The student or the discriminator.
    Student,
    /// The generator's input.
    Generator,
    /// The choice among several outputs.
    Selection,
}

/// Votes and noisy labels of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "workload", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "workload", serde(deny_unknown_fields))]
pub struct VoteCounts {
    /// Number of votes with n₁ teachers for 1, by n₁.
    pub votes: Vec<u64>,
    /// How many of them had the noisy label 1.
    pub ones: Vec<u64>,
    /// How many of them the accountant was told.
    pub accounted: Vec<u64>,
}

/// Noise of labels that teachers were trained with.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "workload", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "workload", serde(deny_unknown_fields))]
pub struct LabelNoise {
    /// Number of labels.
    pub labels: u64,
    /// Sum of the squared noise.
    pub squares: f64,
}

/// What a run did.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// 2·run + world.
    pub unit: u64,
    /// Number of released rows.
    pub released_rows: u64,
    /// Number of iterations.
    pub iterations: u32,
    /// Identifiers of the rows that each teacher had access to; one list for a discriminator.
    pub teacher_rows: Vec<Vec<u64>>,
    /// Votes and noisy labels.
    pub votes: VoteCounts,
    /// α(l) by the mechanism's accountant, l = 1, 2, …; data-dependent.
    pub moments: Vec<f64>,
    /// Noise of training labels; none in a faithful run.
    pub label_noise: LabelNoise,
    /// Steps of a teacher since it was initialised.
    pub teacher_age: u64,
    /// What these steps changed of the teachers' losses, on rows that one teacher alone had access to.
    pub own_losses: OwnRowLosses,
    /// Who read real rows; the teachers alone in a faithful run.
    pub readers: Vec<Reader>,
    /// Mean square of the generator's input in training.
    pub training_latent: f64,
    /// Mean square of the generator's input for the released rows.
    pub output_latent: f64,
}

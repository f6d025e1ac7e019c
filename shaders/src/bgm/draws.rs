//! The raw draws behind an observation's score, for tests that score them by another method.

/// The draws of one observation.
///
/// Entry i of the distribution is x = σ·z with z = `normals[i]` at the target's entry in D, σz − 1
/// there in D′, and σz − gap elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    /// Standard normals, one per entry, epoch-major.
    pub normals: Vec<f32>,
    /// Whether the batch of the entry contains the target (in D′: ⊥ in its place).
    pub target: Vec<bool>,
}

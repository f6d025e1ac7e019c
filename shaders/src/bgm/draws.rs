//! The raw draws behind an observation's score, for oracles that score them by another method.

/// What one observation draws.
///
/// Entry i of the law is x = σ·z with z = `normals[i]` at the target's entry in D, σz − 1 there in
/// D′, and σz − gap elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    /// Standard normals, one an entry, epoch-major.
    pub normals: Vec<f32>,
    /// Whether the target is in the entry's batch (in D′: ⊥ is in its place).
    pub target: Vec<bool>,
}

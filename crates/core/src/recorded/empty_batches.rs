//! Recorded outputs of empty batches.

use super::independence::RecordedRuns;
use super::noiseless::LEAST_OUTPUTS;
use super::noiseless::NoiselessCells;

/// Zeros for each repetition of another value that rounding does not explain.
const MORE_ZEROS: usize = 5;

/// Outputs that are exactly 0, and all finite ones: more zeros than any other value repeats. Noise of a
/// continuous distribution is no value twice; on the grid of rounded outputs, other values near 0 are as
/// frequent as 0. Batches are empty by chance, so the zeros are those of several steps and epochs; cells
/// without noise are left out.
pub(crate) fn no_noise_in_empty_batches(
    worlds: [RecordedRuns<'_>; 2],
    noiseless: &NoiselessCells,
) -> Option<(u64, u64)> {
    let steps = worlds[0].steps();
    let mut zeros: Vec<usize> = Vec::new();
    let mut others: Vec<f64> = Vec::new();
    for run in worlds.iter().flat_map(RecordedRuns::runs) {
        for (cell, &output) in run.iter().enumerate().filter(|(_, o)| o.is_finite()) {
            match output == 0.0 {
                _ if noiseless.contains(cell) => (),
                true => zeros.push(cell),
                false => others.push(output),
            }
        }
    }
    let are_many = |place: &dyn Fn(usize) -> usize, places: usize| {
        places == 1 || zeros.iter().any(|&cell| place(cell) != place(zeros[0]))
    };
    if zeros.len() < LEAST_OUTPUTS
        || !are_many(&|cell| cell % steps, steps)
        || !are_many(&|cell| cell / steps, worlds[0].epochs)
    {
        return None;
    }
    let outputs = (others.len() + zeros.len()) as u64;
    others.sort_unstable_by(f64::total_cmp);
    let most = others.chunk_by(|a, b| a == b).map(<[f64]>::len).max()?;
    (zeros.len() > MORE_ZEROS * most).then_some((zeros.len() as u64, outputs))
}

//! Which canary took part in which server round.

use std::path::Path;

use crate::commands::audit::recorded::with_dataset;
use crate::failure::Failure;

/// The server rounds of each canary, from 0, sorted; from a file with the columns canary and
/// server_round, in which server rounds start at 1.
pub(super) fn read_participation(
    path: &Path,
    canaries: u64,
    server_rounds: usize,
) -> Result<Vec<Vec<usize>>, Failure> {
    let about = |error| Failure::from(error).about(path);
    let (names, rounds) = with_dataset(path, |dataset| {
        let column = |name| dataset.array(name).map(dpscope_formats::Array::into_data);
        Ok((column("canary").map_err(about)?, column("server_round").map_err(about)?))
    })?;
    let refuse = |problem: String| Err(Failure::input(problem).about(path));
    let mut found = vec![Vec::new(); canaries as usize];
    for (row, (&canary, &round)) in names.iter().zip(&rounds).enumerate() {
        let row = row + 1;
        if canary.fract() != 0.0 || !(0.0..canaries as f64).contains(&canary) {
            return refuse(format!(
                "has canary {canary} in row {row}; the plan has {canaries} canaries, numbered from 0"
            ));
        }
        if round.fract() != 0.0 || !(1.0..=server_rounds as f64).contains(&round) {
            return refuse(format!(
                "has server_round {round} in row {row}; there are {server_rounds} updates, \
                 numbered from 1"
            ));
        }
        let rounds = &mut found[canary as usize];
        let round = round as usize - 1;
        if rounds.contains(&round) {
            return refuse(format!(
                "has canary {canary} in server round {} twice; keep one row",
                round + 1
            ));
        }
        rounds.push(round);
    }
    found.iter_mut().for_each(|rounds| rounds.sort_unstable());
    Ok(found)
}

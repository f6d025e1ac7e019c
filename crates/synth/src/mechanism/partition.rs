//! Which rows each teacher has.

use dpscope_core::random::{Purpose, stream_words};

use crate::fault::{Fault, FaultSet};
use crate::mechanism::world::WorldData;

/// Iterations whose words do not overlap those of another unit.
const ITERATIONS: u64 = 1 << 24;

/// Positions of the rows of each teacher, in order.
pub(super) fn teacher_rows(
    data: &WorldData,
    faults: FaultSet,
    seed: u64,
    unit: u64,
    iteration: u32,
) -> Vec<Vec<u32>> {
    let count = data.ids().len();
    let teachers = data.settings.teachers as usize;
    let all = || (0..count as u32).collect::<Vec<_>>();
    if faults.has(Fault::O1) {
        return vec![all()];
    }
    if faults.has(Fault::O2) {
        return vec![all(); teachers];
    }
    let first = if faults.has(Fault::S1) { u64::from(iteration) } else { 0 };
    let first = unit.wrapping_mul(ITERATIONS).wrapping_add(first);
    let mut rows = vec![Vec::new(); teachers];
    for (row, id) in data.ids().iter().enumerate() {
        let teacher = if faults.has(Fault::E2) {
            row * teachers / count
        } else {
            let mut word = [0];
            stream_words(seed, Purpose::GeneratorPartition, *id, first, &mut word);
            ((u64::from(word[0]) * teachers as u64) >> 32) as usize
        };
        rows[teacher].push(row as u32);
    }
    if faults.has(Fault::U1)
        && let Some(last) = rows.last().cloned()
    {
        rows.fill(last);
    }
    rows
}

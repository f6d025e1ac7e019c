//! Duplicated runs.

use std::cmp::Ordering;

use super::{Dependence, IndependenceCheck, IndependenceError, RecordedRuns, RunIndex};
use crate::adjacency::World;

/// Runs that are bit-identical.
#[derive(Debug, Clone, PartialEq)]
pub struct DuplicatedRuns {
    /// The statistic is the number of runs that repeat an earlier one, D before D′.
    pub check: IndependenceCheck,
    /// The first pairs, at most 16: a run and its copy.
    pub examples: Vec<[RunIndex; 2]>,
}

const EXAMPLES: usize = 16;

/// Tests whether runs are bit-identical, within a world or across the two.
///
/// | argument | meaning |
/// |---|---|
/// | `target`, `zero_out` | outputs of D and of D′, runs × epochs × steps |
///
/// # Guarantee
/// Every copy is found. The p-value is a bound (Markov): at most λ ÷ (equal pairs), λ = pairs · cᵈ,
/// for d outputs per run, two of which are the same floating-point number with probability c =
/// spacing ÷ (2√π·standard deviation); the spacing is that of 32-bit floats if all outputs are
/// such. Test `tests/agreement/independence.rs::duplicated_runs_are_detected`. Outputs that were
/// rounded to a few decimals coincide more often: runs of one or two outputs may then be false
/// positives.
///
/// # Errors
/// Worlds whose runs differ in length.
///
/// # Numerics
/// Runs are sorted by a 64-bit hash, then by their bits: n log n hash comparisons. Runs with a
/// value that is not finite are ignored.
pub fn duplicated_runs(
    target: RecordedRuns<'_>,
    zero_out: RecordedRuns<'_>,
) -> Result<DuplicatedRuns, IndependenceError> {
    target.check_shape(zero_out)?;
    let mut rows: Vec<Row<'_>> = [(World::Target, target), (World::ZeroOut, zero_out)]
        .into_iter()
        .flat_map(|(world, runs)| {
            runs.runs().enumerate().map(move |(index, values)| Row::new(world, index, values))
        })
        .filter(|row| row.values.iter().all(|value| value.is_finite()))
        .collect();
    rows.sort_by(|left, right| left.order(right).then(left.place().cmp(&right.place())));

    let (mut copies, mut pairs) = (0_u64, 0.0);
    let mut examples = Vec::new();
    let mut identical = None;
    let runs_of = |rows: &[Row<'_>], world| rows.iter().filter(|row| row.world == world).count();
    let all = [World::Target, World::ZeroOut].map(|world| (world, runs_of(&rows, world)));
    for group in rows.chunk_by(|left, right| left.order(right) == Ordering::Equal) {
        let [first, others @ ..] = group else { continue };
        for (world, runs) in all {
            if runs > 1 && runs_of(group, world) == runs {
                identical = Some(Dependence::IdenticalRuns { runs: runs as u64 });
            }
        }
        copies += others.len() as u64;
        pairs += group.len() as f64 * others.len() as f64 / 2.0;
        for other in others.iter().take(EXAMPLES - examples.len().min(EXAMPLES)) {
            examples.push([first.place(), other.place()]);
        }
    }
    let expected = chance_pairs(&rows, target.run_len());
    let p_value = if copies == 0 { 1.0 } else { expected / pairs };
    let first = examples.first().copied();
    let copied = Dependence::DuplicatedRuns { copies, runs: rows.len() as u64, first };
    let finding = identical.unwrap_or(copied);
    let check = IndependenceCheck::new(copies as f64, p_value, finding);
    Ok(DuplicatedRuns { check, examples })
}

#[derive(Debug)]
struct Row<'a> {
    hash: u64,
    world: World,
    index: usize,
    values: &'a [f64],
}

impl<'a> Row<'a> {
    fn new(world: World, index: usize, values: &'a [f64]) -> Self {
        let hash = values.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |hash, value| {
            let mixed = (hash ^ value.to_bits()).wrapping_mul(0xff51_afd7_ed55_8ccd);
            (mixed ^ (mixed >> 32)).rotate_left(23)
        });
        Self { hash, world, index, values }
    }

    fn order(&self, other: &Self) -> Ordering {
        let bits = |row: &Self| row.values.iter().map(|value| value.to_bits());
        self.hash.cmp(&other.hash).then_with(|| bits(self).cmp(bits(other)))
    }

    fn place(&self) -> RunIndex {
        RunIndex { world: self.world, run: self.index }
    }
}

/// Expected number of equal pairs of continuous outputs that were stored as floats.
fn chance_pairs(rows: &[Row<'_>], run_len: usize) -> f64 {
    let values = || rows.iter().flat_map(|row| row.values.iter().copied());
    let count = (rows.len() * run_len) as f64;
    let mean = values().sum::<f64>() / count;
    let deviation = (values().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count).sqrt();
    let largest = values().fold(0.0, |largest: f64, v| largest.max(v.abs()));
    let single = values().all(|v| f64::from(v as f32).to_bits() == v.to_bits());
    let spacing = largest * f64::from(if single { f32::EPSILON } else { 0.0 }).max(f64::EPSILON);
    if deviation <= spacing {
        return 0.0; // constant outputs, which noise never yields
    }
    let coincide = spacing / (2.0 * std::f64::consts::PI.sqrt() * deviation);
    let n = rows.len() as f64;
    let mut expected = n * (n - 1.0) / 2.0;
    for _ in 0..run_len.min(64) {
        expected *= coincide.min(1.0);
    }
    expected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(target: &[f64], zero_out: &[f64], steps: usize) -> DuplicatedRuns {
        let view = |values| RecordedRuns::new(values, 1, steps).unwrap();
        duplicated_runs(view(target), view(zero_out)).unwrap()
    }

    #[test]
    fn copies_are_found_within_and_across_worlds() {
        let target = [0.11, 0.22, 0.33, 0.44, 0.11, 0.22];
        let zero_out = [0.55, 0.66, 0.33, 0.44];
        let found = check(&target, &zero_out, 2);
        assert_eq!(found.check.statistic, 2.0);
        assert_eq!(found.examples.len(), 2);
        let place = |world, run| RunIndex { world, run };
        let pair = [place(World::Target, 0), place(World::Target, 2)];
        assert!(found.examples.contains(&pair));
        assert!(found.examples.contains(&[place(World::Target, 1), place(World::ZeroOut, 1)]));
        let Some(Dependence::DuplicatedRuns { copies: 2, runs: 5, first: Some(_) }) =
            found.check.finding
        else {
            unreachable!("{:?}", found.check.finding)
        };
    }

    #[test]
    fn one_bit_makes_runs_different() {
        let found = check(&[1.0, 2.0, 1.0, 2.0_f64.next_up()], &[-1.0, 2.0], 2);
        assert_eq!((found.check.statistic, found.check.p_value), (0.0, 1.0));
    }

    #[test]
    fn failed_runs_and_no_runs_are_no_copies() {
        assert_eq!(check(&[f64::NAN; 6], &[f64::INFINITY; 4], 2).check.statistic, 0.0);
        assert_eq!(check(&[], &[], 2).check.p_value, 1.0);
    }

    #[test]
    fn identical_runs_of_a_world_are_named_as_such() {
        let noisy: Vec<f64> = (0..40).map(|i| f64::from(i * i % 37) / 7.0).collect();
        let finding = |target: &[f64], zero_out: &[f64]| check(target, zero_out, 2).check.finding;
        for value in [3.0, 0.0] {
            let expected = Some(Dependence::IdenticalRuns { runs: 4 });
            assert_eq!(finding(&[value; 8], &noisy), expected);
            assert_eq!(finding(&noisy, &[value; 8]), expected);
            assert_eq!(finding(&[value; 8], &[value; 8]), expected);
        }
        let one_seed = [0.25, -1.5].repeat(9);
        assert_eq!(finding(&one_seed, &noisy), Some(Dependence::IdenticalRuns { runs: 9 }));
        let two_seeds = [0.25, -1.5, 0.5, 2.0].repeat(9);
        assert!(matches!(finding(&two_seeds, &noisy), Some(Dependence::DuplicatedRuns { .. })));
        assert_eq!(finding(&noisy[..2], &noisy[2..]), None);
    }

    #[test]
    fn many_copies_have_sixteen_examples() {
        let mut target: Vec<f64> = (0..40).map(|i| f64::from(i) / 7.0).collect();
        target.extend(target.clone());
        let found = check(&target, &[], 1);
        assert_eq!((found.check.statistic, found.examples.len()), (40.0, 16));
    }

    #[test]
    fn worlds_must_have_one_shape() {
        let left = RecordedRuns::new(&[1.0, 2.0], 1, 2).unwrap();
        let right = RecordedRuns::new(&[1.0, 2.0], 1, 1).unwrap();
        let error = duplicated_runs(left, right).unwrap_err();
        assert_eq!(error, IndependenceError::WorldShapes { target: 2, zero_out: 1 });
    }
}

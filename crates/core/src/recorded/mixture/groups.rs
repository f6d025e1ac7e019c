//! Outputs whose order does not matter, grouped by world and by whether the target may be in them.

use crate::adjacency::World;

/// From this many outputs on, nearly equal ones are replaced by their mean.
const MOST_SINGLE: usize = 5_000;

/// Nearly equal: within this share of the spread of the middle half, in standard deviations. The
/// variance changes by a share of (1/64)²/12 = 2e-5.
const NEAR: f64 = 1.0 / 64.0;

/// Quartile of the standard normal distribution.
const QUARTILE: f64 = 0.674_489_750_196_081_7;

/// Whether the batches of a group contain the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// With the chance that is a parameter.
    Drawn,
    /// In every run.
    Always,
    /// In none.
    Never,
}

/// Outputs of one world that have the same distribution.
#[derive(Debug, Clone)]
pub(crate) struct OutputGroup {
    pub(super) world: World,
    pub(super) presence: Presence,
    pub(super) values: Vec<f64>,
    /// Outputs behind each value.
    pub(super) counts: Vec<f64>,
    pub(super) total: f64,
}

impl OutputGroup {
    /// A group; of many outputs, nearly equal ones are replaced by their mean.
    pub(crate) fn new(world: World, presence: Presence, outputs: Vec<f64>) -> Self {
        let total = outputs.len() as f64;
        let (values, counts) = match outputs.len() > MOST_SINGLE {
            true => merged(outputs),
            false => {
                let counts = vec![1.0; outputs.len()];
                (outputs, counts)
            }
        };
        OutputGroup { world, presence, values, counts, total }
    }
}

/// Means of nearly equal outputs, and their numbers.
fn merged(mut outputs: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    outputs.sort_unstable_by(f64::total_cmp);
    let [first, third] = [1, 3].map(|quarter| outputs[quarter * outputs.len() / 4]);
    let width = NEAR * (third - first) / (2.0 * QUARTILE);
    let (mut values, mut counts) = (Vec::new(), Vec::new());
    for near in outputs.chunk_by(cell(width)) {
        values.push(near.iter().sum::<f64>() / near.len() as f64);
        counts.push(near.len() as f64);
    }
    (values, counts)
}

/// Whether two outputs are in one cell of a grid.
fn cell(width: f64) -> impl Fn(&f64, &f64) -> bool {
    move |a, b| a == b || (a / width).floor() == (b / width).floor()
}

/// Outputs of both worlds.
#[derive(Debug, Clone, Default)]
pub(crate) struct OutputGroups(pub(super) Vec<OutputGroup>);

impl OutputGroups {
    pub(crate) fn push(&mut self, group: OutputGroup) {
        self.0.push(group);
    }

    /// Number of outputs.
    pub(crate) fn total(&self) -> f64 {
        self.0.iter().map(|group| group.total).sum()
    }

    /// All groups of several parts.
    pub(crate) fn joined<'a>(parts: impl IntoIterator<Item = &'a OutputGroups>) -> Self {
        OutputGroups(parts.into_iter().flat_map(|part| part.0.iter().cloned()).collect())
    }

    /// Whether the target is drawn into some of the batches.
    pub(crate) fn has_drawn(&self) -> bool {
        self.0.iter().any(|group| group.presence == Presence::Drawn)
    }

    /// The median of the outputs of a world, and their standard deviation by the middle half.
    pub(super) fn middle(&self) -> Option<(f64, f64)> {
        let mut weighted: Vec<(f64, f64)> = Vec::new();
        for group in &self.0 {
            weighted.extend(group.values.iter().copied().zip(group.counts.iter().copied()));
        }
        weighted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let total = self.total();
        let at = |share: f64| {
            let mut below = 0.0;
            let found = weighted.iter().find(|(_, count)| {
                below += count;
                below >= share * total
            });
            found.map(|(value, _)| *value)
        };
        let spread = (at(0.75)? - at(0.25)?) / (2.0 * QUARTILE);
        Some((at(0.5)?, spread))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::normal;

    #[test]
    fn merged_outputs_have_nearly_the_same_moments() {
        let count = 20_000_u32;
        let at = |i: u32| 3.0 + 0.5 * normal::quantile((f64::from(i) + 0.5) / f64::from(count));
        let group = OutputGroup::new(World::Target, Presence::Drawn, (0..count).map(at).collect());
        assert!(group.values.len() < 1_000, "{}", group.values.len());
        let moment = |power: i32| {
            let of = |(value, count): (&f64, &f64)| count * crate::math::powi(value - 3.0, power);
            group.values.iter().zip(&group.counts).map(of).sum::<f64>() / group.total
        };
        assert_eq!(group.total, 20_000.0);
        assert!(moment(1).abs() < 1e-9 && (moment(2) / 0.25 - 1.0).abs() < 1e-3, "{}", moment(2));
    }

    #[test]
    fn equal_outputs_are_one_value() {
        let group = OutputGroup::new(World::Target, Presence::Drawn, vec![0.25; 6_000]);
        assert_eq!((group.values, group.counts), (vec![0.25], vec![6_000.0]));
    }
}

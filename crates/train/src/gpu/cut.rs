//! Splits long dispatches into parts: drivers kill submissions that run for seconds.

/// A subset of the workgroups of every model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Workgroups along x and y.
    pub(super) groups: [u32; 2],
    /// Index of the first workgroup within a model.
    pub(super) first_group: u32,
    /// Operations, summed over all models.
    pub(super) work: u64,
}

/// The workgroups of a dispatch, split into parts.
///
/// # Guarantee
/// Each workgroup is in exactly one part, and a part stays within its budget if a single line (row
/// or column) of workgroups does (`unit::every_workgroup_is_dispatched_once`).
#[derive(Debug)]
pub(super) struct Parts {
    groups: [u32; 2],
    /// Operations per line, summed over all models: a row of workgroups if there are several,
    /// otherwise a column.
    line_work: u64,
    /// Number of lines already dispatched.
    next: u32,
}

impl Parts {
    /// A dispatch with the given workgroups and operations.
    pub(super) fn new(groups: [u32; 2], work: u64) -> Self {
        let mut parts = Parts { groups, line_work: 0, next: 0 };
        parts.line_work = work.div_ceil(parts.lines().max(1).into()).max(1);
        parts
    }

    fn lines(&self) -> u32 {
        let [columns, rows] = self.groups;
        if rows > 1 { rows } else { columns }
    }

    /// Operations of the remaining lines.
    pub(super) fn remaining(&self) -> u64 {
        u64::from(self.lines() - self.next).saturating_mul(self.line_work)
    }

    /// The next part, of about `budget` operations; `None` at the end.
    pub(super) fn next(&mut self, budget: u64) -> Option<Part> {
        let remaining = self.lines() - self.next;
        if remaining == 0 {
            return None;
        }
        let lines = (budget / self.line_work).clamp(1, remaining.into()) as u32;
        let [columns, rows] = self.groups;
        let (groups, line) = if rows > 1 { ([columns, lines], columns) } else { ([lines, 1], 1) };
        let first_group = self.next * line;
        self.next += lines;
        Some(Part { groups, first_group, work: u64::from(lines).saturating_mul(self.line_work) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first problem with the parts of a dispatch.
    fn problem(groups: [u32; 2], parts: &[Part]) -> Option<String> {
        let mut seen = vec![0; (groups[0] * groups[1]) as usize];
        for part in parts {
            for (x, y) in (0..part.groups[1]).flat_map(|y| (0..part.groups[0]).map(move |x| (x, y)))
            {
                // the same formula as in the kernels
                let index = part.first_group + y * groups[0] + x;
                let Some(count) = seen.get_mut(index as usize) else {
                    return Some(format!("there is no workgroup {index}"));
                };
                *count += 1;
            }
        }
        let wrong = seen.iter().position(|&count| count != 1)?;
        Some(format!("workgroup {wrong} is dispatched {} times", seen[wrong]))
    }

    fn parts(groups: [u32; 2], work: u64, budgets: &[u64]) -> Vec<Part> {
        let mut parts = Parts::new(groups, work);
        budgets.iter().cycle().map_while(|&budget| parts.next(budget)).collect()
    }

    #[test]
    fn every_workgroup_is_dispatched_once() {
        for groups in [[1, 1], [7, 1], [100, 1], [13, 9], [65_535, 3]] {
            for work in [1, 1_000, 1 << 40, u64::MAX] {
                for budgets in [&[1][..], &[u64::MAX], &[0, 500, 1 << 38]] {
                    let parts = parts(groups, work, budgets);
                    assert_eq!(problem(groups, &parts), None, "{groups:?} {work} {budgets:?}");
                }
            }
        }
        for budget in [100, 128, 1_000, 99_999, 100_000, 1 << 40] {
            let parts = parts([1_000, 1], 100_000, &[budget]);
            assert!(parts.iter().all(|part| part.work <= budget), "{budget}");
            assert_eq!(parts.len() as u64, 1_000_u64.div_ceil((budget / 100).min(1_000)));
        }
    }

    #[test]
    fn broken_parts_are_detected() {
        let good = || parts([13, 9], 900, &[300]);
        let broken: [fn(&mut Vec<Part>); 4] = [
            |parts| parts.truncate(2),
            |parts| parts.push(parts[0]),
            |parts| parts[1].first_group += 1,
            |parts| parts[1].groups[1] -= 1,
        ];
        for (index, change) in broken.into_iter().enumerate() {
            let mut parts = good();
            assert_eq!(parts.len(), 3);
            change(&mut parts);
            assert!(problem([13, 9], &parts).is_some(), "{index}");
        }
    }
}

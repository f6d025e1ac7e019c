//! Merges artefacts of one plan.

use crate::{Artefact, ArtefactError, EngineError, ObservationRange};

/// Options of a merge.
#[derive(Debug, Clone, Copy, Default)]
pub struct MergeOptions {
    /// Accept missing observations; the result is then an estimate.
    pub allow_gaps: bool,
    /// Accept shards of different float modes.
    pub allow_mixed_modes: bool,
}

/// The sum of artefacts of one plan, in any order.
///
/// # Errors
/// Nothing to merge; different plans or layouts; the same observations twice; and, unless allowed,
/// missing observations or different float modes.
pub fn merge(parts: Vec<Artefact>, options: MergeOptions) -> Result<Artefact, EngineError> {
    let mut parts = parts.into_iter();
    let mut sum = parts.next().ok_or(ArtefactError::Nothing)?;
    for part in parts {
        sum.absorb(part)?;
    }
    sum.merged(options)
}

impl Artefact {
    /// Adds the counts of another artefact of the same plan: one step of a [`merge`], for callers
    /// that report which part was refused.
    ///
    /// # Errors
    /// Another plan or layout; the same observations twice.
    pub fn absorb(&mut self, part: Artefact) -> Result<(), EngineError> {
        if part.plan != self.plan {
            let differences = self.plan.differences(&part.plan);
            return Err(ArtefactError::PartMismatch { differences }.into());
        }
        if part.version != self.version {
            let (found, expected) = (part.version, self.version.clone());
            return Err(ArtefactError::VersionMismatch { found, expected }.into());
        }
        if part.layout != self.layout {
            let what = "its bins or thresholds differ from those of the other files";
            return Err(ArtefactError::Inconsistent { what }.into());
        }
        let counted = joined(&self.counted, &part.counted)?;
        self.histograms.merge(&part.histograms)?;
        if let (Some(mine), Some(theirs)) = (&mut self.training, &part.training) {
            mine.absorb(theirs);
        }
        self.counted = counted;
        self.fallback_shards = self.fallback_shards.saturating_add(part.fallback_shards);
        self.sampling_ms += part.sampling_ms;
        part.devices.into_iter().for_each(|device| self.note_device(device));
        part.float_modes.into_iter().for_each(|mode| self.note_float_mode(mode));
        Ok(())
    }

    /// The last step of a [`merge`]: the counts become those of the whole plan.
    ///
    /// # Errors
    /// Unless allowed, missing observations or different float modes.
    pub fn merged(mut self, options: MergeOptions) -> Result<Self, EngineError> {
        self.range = ObservationRange { first: 0, end: self.plan.observations_per_world() };
        if self.float_modes.len() > 1 && !options.allow_mixed_modes {
            let modes: Vec<String> = self.float_modes.iter().map(ToString::to_string).collect();
            return Err(ArtefactError::MixedModes { modes: modes.join(", ") }.into());
        }
        let gap = self.remaining();
        if !gap.is_empty() && !options.allow_gaps {
            return Err(ArtefactError::Gap { gap: gap.to_string() }.into());
        }
        Ok(self)
    }
}

/// The union of two lists of ranges: sorted, disjoint, not adjacent.
pub(crate) fn joined(
    mine: &[ObservationRange],
    theirs: &[ObservationRange],
) -> Result<Vec<ObservationRange>, ArtefactError> {
    let mut ranges = [mine, theirs].concat();
    ranges.sort_unstable();
    let mut joined: Vec<ObservationRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.first < last.end => {
                let end = range.end.min(last.end);
                let overlap = ObservationRange { first: range.first, end }.to_string();
                return Err(ArtefactError::Overlap { overlap });
            }
            Some(last) if range.first == last.end => last.end = range.end,
            _ => joined.push(range),
        }
    }
    Ok(joined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;
    use crate::run::tests::counted;
    use crate::{Plan, Shard};

    fn part(index: u64) -> Artefact {
        counted(plan(), Shard { index, count: 3 }, 1, 250)
    }

    fn error(parts: Vec<Artefact>, options: MergeOptions) -> ArtefactError {
        match merge(parts, options) {
            Err(EngineError::Artefact(error)) => error,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn repeated_missing_and_mismatched_parts_are_refused() {
        let strict = MergeOptions::default();
        assert_eq!(error(vec![], strict), ArtefactError::Nothing);
        let repeated = error(vec![part(1), part(2), part(2), part(3)], strict);
        assert_eq!(repeated, ArtefactError::Overlap { overlap: "3333..6666".to_owned() });
        let missing = error(vec![part(3), part(1)], strict);
        assert_eq!(missing, ArtefactError::Gap { gap: "3333..6666".to_owned() });
        let other = Plan { delta: 1e-6, ..plan() };
        let foreign = counted(other, Shard { index: 2, count: 3 }, 1, 250);
        assert!(matches!(
            error(vec![part(1), foreign], strict),
            ArtefactError::PartMismatch { .. }
        ));
    }

    #[test]
    fn parts_of_different_versions_are_refused() {
        let mut older = part(2);
        older.version = "0.0.3".to_owned();
        let refused = error(vec![part(1), older, part(3)], MergeOptions::default());
        assert!(matches!(refused, ArtefactError::VersionMismatch { .. }));
    }

    #[test]
    fn a_merge_with_gaps_is_only_an_estimate() {
        let options = MergeOptions { allow_gaps: true, ..MergeOptions::default() };
        let merged = merge(vec![part(3), part(1)], options).unwrap();
        assert!(!merged.is_complete());
        let outcome = merged.outcome().unwrap();
        assert!(matches!(outcome, dpscope_core::audit::Outcome::Estimate(_)));
    }

    #[test]
    fn mixed_float_modes_require_an_option() {
        let mut fast = part(2);
        fast.float_modes = vec![crate::backend::FloatMode::Fast];
        let parts = vec![part(1), fast, part(3)];
        let strict = error(parts.clone(), MergeOptions::default());
        assert!(matches!(strict, ArtefactError::MixedModes { .. }));
        let mixed = MergeOptions { allow_mixed_modes: true, ..MergeOptions::default() };
        assert!(merge(parts, mixed).unwrap().is_complete());
    }
}

//! Merges artefacts of one plan.

use crate::{Artefact, ArtefactError, EngineError, Evidence, Plan, UnitRange};

/// Options of a merge.
#[derive(Debug, Clone, Copy, Default)]
pub struct MergeOptions {
    /// Accept missing units; the result is then an estimate.
    pub allow_gaps: bool,
    /// Accept shards of different float modes.
    pub allow_mixed_modes: bool,
}

/// The sum of artefacts of one plan, in any order.
///
/// # Errors
/// Nothing to merge; different plans or stages; the same units twice; and, unless allowed,
/// missing units or different float modes.
pub fn merge<P: Plan>(
    parts: Vec<Artefact<P>>,
    options: MergeOptions,
) -> Result<Artefact<P>, EngineError> {
    let mut parts = parts.into_iter();
    let mut sum = parts.next().ok_or(ArtefactError::Nothing)?;
    for part in parts {
        sum.absorb(part)?;
    }
    sum.merged(options)
}

impl<P: Plan> Artefact<P> {
    /// Adds the evidence of another artefact of the same plan: one step of a [`merge`], for callers
    /// that report which part was refused.
    ///
    /// # Errors
    /// Another plan or stage; the same units twice.
    pub fn absorb(&mut self, part: Artefact<P>) -> Result<(), EngineError> {
        if part.plan != self.plan {
            let differences = self.plan.differences(&part.plan);
            return Err(ArtefactError::PartMismatch { differences }.into());
        }
        if part.version != self.version {
            let (found, expected) = (part.version, self.version.clone());
            return Err(ArtefactError::VersionMismatch { found, expected }.into());
        }
        if part.stage != self.stage {
            let what = "its layout differs from that of the other files";
            return Err(ArtefactError::Inconsistent { what }.into());
        }
        let counted = self.joined(&part.counted)?;
        self.evidence.join(&part.evidence)?;
        self.counted = counted;
        self.fallback_shards = self.fallback_shards.saturating_add(part.fallback_shards);
        self.sampling_ms += part.sampling_ms;
        part.devices.into_iter().for_each(|device| self.note_device(device));
        part.float_modes.into_iter().for_each(|mode| self.note_float_mode(mode));
        Ok(())
    }

    /// The last step of a [`merge`]: the evidence becomes that of the whole plan.
    ///
    /// # Errors
    /// Unless allowed, missing units or different float modes.
    pub fn merged(mut self, options: MergeOptions) -> Result<Self, EngineError> {
        self.range = UnitRange { first: 0, end: self.plan.units() };
        if self.float_modes.len() > 1 && !options.allow_mixed_modes {
            let modes: Vec<String> = self.float_modes.iter().map(ToString::to_string).collect();
            return Err(ArtefactError::MixedModes { modes: modes.join(", ") }.into());
        }
        let gap = self.remaining();
        if !gap.is_empty() && !options.allow_gaps {
            return Err(ArtefactError::Gap { gap: P::named(&gap.to_string()) }.into());
        }
        Ok(self)
    }

    /// The union of the counted ranges and others.
    pub(crate) fn joined(&self, others: &[UnitRange]) -> Result<Vec<UnitRange>, ArtefactError> {
        joined(&self.counted, others)
            .map_err(|overlap| ArtefactError::Overlap { overlap: P::named(&overlap.to_string()) })
    }
}

/// The union of two lists of ranges: sorted, disjoint, not adjacent.
///
/// # Errors
/// Units in both.
pub(crate) fn joined(
    mine: &[UnitRange],
    theirs: &[UnitRange],
) -> Result<Vec<UnitRange>, UnitRange> {
    let mut ranges = [mine, theirs].concat();
    ranges.sort_unstable();
    let mut joined: Vec<UnitRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.first < last.end => {
                let end = range.end.min(last.end);
                return Err(UnitRange { first: range.first, end });
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
    use crate::toy::{PLAN, Toy, ToyPlan, computed};
    use crate::{FloatMode, Shard};

    fn of_plan(plan: ToyPlan, index: u64) -> Artefact<ToyPlan> {
        computed(&Toy::new(plan), Shard { index, count: 3 }, 250)
    }

    fn part(index: u64) -> Artefact<ToyPlan> {
        of_plan(PLAN, index)
    }

    fn error(parts: Vec<Artefact<ToyPlan>>, options: MergeOptions) -> ArtefactError {
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
        assert_eq!(
            repeated.to_string(),
            "units 3333..6666 are in more than one file; merge each shard once"
        );
        let missing = error(vec![part(3), part(1)], strict);
        assert_eq!(
            missing.to_string(),
            "units 3333..6666 are missing; add the shard that contains them"
        );
        let foreign = of_plan(ToyPlan { seed: 8, ..PLAN }, 2);
        let mismatched = error(vec![part(1), foreign], strict);
        assert!(matches!(mismatched, ArtefactError::PartMismatch { .. }));
    }

    #[test]
    fn parts_of_different_versions_or_stages_are_refused() {
        let mut older = part(2);
        older.version = "0.0.3".to_owned();
        let refused = error(vec![part(1), older, part(3)], MergeOptions::default());
        assert!(matches!(refused, ArtefactError::VersionMismatch { .. }));
        let mut later = part(2);
        later.stage.before = 1;
        let refused = error(vec![part(1), later, part(3)], MergeOptions::default());
        assert!(matches!(refused, ArtefactError::Inconsistent { .. }));
    }

    #[test]
    fn a_merge_with_gaps_is_incomplete() {
        let options = MergeOptions { allow_gaps: true, ..MergeOptions::default() };
        let merged = merge(vec![part(3), part(1)], options).unwrap();
        assert!(!merged.is_complete() && merged.done() == 6_667);
    }

    #[test]
    fn mixed_float_modes_require_an_option() {
        let mut fast = part(2);
        fast.float_modes = vec![FloatMode::Fast];
        let parts = vec![part(1), fast, part(3)];
        let strict = error(parts.clone(), MergeOptions::default());
        assert!(matches!(strict, ArtefactError::MixedModes { .. }));
        let mixed = MergeOptions { allow_mixed_modes: true, ..MergeOptions::default() };
        assert!(merge(parts, mixed).unwrap().is_complete());
    }
}

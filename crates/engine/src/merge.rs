//! Joins artefacts of one plan.

use crate::{Artefact, ArtefactError, EngineError, ObservationRange};

/// What a merge may overlook.
#[derive(Debug, Clone, Copy, Default)]
pub struct MergeOptions {
    /// Observations may be missing; the result is then an estimate.
    pub allow_gaps: bool,
    /// Shards may be computed in different float modes.
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
        add(&mut sum, part)?;
    }
    sum.range = ObservationRange { first: 0, end: sum.plan.observations_per_world() };
    if sum.float_modes.len() > 1 && !options.allow_mixed_modes {
        let modes: Vec<String> = sum.float_modes.iter().map(ToString::to_string).collect();
        return Err(ArtefactError::MixedModes { modes: modes.join(", ") }.into());
    }
    if let Some(gap) = first_gap(&sum)
        && !options.allow_gaps
    {
        return Err(ArtefactError::Gap { gap: gap.to_string() }.into());
    }
    Ok(sum)
}

fn add(sum: &mut Artefact, part: Artefact) -> Result<(), EngineError> {
    if part.plan != sum.plan {
        let differences = sum.plan.differences(&part.plan);
        return Err(ArtefactError::ForeignPlan { differences }.into());
    }
    if part.layout != sum.layout {
        let what = "bins or cuts differ although the plans agree: written by different versions";
        return Err(ArtefactError::Inconsistent { what }.into());
    }
    let mut ranges = [sum.counted.as_slice(), &part.counted].concat();
    ranges.sort_unstable();
    let mut joined: Vec<ObservationRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.first < last.end => {
                let end = range.end.min(last.end);
                let overlap = ObservationRange { first: range.first, end }.to_string();
                return Err(ArtefactError::Overlap { overlap }.into());
            }
            Some(last) if range.first == last.end => last.end = range.end,
            _ => joined.push(range),
        }
    }
    sum.histograms.merge(&part.histograms)?;
    sum.counted = joined;
    sum.fallback_shards = sum.fallback_shards.saturating_add(part.fallback_shards);
    sum.sampling_ms += part.sampling_ms;
    for device in part.devices {
        if !sum.devices.contains(&device) {
            sum.devices.push(device);
        }
    }
    for mode in part.float_modes {
        if !sum.float_modes.contains(&mode) {
            sum.float_modes.push(mode);
        }
    }
    Ok(())
}

fn first_gap(sum: &Artefact) -> Option<ObservationRange> {
    let mut first = 0;
    for range in &sum.counted {
        if range.first > first {
            return Some(ObservationRange { first, end: range.first });
        }
        first = range.end;
    }
    let end = sum.range.end;
    (first < end).then_some(ObservationRange { first, end })
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
    fn doubled_missing_and_foreign_parts_are_refused() {
        let strict = MergeOptions::default();
        assert_eq!(error(vec![], strict), ArtefactError::Nothing);
        let doubled = error(vec![part(1), part(2), part(2), part(3)], strict);
        assert_eq!(doubled, ArtefactError::Overlap { overlap: "3333..6666".to_owned() });
        let missing = error(vec![part(3), part(1)], strict);
        assert_eq!(missing, ArtefactError::Gap { gap: "3333..6666".to_owned() });
        let other = Plan { delta: 1e-6, ..plan() };
        let foreign = counted(other, Shard { index: 2, count: 3 }, 1, 250);
        assert!(matches!(error(vec![part(1), foreign], strict), ArtefactError::ForeignPlan { .. }));
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
    fn mixed_float_modes_need_permission() {
        let mut fast = part(2);
        fast.float_modes = vec![crate::backend::FloatMode::Fast];
        let parts = vec![part(1), fast, part(3)];
        let strict = error(parts.clone(), MergeOptions::default());
        assert!(matches!(strict, ArtefactError::MixedModes { .. }));
        let mixed = MergeOptions { allow_mixed_modes: true, ..MergeOptions::default() };
        assert!(merge(parts, mixed).unwrap().is_complete());
    }
}

use super::*;
use crate::toy::{Fate, PLAN, Scripted, Toy, ToyPlan, ToyStage, computed};
use crate::{FloatMode, MergeOptions, Shard, merge};

fn whole(toy: &Toy) -> Artefact<ToyPlan> {
    computed(toy, Shard::WHOLE, 250)
}

#[test]
fn evidence_does_not_depend_on_waves() {
    let reference = whole(&Toy::new(PLAN));
    assert!(reference.is_complete() && reference.done() == 10_000);
    for wave_ms in [1, 100, 100_000] {
        let other = computed(&Toy::new(PLAN), Shard::WHOLE, wave_ms);
        assert_eq!(other.evidence, reference.evidence);
    }
    let other_seed = whole(&Toy::new(ToyPlan { seed: 8, ..PLAN }));
    assert_ne!(other_seed.evidence.sum, reference.evidence.sum);
}

#[test]
fn any_split_merges_to_the_undivided_run() {
    let toy = Toy::new(PLAN);
    for count in [2, 3, 7] {
        let mut parts: Vec<_> =
            (1..=count).map(|index| computed(&toy, Shard { index, count }, 250)).collect();
        parts.reverse();
        let merged = merge(parts, MergeOptions::default()).unwrap();
        assert!(merged.is_complete());
        assert_eq!(merged.evidence, whole(&toy).evidence);
    }
}

#[test]
fn stopped_runs_resume_from_their_bytes() {
    for stages in [1, 3] {
        let toy = Toy::new(ToyPlan { stages, ..PLAN });
        let mut state =
            begin(&toy, UnitRange { first: 0, end: 10_000 }, &Scripted::new(1, 0)).unwrap();
        let mut stops = 0;
        let finished = loop {
            let control = Scripted::new(2, 100);
            match pollster::block_on(run(&toy, state, &control)) {
                Ok(finished) => break finished,
                Err(EngineError::Stopped) => {
                    stops += 1;
                    let last = control.last.lock().unwrap().take().unwrap();
                    assert!(!last.is_complete());
                    state = Artefact::from_bytes(&last.to_bytes()).unwrap();
                }
                Err(error) => panic!("{error}"),
            }
        };
        assert!(stops > 3, "{stops}");
        assert_eq!(finished.evidence, whole(&toy).evidence);
    }
}

#[test]
fn stages_follow_each_other() {
    let toy = Toy::new(ToyPlan { stages: 2, ..PLAN });
    let finished = whole(&toy);
    let first = whole(&Toy::new(PLAN)).evidence.sum;
    assert_eq!(finished.stage, ToyStage { number: 2, before: first });
    assert!(finished.is_complete());
    // shards compute the first stage; their sum starts the next
    let parts: Vec<_> =
        (1..=2).map(|index| computed(&toy, Shard { index, count: 2 }, 250)).collect();
    assert!(parts.iter().all(|part| part.stage.number == 1 && part.is_finished()));
    let merged = merge(parts, MergeOptions::default()).unwrap();
    assert!(!merged.is_complete(), "one of two stages");
    let control = Scripted::new(u64::MAX, 250);
    let resumed = pollster::block_on(run(&toy, merged, &control)).unwrap();
    assert_eq!((resumed.stage, resumed.evidence), (finished.stage, finished.evidence));
}

#[test]
fn a_merge_with_gaps_can_be_filled() {
    let toy = Toy::new(PLAN);
    let part = |index| computed(&toy, Shard { index, count: 5 }, 250);
    let options = MergeOptions { allow_gaps: true, ..MergeOptions::default() };
    let sum = merge(vec![part(4), part(2)], options).unwrap();
    let filled = pollster::block_on(run(&toy, sum, &Scripted::new(u64::MAX, 250))).unwrap();
    assert!(filled.is_complete());
    assert_eq!(filled.evidence, whole(&toy).evidence);
}

/// The fate of each wave.
type Fates = fn(u64) -> Fate;

/// A run on a device with these fates, and its warnings.
fn on_device(
    fates: Fates,
    reopenings: u64,
) -> (Result<Artefact<ToyPlan>, EngineError>, Vec<String>) {
    let toy = Toy { fates: Some(fates), reopenings, ..Toy::new(PLAN) };
    let control = Scripted::new(u64::MAX, 250);
    let start = begin(&toy, UnitRange { first: 0, end: 10_000 }, &control).unwrap();
    let ran = pollster::block_on(run(&toy, start, &control));
    (ran, control.warnings.into_inner().unwrap())
}

#[test]
fn a_failing_device_costs_no_unit() {
    let reference = whole(&Toy::new(PLAN)).evidence;
    let cases: [(Fates, u64, bool, usize); 7] = [
        (|_| Fate::Works, 3, false, 0),
        (|wave| if wave == 2 { Fate::LostAtSubmission } else { Fate::Works }, 3, false, 1),
        (|wave| if wave == 2 { Fate::LostAtCollection } else { Fate::Works }, 3, false, 1),
        // both waves in flight: one reopening
        (|wave| if wave < 2 { Fate::LostAtCollection } else { Fate::Works }, 3, false, 1),
        (|wave| if wave == 2 { Fate::LostAtCollection } else { Fate::Works }, 0, true, 1),
        (|wave| if wave == 2 { Fate::Unfit } else { Fate::Works }, 3, true, 1),
        (|_| Fate::LostAtCollection, 3, true, 2),
    ];
    for (case, (fates, reopenings, falls_back, warnings)) in cases.into_iter().enumerate() {
        let (ran, warned) = on_device(fates, reopenings);
        let state = ran.unwrap();
        assert!(state.is_complete(), "{case}");
        assert_eq!(state.evidence, reference, "{case}");
        assert_eq!(state.fallback_shards > 0, falls_back, "{case}");
        assert_eq!(state.devices.contains(&"cpu".to_owned()), falls_back, "{case}");
        assert_eq!(warned.len(), warnings, "{case}: {warned:?}");
    }
}

#[test]
fn a_device_that_miscounts_ends_the_run() {
    let (ran, _) = on_device(|wave| if wave == 1 { Fate::Miscounts } else { Fate::Works }, 3);
    let error = ran.unwrap_err().to_string();
    assert!(error.starts_with("toy did not count exactly units "), "{error}");
}

#[test]
fn a_state_of_another_plan_or_version_is_refused() {
    let toy = Toy::new(PLAN);
    let start = begin(&toy, UnitRange { first: 0, end: 10 }, &Scripted::new(1, 0)).unwrap();
    let refused = |toy: &Toy, state: Artefact<ToyPlan>| {
        let control = Scripted::new(u64::MAX, 250);
        match pollster::block_on(run(toy, state, &control)) {
            Err(EngineError::Artefact(error)) => Some(error),
            other => other.map(|_| None).unwrap(),
        }
    };
    assert_eq!(refused(&toy, start.clone()), None);
    let differences = "seed: 8 here, 7 there".to_owned();
    let other = Toy::new(ToyPlan { seed: 8, ..PLAN });
    assert_eq!(refused(&other, start.clone()), Some(ArtefactError::PlanMismatch { differences }));
    let mut older = start;
    older.version = "0.0.3".to_owned();
    let refused = refused(&toy, older);
    assert!(matches!(refused, Some(ArtefactError::VersionMismatch { .. })), "{refused:?}");
}

#[test]
fn a_state_of_another_float_mode_is_refused() {
    let toy = Toy::new(PLAN);
    for (modes, is_taken) in [
        (&[][..], true),
        (&[FloatMode::Exact], true),
        (&[FloatMode::Fast], false),
        (&[FloatMode::Fast, FloatMode::Exact], true),
    ] {
        let control = Scripted::new(u64::MAX, 250);
        let mut state = begin(&toy, UnitRange { first: 0, end: 10_000 }, &control).unwrap();
        state.float_modes = modes.to_vec();
        match pollster::block_on(run(&toy, state, &control)) {
            Ok(_) => assert!(is_taken, "{modes:?}"),
            Err(error) => {
                let message = error.to_string();
                assert!(!is_taken && message.contains("counted in float mode fast"), "{message}");
            }
        }
    }
}

//! Targets of dpscope-simulation: any bytes give an artefact or a plan that can be worked with, or a
//! message that can be shown.

use dpscope_engine::MergeOptions;
use dpscope_simulation::{Artefact, Evaluate, Plan};

/// Any bytes as an artefact: checkpoint, shard or merged histograms.
pub fn artefact(bytes: &[u8]) {
    match Artefact::from_bytes(bytes) {
        Ok(artefact) => check(&artefact, bytes),
        Err(error) => check_message(&error.to_string()),
    }
}

/// Any bytes as the JSON of a plan.
pub fn plan(bytes: &[u8]) {
    let Ok(plan) = serde_json::from_slice::<Plan>(bytes) else { return };
    match plan.validated() {
        Ok(valid) => {
            let json = serde_json::to_vec(valid.plan()).expect("a plan is writable");
            let again: Plan = serde_json::from_slice(&json).expect("a written plan is readable");
            assert_eq!((again, again.hash()), (plan, plan.hash()));
            assert!(valid.distribution().normals_per_observation() > 0);
        }
        Err(error) => check_message(&error.to_string()),
    }
}

/// Invariants of an artefact that was read: its bytes, its order, and counts that add up.
pub fn check(artefact: &Artefact, bytes: &[u8]) {
    assert!(artefact.to_bytes() == bytes, "written anew, an artefact has its bytes");
    let trials = artefact.evidence.histograms.trials();
    assert_eq!((trials.target, trials.zero_out), (artefact.done(), artefact.done()));
    assert!(artefact.counted.windows(2).all(|pair| pair[0].end < pair[1].first));
    let remaining = artefact.remaining();
    assert!(remaining.end <= artefact.range.end);
    assert!(!artefact.counted.iter().any(|range| {
        !remaining.is_empty() && range.first < remaining.end && remaining.first < range.end
    }));
    assert_eq!(artefact.is_finished(), remaining.is_empty());
    if let Err(error) = artefact.outcome() {
        check_message(&error.to_string());
    }
    let mut doubled = artefact.clone();
    if let Err(error) = doubled.absorb(artefact.clone()) {
        check_message(&error.to_string());
    } else {
        assert_eq!(artefact.done(), 0);
    }
    let options = MergeOptions { allow_gaps: true, allow_mixed_modes: true };
    assert!(artefact.clone().merged(options).is_ok());
}

/// A message is one line without control characters, and not long.
pub fn check_message(message: &str) {
    assert!(!message.is_empty() && message.len() < 4096, "{message}");
    assert!(!message.chars().any(char::is_control), "unescaped: {message:?}");
}

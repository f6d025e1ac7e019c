use dpscope_core::audit::{Outcome, OutcomeKind};
use dpscope_report::record::page::{AuditProgress, SimulationResult};
use dpscope_simulation::Evaluate;

use super::count::count;
use super::opened;
use crate::failure::FailureKind;
use crate::two_worlds::Audit;
use crate::two_worlds::plan::tests::plan;

/// A simulation without counts.
pub(crate) fn simulation() -> crate::two_worlds::Counted {
    opened(plan()).unwrap()
}

/// Progress and result of a small simulation.
pub(crate) fn example() -> (AuditProgress, SimulationResult) {
    let mut simulation = opened(plan()).unwrap();
    let layout = simulation.coordinator.layout();
    let counted = count(&layout, 0.0, 128.0).unwrap();
    simulation.coordinator.next(100).unwrap();
    simulation.coordinator.add(&counted).unwrap();
    (simulation.coordinator.progress(), simulation.result().unwrap())
}

#[test]
fn parts_sum_to_the_whole_and_bytes_resume() {
    let whole = |most| {
        let mut simulation = opened(plan()).unwrap();
        let layout = simulation.coordinator.layout();
        while let Some(range) = simulation.coordinator.next(most) {
            let counted = count(&layout, range.first as f64, range.end as f64).unwrap();
            simulation.coordinator.add(&counted).unwrap();
            let bytes = simulation.state().to_bytes();
            simulation = Audit::from_bytes(&bytes).unwrap().0;
        }
        simulation
    };
    let (one, many) = (whole(u64::MAX), whole(777));
    assert_eq!(one.result().unwrap(), many.result().unwrap());
    assert_eq!(one.result().unwrap().result.kind, OutcomeKind::Bound);
    assert!(one.curve().unwrap().band().is_some());
    let outcome = one.state().outcome().unwrap();
    assert!(matches!(outcome, Outcome::Bound(_)));
}

#[test]
fn no_counts_are_no_result() {
    let simulation = opened(plan()).unwrap();
    assert_eq!(simulation.result().unwrap_err().kind, FailureKind::Input);
    assert_eq!(simulation.curve().unwrap_err().kind, FailureKind::Input);
    assert_eq!(simulation.coordinator.progress(), AuditProgress { done: 0, total: 20_000 });
}

#[test]
fn bytes_without_a_layout_and_ranges_outside_the_plan_are_rejected() {
    for bytes in [&b""[..], b"{}", b"<script>", &[0; 100]] {
        assert_eq!(count(bytes, 0.0, 1.0).unwrap_err().kind, FailureKind::File);
        assert_eq!(Audit::from_bytes(bytes).unwrap_err().kind, FailureKind::File);
    }
    let mut simulation = opened(plan()).unwrap();
    let layout = simulation.coordinator.layout();
    for (first, end) in [(0.0, 1.0), (9_999.0, f64::INFINITY), (f64::NAN, -1.0), (5.0, 3.0)] {
        let counted = count(&layout, first, end).unwrap();
        assert_eq!(simulation.coordinator.add(&counted).unwrap_err().kind, FailureKind::File);
    }
}

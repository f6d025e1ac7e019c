//! Findings of a report, and those that its own numbers show.

use dpscope_core::adjacency::World;
use dpscope_core::audit::Finding;
use dpscope_core::audit::one_run::OneRunFinding;
use dpscope_core::recorded::independence::Dependence;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::checker::Checker;
use super::result::RecomputeError;
use crate::record::{FindingRecord, OneRunFindingRecord, TrainingFacts};

/// Reads the findings of an audit with two worlds, and compares what each costs and says.
pub(super) fn of_two_worlds(report: &mut Checker<'_>) -> Result<Vec<Finding>, RecomputeError> {
    read(report, |&finding: &Finding| {
        let FindingRecord { costs_coverage, sentence, .. } = finding.into();
        (costs_coverage, sentence)
    })
}

/// Reads the findings of an audit with canaries, and compares what each costs and says.
pub(super) fn of_canaries(report: &mut Checker<'_>) -> Result<Vec<OneRunFinding>, RecomputeError> {
    read(report, |&finding: &OneRunFinding| {
        let OneRunFindingRecord { costs_coverage, sentence, .. } = finding.into();
        (costs_coverage, sentence)
    })
}

fn read<F: DeserializeOwned>(
    report: &mut Checker<'_>,
    record: impl Fn(&F) -> (bool, String),
) -> Result<Vec<F>, RecomputeError> {
    (0..report.len("/findings"))
        .map(|index| {
            let pointer = format!("/findings/{index}");
            let finding = report.parsed(&pointer, "a finding")?;
            let (costs_coverage, sentence) = record(&finding);
            report.expect(&format!("{pointer}/costs_coverage"), costs_coverage);
            report.expect(&format!("{pointer}/sentence"), sentence);
            report.uses(&[&format!("{pointer}/code")]);
            Ok(finding)
        })
        .collect()
}

/// Reports findings that follow from the report and are not in it.
pub(super) fn expect<F: PartialEq + Serialize>(
    report: &mut Checker<'_>,
    found: &[F],
    expected: impl IntoIterator<Item = F>,
) {
    for finding in expected {
        if !found.contains(&finding) {
            report.differ("/findings", report.items("/findings", "code"), &finding);
        }
    }
}

/// Failed runs, faults of the trainer and dependent runs, as far as the report has their numbers.
pub(super) fn expect_of_two_worlds(
    report: &mut Checker<'_>,
    found: &[Finding],
) -> Result<(), RecomputeError> {
    match report.known::<TrainingFacts>("/training", "facts of a training")? {
        Some(training) => expect(report, found, training.findings()),
        None => {
            let [target, zero_out] = ["target", "zero_out"]
                .map(|world| report.known::<u64>(&format!("/non_finite/{world}"), "a count"));
            let failed =
                Finding::failed_runs(target?.unwrap_or_default(), zero_out?.unwrap_or_default());
            expect(report, found, failed);
        }
    }
    for index in 0..report.len("/independence/checks") {
        let at = |field: &str| format!("/independence/checks/{index}/{field}");
        let world: Option<World> = report.known(&at("world"), "a world")?;
        let p_value = report.compared(&at("p_value"));
        let is_order = report.text(&at("name")).is_some_and(|it| it.starts_with("repeated-"));
        let explains = |finding: &Finding| match finding {
            Finding::NoNoise { .. } | Finding::NoiseInOneWorld { .. } => true,
            Finding::OrderFixed { .. } | Finding::SamplerRefuted { .. } => is_order,
            Finding::Dependence { world: of, p_value: p, dependence } => {
                (*of == world && Some(*p) == p_value)
                    || matches!(
                        dependence,
                        Dependence::DuplicatedRuns { .. } | Dependence::IdenticalRuns { .. }
                    )
            }
            _ => false,
        };
        if report.has(&at("finding")) && !found.iter().any(explains) {
            let expected = json!({ "code": "dependence", "sentence": report.text(&at("finding")) });
            report.differ("/findings", report.items("/findings", "code"), expected);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recompute::OpenValues;

    const NO_REASONS: OpenValues = OpenValues { reasons: &[], findings: None };

    #[test]
    fn a_finding_with_a_p_value_of_0_is_read_again() {
        let finding = OneRunFinding::ControlSeen { ln_p: f64::NEG_INFINITY };
        let report = json!({ "findings": [OneRunFindingRecord::from(finding)] });
        assert_eq!(report.pointer("/findings/0/data/ln_p"), Some(&json!(null)));
        let mut checker = Checker::new(&report);
        assert_eq!(of_canaries(&mut checker).unwrap(), [finding]);
        assert_eq!(checker.finish("", &NO_REASONS).differences, []);
    }

    /// The pointers that differ with these findings and checks.
    fn differing(report: serde_json::Value) -> Vec<String> {
        let mut checker = Checker::new(&report);
        let found = of_two_worlds(&mut checker).unwrap();
        expect_of_two_worlds(&mut checker, &found).unwrap();
        checker.finish("", &NO_REASONS).differences.into_iter().map(|it| it.pointer).collect()
    }

    #[test]
    fn findings_that_the_report_shows_cannot_be_deleted() {
        let dependence = Dependence::SharedNoise { correlation: 0.5 };
        let finding = Finding::Dependence { world: None, p_value: 1e-9, dependence };
        let check =
            json!({ "name": "shared-noise", "world": null, "p_value": 1e-9, "finding": "x" });
        let report = |findings: &[Finding]| {
            let findings: Vec<_> = findings.iter().map(|it| FindingRecord::from(*it)).collect();
            json!({ "findings": findings, "independence": { "checks": [check] } })
        };
        assert_eq!(differing(report(&[finding])), Vec::<String>::new());
        assert_eq!(differing(report(&[Finding::NoNoise { world: World::Target }])), [""; 0]);
        assert_eq!(differing(report(&[])), ["/findings"]);
        let other = Finding::Dependence { world: None, p_value: 1e-3, dependence };
        assert_eq!(differing(report(&[other])), ["/findings"]);
        let failed = json!({ "findings": [], "non_finite": { "target": 2, "zero_out": 0 } });
        assert_eq!(differing(failed), ["/findings"]);
    }
}

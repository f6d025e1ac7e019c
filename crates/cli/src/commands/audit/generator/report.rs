//! The document of `audit generator`.

use std::time::Instant;

use dpscope_core::accounting::Kind;
use dpscope_core::audit::claim::Verdict;
use dpscope_core::format::given;
use dpscope_report::number::{confidence, counted, plain};
use dpscope_report::record::{
    GeneratorAttack, GeneratorFinding, GeneratorReport, IndicativeFigures,
};

use super::worlds::Found;
use crate::generator_folder::{BoundsSource, Manifest};

fn empty(manifest: &Manifest, started: Instant) -> GeneratorReport {
    GeneratorReport {
        schema: "dpscope.generator/1",
        version: env!("CARGO_PKG_VERSION"),
        headline: String::new(),
        says: String::new(),
        verdict: None,
        claimed_epsilon: manifest.epsilon,
        attack: None,
        indicative: None,
        delta: manifest.delta,
        significance: manifest.significance,
        runs: manifest.runs,
        failed: [0; 2],
        rows: manifest.rows,
        columns: manifest.columns.len() as u64,
        checked_data: false,
        findings: Vec::new(),
        elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
    }
}

/// The report of many runs.
pub(super) fn of_worlds(manifest: &Manifest, found: &Found, started: Instant) -> GeneratorReport {
    let attack = GeneratorAttack {
        auc: found.attack.auc,
        epsilon: found.attack.bound.value(),
        ceiling: found.attack.ceiling,
        evaluated: found.attack.trials.target.min(found.attack.trials.zero_out),
    };
    let verdict = manifest.epsilon.map(|claimed| match attack.epsilon > claimed {
        true => Verdict::Refuted,
        false => Verdict::NotRefuted,
    });
    let shown = plain(attack.epsilon, Kind::Lower, 2);
    let claimed = manifest.epsilon.map(given).unwrap_or_default();
    let headline = match verdict {
        None => format!("The rows show ε ≥ {shown}"),
        Some(Verdict::Refuted) => {
            format!("REFUTED: ε = {claimed} is claimed, and the rows show ε ≥ {shown}")
        }
        Some(_) => format!("Not refuted: ε = {claimed} is claimed, and the rows show ε ≥ {shown}"),
    };
    let ceiling = plain(attack.ceiling, Kind::Lower, 2);
    let could =
        format!("an attack without errors would have shown ε ≥ {ceiling} with so many runs");
    let held = confidence(manifest.significance);
    let says = match verdict {
        Some(Verdict::Refuted) => {
            format!("the generator leaks more than claimed, with {held} confidence; {could}")
        }
        _ => format!("that no more was found is no proof of privacy; {could}, and no attack more"),
    };
    let mut findings: Vec<GeneratorFinding> = failures(found).into_iter().collect();
    let [with, without] = found.retried;
    if with + without > 0 {
        findings.push(GeneratorFinding {
            name: "retried-runs",
            says: format!("{with} with the target row and {without} without it succeeded after a failure"),
            remedy: "the bound is one on the generator with these retries, not on a single execution; plan \
                     without --retries to audit that"
                .to_owned(),
        });
    }
    if let Some(seen) = &found.other_rows {
        findings.push(GeneratorFinding {
            name: "seed-ignored",
            says: seen.trim().to_owned(),
            remedy: "draw all randomness from {seed}, so that a run can be repeated".to_owned(),
        });
    }
    GeneratorReport {
        headline,
        says,
        verdict,
        attack: Some(attack),
        failed: [found.failed[0].0, found.failed[1].0],
        checked_data: found.checked_data,
        findings,
        ..empty(manifest, started)
    }
}

fn failures(found: &Found) -> Option<GeneratorFinding> {
    let [(with, first), (without, second)] = &found.failed;
    let first = first.as_ref().or(second.as_ref())?;
    Some(GeneratorFinding {
        name: "failed-runs",
        says: format!(
            "{} with the target row and {without} without it failed; {first}",
            counted(*with, "run")
        ),
        remedy: "read the .stderr file beside it; whether a run fails is an output too, so that failures \
                 stay in the audit"
            .to_owned(),
    })
}

/// The report of what certifies nothing.
pub(super) fn without_bound(
    manifest: &Manifest,
    bounds: BoundsSource,
    figures: IndicativeFigures,
    started: Instant,
) -> GeneratorReport {
    let (why, finding) = match bounds {
        BoundsSource::Data => (
            "the bounds of the columns were taken from the data",
            Some(GeneratorFinding {
                name: "bounds-from-data",
                says:
                    "bounds that follow the data tell about single rows, whatever noise comes later"
                        .to_owned(),
                remedy: "state bounds that are known without the data, and plan anew".to_owned(),
            }),
        ),
        BoundsSource::Public => {
            ("a table without canaries and a second world is no experiment", None)
        }
    };
    GeneratorReport {
        headline: format!("No ε: {why}"),
        says: "the figures are indicative only; neither small nor large distances certify an ε. For a \
               bound, plan many runs in two worlds (`dpscope plan generator`) or one run with canaries \
               (`dpscope canaries rows`)"
            .to_owned(),
        indicative: Some(figures),
        findings: finding.into_iter().collect(),
        ..empty(manifest, started)
    }
}

//! Curves of an audit's report.

use dpscope_core::accounting::{AccountingError, Kind};
use dpscope_core::audit::OutcomeKind;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::audit::curve::AuditCurve;
use dpscope_core::format::given;
use dpscope_core::mechanism::BatchedGaussian;

use super::theory::{Sampled, line, program};
use super::{Curve, Curves};
use crate::number::{self, confidence, grouped, plain};
use crate::record::{CurveKind, CurvePoint, Report, ResultRecord};
use crate::words::Subject;

/// The curves of a report, with the theoretical curves of the same mechanism.
///
/// # Errors
/// A claim or result that no curve has.
pub fn curves_of_report(report: &Report, seen: &AuditCurve) -> Result<Curves, AccountingError> {
    let result = &report.result;
    let mechanism = report.plan.as_ref().map(|plan| plan.mechanism).or(report.mechanism);
    let mut curves = vec![observed(result, seen)];
    curves.push(bound(result)?);
    if let Some(claim) = &report.claim {
        curves.push(claimed(&claim.claim)?);
    }
    let (theory, notes) =
        mechanism.map_or((Vec::new(), Vec::new()), |found| Sampled::from(&found).curves());
    curves.extend(theory);
    Ok(Curves {
        title: headline(result),
        caption: caption(report, seen),
        curves,
        band: seen.band(),
        deciding: Some(deciding(report)),
        notes,
        zero_out_trials: Some(seen.trials().zero_out),
        delta: result.delta,
        significance: Some(result.significance),
        epsilon: Some(result.epsilon),
        seed: report.seed.clone(),
    })
}

fn is_bound(result: &ResultRecord) -> bool {
    result.kind == OutcomeKind::Bound
}

/// The result as a short formula, rounded as in the report.
fn value(result: &ResultRecord, digits: usize) -> String {
    if is_bound(result) {
        format!("ε ≥ {}", plain(result.epsilon, Kind::Lower, digits))
    } else {
        format!("ε ≈ {:.digits$}", result.epsilon)
    }
}

fn headline(result: &ResultRecord) -> String {
    let certainty = if is_bound(result) {
        format!("with {} confidence", confidence(result.significance))
    } else {
        "an estimate, without coverage".to_owned()
    };
    format!("Audit: {} at δ = {:e}, {certainty}", value(result, 4), result.delta)
}

fn observed(result: &ResultRecord, seen: &AuditCurve) -> Curve {
    let has_band = seen.cuts().iter().any(|cut| cut.limits.is_some());
    let legend = if has_band {
        format!(
            "audit: observed rates; the band contains the attack's whole curve with {} confidence",
            confidence(result.significance)
        )
    } else {
        "audit: observed rates, an estimate without coverage".to_owned()
    };
    let limits = seen.cuts().iter().rev().map(|cut| {
        CurvePoint { fpr: cut.fpr, fnr: cut.fnr, ..CurvePoint::default() }.with(cut.limits)
    });
    let end = |fpr, fnr| CurvePoint { fpr, fnr, ..CurvePoint::default() };
    let mut points: Vec<CurvePoint> =
        [end(0.0, 1.0)].into_iter().chain(limits).chain([end(1.0, 0.0)]).collect();
    points.dedup();
    let short = "audit".to_owned();
    Curve { name: "audit", kind: CurveKind::Estimate, short, legend, points, is_drawn: true }
}

fn kind(result: &ResultRecord) -> CurveKind {
    if is_bound(result) { CurveKind::Bound } else { CurveKind::Estimate }
}

fn bound(result: &ResultRecord) -> Result<Curve, AccountingError> {
    let what = if is_bound(result) { "bound" } else { "estimate" };
    let legend = format!(
        "{what} {} at δ = {:e}, as a line: every claim of less has its line above",
        value(result, 4),
        result.delta
    );
    let words = [value(result, 2), legend];
    line(kind(result), "epsilon", words, [result.epsilon, result.delta])
}

fn claimed(claim: &PrivacyClaim) -> Result<Curve, AccountingError> {
    let PrivacyClaim { epsilon, delta, .. } = *claim;
    let legend = format!(
        "claim ε = {}, δ = {}: if it is true, no attack gets below this line",
        given(epsilon),
        number::delta(delta)
    );
    let rounded = if epsilon < 1e9 { (epsilon * 1e3).round() / 1e3 } else { epsilon };
    let words = [format!("claim ε = {}", given(rounded)), legend];
    line(CurveKind::Claim, "claim", words, [epsilon, delta])
}

/// The cut that gave the result, with the upper limits that did.
fn deciding(report: &Report) -> Curve {
    let (result, evaluated) = (&report.result, report.observations.evaluated);
    let point = CurvePoint {
        fpr: result.false_positives as f64 / evaluated.zero_out as f64,
        fnr: result.false_negatives as f64 / evaluated.target as f64,
        fpr_upper: Some(result.fpr_upper),
        fnr_upper: Some(result.fnr_upper),
        ..CurvePoint::default()
    };
    Curve {
        name: "deciding-cut",
        kind: kind(result),
        short: String::new(),
        legend: "the cut that decides (circle); the upper limits of its rates (square) lie on \
                 the line of ε"
            .to_owned(),
        points: vec![point],
        is_drawn: true,
    }
}

fn caption(report: &Report, seen: &AuditCurve) -> Vec<String> {
    let result = &report.result;
    let what = match (report.subject, &report.plan, &report.mechanism) {
        (Subject::TrainedModels, Some(plan), _) => {
            format!("trained models: {}", words(&plan.mechanism))
        }
        (_, Some(plan), _) => format!("simulated: {}", words(&plan.mechanism)),
        (_, None, Some(mechanism)) => format!("recorded outputs, taken for {}", words(mechanism)),
        (Subject::Scores, ..) => "attack scores".to_owned(),
        (Subject::Counts, ..) => "error counts at one threshold".to_owned(),
        _ => "recorded outputs".to_owned(),
    };
    let seen_trials = seen.trials();
    let left_out = report.observations.target.saturating_sub(seen_trials.target);
    let pilot = match left_out {
        0 => String::new(),
        _ => format!(
            " ({} and {} others fixed the cuts)",
            grouped(left_out),
            grouped(report.observations.zero_out.saturating_sub(seen_trials.zero_out))
        ),
    };
    let mut lines = vec![
        what,
        format!(
            "n = {} with the target record and {} without{pilot}; δ = {:e}; confidence {}",
            grouped(seen_trials.target),
            grouped(seen_trials.zero_out),
            result.delta,
            confidence(result.significance)
        ),
    ];
    let name = |world| report.input.as_ref()?.get(world)?.as_str();
    let mut files: Vec<&str> = ["target", "zero_out"].into_iter().filter_map(name).collect();
    files.dedup();
    if !files.is_empty() {
        lines.push(format!("files: {}", files.join(", ")));
    }
    lines.push(match &report.seed {
        Some(seed) => format!("{}, seed {seed}", program()),
        None => program(),
    });
    lines
}

/// The symbols of the legend with their values.
fn words(mechanism: &BatchedGaussian) -> String {
    let BatchedGaussian { noise_multiplier, steps_per_epoch, epochs, .. } = *mechanism;
    format!(
        "σ = {noise_multiplier}, T = {steps_per_epoch} steps per epoch, E = {epochs} epoch{}; {} \
         sampler, {} attacker",
        if epochs == 1 { "" } else { "s" },
        mechanism.sampler,
        mechanism.threat_model
    )
}

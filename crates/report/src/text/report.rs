//! A report in plain words, for a person at a terminal.

use dpscope_core::accounting::Kind;
use dpscope_core::adjacency::Direction;
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::claim::{PrivacyClaim, Verdict, VerdictReason};
use dpscope_core::audit::{Finding, OutcomeKind, TargetSide};
use dpscope_core::format::{given, rounded};
use dpscope_core::recorded::CanarySize;

use super::row;
use super::theory::comparison_text;
use super::training::training_text;
use crate::number::{self, confidence, counted, grouped, plain, up};
use crate::record::{FindingRecord, Report, ResultRecord, SeedSource};
use crate::words::{DEPENDENT_RUNS, NO_LEAKAGE, Subject, verdict_in_words};

/// What the reader can do next, in the words of the front end.
#[derive(Debug, Clone, Copy)]
pub struct Hints {
    /// How to show what an accountant claims.
    pub accountant: &'static str,
    /// How to state the scale of recorded outputs.
    pub output_scale: &'static str,
    /// How to repeat a run with a drawn seed.
    pub seed: &'static str,
}

/// The result, the verdicts and the findings.
#[must_use]
pub fn brief_text(report: &Report) -> String {
    let findings = report.findings.iter().map(|record| format!("note: {}\n", record.sentence));
    verdicts(report) + &findings.collect::<String>()
}

/// Verdict, evidence and limits.
#[must_use]
pub fn report_text(report: &Report, hints: Hints) -> String {
    let mut out = verdicts(report);
    out.push('\n');
    out.push_str(&meaning(report));
    for sentence in notes(&report.findings, hints) {
        out.push_str(&row("note", sentence));
    }
    out.push_str(&what(report));
    out.push_str(&evidence(report));
    if let Some(canary) = &report.canary {
        out.push_str(&row("canary", &canary_text(canary)));
    }
    if let Some(reach) = &report.shuffle_reach {
        out.push_str(&row("shuffle", &reach.says));
    }
    if let Some(training) = &report.training {
        out.push_str(&training_text(training));
    }
    out.push_str(&match &report.theory {
        Some(theory) => comparison_text(theory, (&report.result).into()),
        None => row("accountant", hints.accountant),
    });
    out.push_str(&limits(report));
    out.push_str(&run(report, hints.seed));
    out
}

/// The headline, and a line for the claim and for the limit.
fn verdicts(report: &Report) -> String {
    let mut out = format!("{}\n", report.headline);
    if let Some(claim) = &report.claim {
        let verdict = verdict_in_words(claim.verdict.outcome);
        let PrivacyClaim { epsilon, delta, .. } = claim.claim();
        let (epsilon, delta) = (given(*epsilon), number::delta(*delta));
        out.push_str(&format!("claim ε = {epsilon} at δ = {delta}: {verdict}\n"));
    }
    if let Some(limit) = &report.fail_above {
        let verdict = match limit.verdict.outcome {
            Verdict::Refuted if limit.verdict.reason == VerdictReason::NoNoise => {
                "EXCEEDED, since the outputs contain no noise"
            }
            Verdict::Refuted => "EXCEEDED by the bound",
            Verdict::NotRefuted => "not exceeded by the bound",
            Verdict::Inconclusive if limit.verdict.reason == VerdictReason::AttackMismatch => {
                "inconclusive, since the data are not what the attack assumes"
            }
            Verdict::Inconclusive => "inconclusive, since there is no valid bound",
        };
        out.push_str(&format!("limit ε = {}: {verdict}\n", given(limit.epsilon)));
    }
    out
}

/// The findings, and what they mean for the result. Failed runs have a row of their own.
fn notes(findings: &[FindingRecord], hints: Hints) -> Vec<&str> {
    let is_listed = |record: &&FindingRecord| !matches!(record.finding, Finding::FailedRuns { .. });
    let mut notes: Vec<&str> =
        findings.iter().filter(is_listed).map(|record| record.sentence.as_str()).collect();
    let is_scaled =
        |record: &FindingRecord| matches!(record.finding, Finding::OutputsVaryLessThanNoise { .. });
    if findings.iter().any(is_scaled) {
        notes.push(hints.output_scale);
    }
    let is_dependent = |record: &FindingRecord| {
        record.costs_coverage && matches!(record.finding, Finding::Dependence { .. })
    };
    if findings.iter().any(is_dependent) {
        notes.push(DEPENDENT_RUNS);
    }
    notes
}

fn what(report: &Report) -> String {
    if let (Subject::RecordedOutputs, Some(mechanism)) = (report.subject, &report.mechanism) {
        return row("subject", &format!("recorded outputs, taken for {mechanism}"));
    }
    let subject = match (report.subject, &report.plan) {
        (Subject::SimulatedMechanism, Some(plan)) => {
            return row("mechanism", &format!("simulated: {}", plan.mechanism));
        }
        (Subject::TrainedModels, Some(plan)) => {
            return row("mechanism", &format!("trained: {}", plan.mechanism));
        }
        (Subject::SimulatedMechanism, None) => "simulated mechanism",
        (Subject::TrainedModels, None) => "trained models",
        (Subject::RecordedOutputs, _) => "recorded outputs",
        (Subject::Scores, _) => "attack scores",
        (Subject::Counts, _) => "error counts at one threshold",
    };
    row("subject", subject)
}

/// What the attack decides by.
fn threshold(result: &ResultRecord) -> String {
    result.threshold.map_or("threshold".to_owned(), |t| {
        let sign = match result.target_if_score {
            TargetSide::Above => '>',
            TargetSide::Below => '<',
        };
        let is_small = t != 0.0 && t.abs() < 1e-3;
        let cut = if is_small { format!("{t:.4e}") } else { rounded(t, 4) };
        format!("score {sign} {cut}")
    })
}

fn evidence(report: &Report) -> String {
    let result = &report.result;
    let seen = &report.observations;
    let [d, d_prime] = [seen.evaluated.target, seen.evaluated.zero_out];
    let evaluated = if (d, d_prime) == (seen.target, seen.zero_out) {
        String::new()
    } else {
        format!("; {} and {} evaluated", grouped(d), grouped(d_prime))
    };
    let mut out = row(
        "observed",
        &format!(
            "{} with the target record, {} without{evaluated}",
            grouped(seen.target),
            grouped(seen.zero_out),
        ),
    );
    let rule = match result.threshold_rule {
        ThresholdRule::Simultaneous => format!("best of {} cuts fixed by a pilot", result.cuts),
        ThresholdRule::Split => "chosen on other observations".to_owned(),
        ThresholdRule::MaxUncorrected => format!("best of {} cuts, uncorrected", result.cuts),
        ThresholdRule::Fixed => "fixed beforehand".to_owned(),
    };
    let place = report.fixed_step.map_or(String::new(), |step| format!("target at step {step}; "));
    let threshold = threshold(result);
    out.push_str(&row(
        "attack",
        &format!(
            "{place}{threshold} ({rule}): {}, {}",
            counted(result.false_positives, "false positive"),
            counted(result.false_negatives, "false negative")
        ),
    ));
    let direction = match result.direction {
        _ if result.epsilon == 0.0 => "",
        Direction::Remove => ": the attack finds the target too often for a smaller ε",
        Direction::Add => ": the attack rules out the target too often for a smaller ε",
    };
    let joint = match result.threshold_rule {
        ThresholdRule::Split => "; ε follows from a region of both, which is smaller",
        _ => "",
    };
    let [fpr, fnr] = [result.fpr_upper, result.fnr_upper].map(up);
    out.push_str(&row(
        "error rates",
        &format!(
            "FPR ≤ {fpr}, FNR ≤ {fnr} at tail {:.3e} each{joint}{direction}",
            result.tail_per_rate
        ),
    ));
    if let Some(gdp_mu) = result.gdp_mu {
        out.push_str(&row(
            "as GDP",
            &format!("μ ≥ {} from the same limits", plain(gdp_mu, Kind::Lower, 4)),
        ));
    }
    if let Some(credible) = &report.credible {
        out.push_str(&row("Bayesian", &format!("credible ε {:.4}: not a bound", credible.epsilon)));
    }
    if let Some(maximum) = &report.uncorrected_maximum {
        let text = format!("ε ≈ {:.4}: an estimate, as published audits report", maximum.epsilon);
        out.push_str(&row("uncorrected", &text));
    }
    out
}

fn canary_text(canary: &CanarySize) -> String {
    let CanarySize { value, lower, upper, significance } = *canary;
    let [value, lower, upper] = [value, lower, upper].map(|size| rounded(size, 2));
    format!(
        "{value} clip norms ({lower} to {upper} with {} confidence): mean difference of the worlds (1 \
         if right)",
        confidence(significance)
    )
}

fn limits(report: &Report) -> String {
    let result = &report.result;
    let gain = result.gain_at_10x;
    let text = if result.limited_by_observations {
        format!(
            "limited by the number of observations: {} at the threshold; ten times as \
             many at the same rates would give {gain:.2} more",
            counted(result.events_at_threshold, "event")
        )
    } else {
        format!("ten times as many observations at the same rates would give {gain:.2} more")
    };
    let mut out = row("more data", &text);
    let text = format!("ε {:.4} is the most that as many observations can show", result.ceiling);
    out.push_str(&row("ceiling", &text));
    let failed = report.non_finite;
    if failed.target + failed.zero_out > 0 {
        let text = format!(
            "{} with and {} without the target record; counted against the attack",
            failed.target, failed.zero_out
        );
        out.push_str(&row("failed runs", &text));
    }
    out
}

fn meaning(report: &Report) -> String {
    if let Some(claim) = &report.claim {
        return row("meaning", &format!("{} Adjacency: {}.", claim.says, claim.note));
    }
    let says = match report.result.kind {
        OutcomeKind::Bound if report.result.epsilon > 0.0 => {
            let refutation = report.subject.refutation();
            format!("Any claim below this ε is refuted. That means: {refutation}")
        }
        OutcomeKind::Bound => NO_LEAKAGE.to_owned(),
        OutcomeKind::Estimate => "An estimate refutes nothing; it shows what to expect.".to_owned(),
    };
    row("meaning", &says)
}

fn run(report: &Report, repeat: &str) -> String {
    let mode = match report.subject {
        Subject::SimulatedMechanism => format!(", float mode {}", report.float_mode),
        _ => String::new(),
    };
    let mut text = format!("{}{mode}, {:.2} s", report.device, report.elapsed_ms / 1e3);
    if let Some(rate) = report.normals_per_second {
        text.push_str(&format!(", {:.0} M normals/s", rate / 1e6));
    }
    let mut out = row("run", &text);
    if report.fallback_shards > 0 {
        let waves = counted(report.fallback_shards, "wave");
        out.push_str(&row("fallback", &format!("the CPU counted {waves} that the device did not")));
    }
    if let Some(slope) = &report.score_slope {
        let text = format!(
            "slope {:.3} ± {:.3} of the log-odds of the worlds on the score (1 if right)",
            slope.slope, slope.standard_error
        );
        out.push_str(&row("check", &text));
    }
    if let Some(from) = report.resumed_from {
        out.push_str(&row("resumed", &format!("from {} observations", grouped(from))));
    }
    if let Some(seed) = &report.seed {
        let again = match report.seed_source {
            Some(SeedSource::Entropy) => format!(" (drawn; {repeat})"),
            Some(SeedSource::Content) => " (derived from the data)".to_owned(),
            _ => String::new(),
        };
        out.push_str(&row("seed", &format!("{seed}{again}")));
    }
    out
}

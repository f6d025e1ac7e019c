//! The report of an audit with two worlds.

use dpscope_core::accounting::Kind;
use dpscope_core::adjacency::Direction;
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::{Finding, OutcomeKind, TargetSide};
use dpscope_core::format::rounded;
use dpscope_core::recorded::{CanarySize, NoisePower, OutputPhase, StepComparison};

use super::Reported;
use crate::document::{Document, Hints, Section, add_comparison, add_metrics, add_training};
use crate::number::{confidence, counted, grouped, plain, up};
use crate::recompute::{Checker, OpenValues, RecomputeError, audits, open};
use crate::record::{FindingRecord, PrivacyUnit, Report, ResultRecord, SeedSource};
use crate::summary::{
    ListedFinding, ListedValue, Summary, TestedClaim, code, severity, tested_claim, tested_limit,
    theory_values,
};
use crate::words::{
    DEPENDENT_RUNS, ESTIMATE_MEANING, NO_LEAKAGE, ONE_MODEL, Subject, adjacency_explained, batches,
    coverage_sentence, headline_after, limit_sentence, phase_in_words, phase_text, step_number,
    threat_model_sentence, unit_in_words,
};

impl Reported for Report {
    const OPEN: OpenValues = OpenValues {
        reasons: &[
            ("/result/cuts", open::CHOSEN),
            ("/result/threshold_rule", open::CHOSEN),
            ("/result/expected_rates", open::CHOSEN),
            ("/result/ceiling", open::REGION),
            ("/plan", open::SETTING),
            ("/mechanism", open::SETTING),
            ("/theory", open::ACCOUNTED),
            ("/training", open::TRAINED),
            ("", open::SCORES),
        ],
        findings: Some("/findings"),
    };

    fn summary(&self) -> Summary {
        let result = &self.result;
        let claim = self.claim.as_ref().map(tested_claim);
        let limit = self.fail_above.as_ref().map(|limit| TestedClaim {
            sentence: limit_sentence(limit.verdict.reason, self.subject).to_owned(),
            ..tested_limit(limit)
        });
        let findings = self.findings.iter().map(|record| ListedFinding {
            code: code(&record.finding),
            severity: severity(record.costs_coverage),
            sentence: record.sentence.clone(),
        });
        let audited =
            ListedValue::audited(result.kind, result.epsilon, result.delta, result.significance)
                .of_audit(self.adjacency, result.ceiling);
        let theory = self.theory.as_ref().map_or(Vec::new(), theory_values);
        Summary {
            title: "Privacy audit of ".to_owned() + self.subject.name(),
            headline: headline_after(self.refuted_by_theory(), &self.headline),
            tests: claim.into_iter().chain(limit).collect(),
            findings: findings.collect(),
            values: [audited].into_iter().chain(theory).collect(),
        }
    }

    fn document(&self, hints: Hints) -> Document {
        document(self, hints)
    }

    fn brief_document(&self, _: Hints) -> Document {
        brief(self)
    }

    fn page_document(&self, hints: Hints) -> Document {
        page(self, hints)
    }

    fn recompute(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
        audits::two_worlds(report)
    }
}

/// The result, the verdicts and the findings.
fn brief(report: &Report) -> Document {
    let mut document = verdicts(report);
    document.open(Section::Findings);
    report.findings.iter().for_each(|record| document.note(&record.sentence));
    document
}

/// Verdict, evidence and limits.
fn document(report: &Report, hints: Hints) -> Document {
    let mut document = verdicts(report);
    document.gap();
    add_meaning(&mut document, report);
    document.open(Section::Findings);
    notes(&report.findings, hints).into_iter().for_each(|note| document.row("note", note));
    add_subject(&mut document, report);
    add_evidence(&mut document, report);
    if let Some(canary) = &report.canary {
        document.row("canary", &canary_text(canary));
    }
    add_phases(&mut document, &report.phases);
    if let Some(samplers) = &report.samplers {
        document.row("batches", &samplers.says);
    }
    if let Some(uses) = &report.uses {
        document.row("uses", &uses.says);
    }
    if let Some(training) = &report.training {
        add_training(&mut document, training);
    }
    document.open(Section::Theory);
    match &report.theory {
        Some(theory) => add_comparison(&mut document, theory, (&report.result).into()),
        None => document.row("accountant", hints.accountant),
    }
    add_limits(&mut document, report);
    add_run(&mut document, report, hints.seed);
    document
}

/// The document of a report with the metrics of the attack.
fn page(report: &Report, hints: Hints) -> Document {
    let mut document = document(report, hints);
    if let Some(metrics) = &report.metrics {
        add_metrics(&mut document, metrics);
    }
    document
}

/// The headline, and a line for the claim and for the limit.
fn verdicts(report: &Report) -> Document {
    let mut document = Document::of_audit(report.refuted_by_theory(), &report.headline);
    document.tests(&report.summary().tests);
    document
}

/// The findings, and what they mean for the result. Failed runs have a row of their own.
fn notes(findings: &[FindingRecord], hints: Hints) -> Vec<&str> {
    let is_listed = |record: &&FindingRecord| !matches!(record.finding, Finding::FailedRuns { .. });
    let mut notes: Vec<&str> =
        findings.iter().filter(is_listed).map(|record| record.sentence.as_str()).collect();
    let is_scaled =
        |record: &FindingRecord| matches!(record.finding, Finding::OutputsScaled { .. });
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

fn add_subject(document: &mut Document, report: &Report) {
    document.open(Section::Subject);
    let mechanism = report.plan.as_ref().map(|plan| plan.mechanism).or(report.mechanism);
    let (label, subject) = match (report.subject, mechanism) {
        (Subject::RecordedOutputs, Some(mechanism)) => {
            ("subject", format!("recorded outputs, taken for {mechanism}"))
        }
        (Subject::SimulatedMechanism, Some(mechanism)) => {
            ("mechanism", format!("simulated: {mechanism}"))
        }
        (Subject::TrainedModels, Some(mechanism)) => ("mechanism", format!("trained: {mechanism}")),
        (subject, _) => ("subject", subject.name().to_owned()),
    };
    document.row(label, &subject);
    document.detail("unit", unit_in_words(PrivacyUnit::Record));
    document.detail("adjacency", adjacency_explained(report.adjacency));
    if let Some(mechanism) = mechanism {
        document.detail("sampler", batches(mechanism.sampler.kind()));
        document.detail("threat model", threat_model_sentence(mechanism.threat_model));
    }
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

fn add_evidence(document: &mut Document, report: &Report) {
    document.open(Section::Evidence);
    let result = &report.result;
    let seen = &report.observations;
    let [d, d_prime] = [seen.evaluated.target, seen.evaluated.zero_out];
    let evaluated = if (d, d_prime) == (seen.target, seen.zero_out) {
        String::new()
    } else {
        format!("; {} and {} evaluated", grouped(d), grouped(d_prime))
    };
    document.row(
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
    let place = match (report.fixed_step, report.noiseless_steps_decide) {
        (Some(step), _) => format!("target at step {}; ", step_number(step)),
        (None, Some(true)) => "target seen at a step without noise; ".to_owned(),
        _ => String::new(),
    };
    let threshold = threshold(result);
    document.row(
        "attack",
        &format!(
            "{place}{threshold} ({rule}): {}, {}",
            counted(result.false_positives, "false positive"),
            counted(result.false_negatives, "false negative")
        ),
    );
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
    document.row(
        "error rates",
        &format!(
            "FPR ≤ {fpr}, FNR ≤ {fnr}, each wrong with probability at most {:.3e}{joint}{direction}",
            result.tail_per_rate
        ),
    );
    if let Some(gdp_mu) = result.gdp_mu {
        document
            .row("as GDP", &format!("μ ≥ {} from the same limits", plain(gdp_mu, Kind::Lower, 4)));
    }
    if let Some(credible) = &report.credible {
        document.row("Bayesian", &format!("credible ε {:.4}: not a bound", credible.epsilon));
    }
    if let Some(maximum) = &report.uncorrected_maximum {
        let text = format!("ε ≈ {:.4}: an estimate, as published audits report", maximum.epsilon);
        document.row("uncorrected", &text);
    }
}

/// A row for each epoch of recorded outputs.
fn add_phases(document: &mut Document, phases: &[OutputPhase]) {
    for phase in phases {
        document.row(&phase_in_words(phase.epochs), &phase_text(phase));
    }
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

fn add_limits(document: &mut Document, report: &Report) {
    document.open(Section::Power);
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
    document.row("more data", &text);
    let text = format!("ε {:.4} is the most that this many observations can show", result.ceiling);
    document.row("ceiling", &text);
    if let Some(text) = noise_check(report) {
        document.row("noise check", &text);
    }
    let failed = report.non_finite;
    if failed.target + failed.zero_out > 0 {
        let text = format!(
            "{} with and {} without the target record; counted against the attack",
            failed.target, failed.zero_out
        );
        document.row("failed runs", &text);
    }
}

/// What the check of the noise finds, and what it misses.
fn noise_check(report: &Report) -> Option<String> {
    let of_all = report.noise_ratio_found.map(|ratio| {
        let percent = (100.0 * (1.0 - ratio)).ceil();
        let more = match ratio < 0.75 {
            true => "; record more outputs to find a smaller difference",
            false => "",
        };
        let power = 100.0 * NoisePower::POWER;
        format!("noise {percent} % below the stated one would be found in {power} % of such audits{more}")
    });
    let of_steps = match report.step_comparison {
        None | Some(StepComparison::EachStep) => None,
        Some(StepComparison::Groups { groups }) => Some(format!(
            "each step has too few outputs, so {groups} groups of neighbouring steps are compared"
        )),
        Some(StepComparison::TooFewOutputs { runs_needed }) => Some(format!(
            "the steps of an epoch are not compared: that needs {} of each world",
            counted(runs_needed, "run")
        )),
    };
    let texts: Vec<String> = of_all.into_iter().chain(of_steps).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn add_meaning(document: &mut Document, report: &Report) {
    document.open(Section::Meaning);
    let meaning = match report.subject {
        Subject::Scores => format!("{} {ONE_MODEL}", meaning(report)),
        _ => meaning(report),
    };
    document.row("meaning", &meaning);
    document.detail("value", &coverage_sentence(report.result.kind, report.result.significance));
}

fn meaning(report: &Report) -> String {
    if let Some(claim) = &report.claim {
        return format!("{} Adjacency: {}.", claim.meaning(report.subject), claim.note);
    }
    match report.result.kind {
        OutcomeKind::Bound if report.result.epsilon > 0.0 => {
            let refutation = report.subject.refutation();
            format!("Any claim below this ε is refuted. That means: {refutation}")
        }
        OutcomeKind::Bound => NO_LEAKAGE.to_owned(),
        OutcomeKind::Estimate => ESTIMATE_MEANING.to_owned(),
    }
}

fn add_run(document: &mut Document, report: &Report, repeat: &str) {
    document.open(Section::Reproduction);
    let mode = match report.subject {
        Subject::SimulatedMechanism => format!(", float mode {}", report.float_mode),
        _ => String::new(),
    };
    let mut text = format!("{}{mode}, {:.2} s", report.device, report.elapsed_ms / 1e3);
    if let Some(rate) = report.normals_per_second {
        text.push_str(&format!(", {:.0} M normals/s", rate / 1e6));
    }
    document.row("run", &text);
    if report.fallback_shards > 0 {
        let waves = counted(report.fallback_shards, "wave");
        document.row("fallback", &format!("the CPU counted {waves} that the device did not"));
    }
    if let Some(slope) = &report.score_slope {
        let text = format!(
            "slope {:.3} ± {:.3} of the log-odds of the worlds on the score (1 if right)",
            slope.slope, slope.standard_error
        );
        document.row("check", &text);
    }
    if let Some(from) = report.resumed_from {
        document.row("resumed", &format!("from {} observations", grouped(from)));
    }
    if let Some(seed) = &report.seed {
        let again = match report.seed_source {
            Some(SeedSource::Entropy) if repeat.is_empty() => " (drawn)".to_owned(),
            Some(SeedSource::Entropy) => format!(" (drawn; {repeat})"),
            Some(SeedSource::Content) => " (derived from the data)".to_owned(),
            _ => String::new(),
        };
        document.row("seed", &format!("{seed}{again}"));
    }
    if let Some(digest) = &report.histogram_digest {
        document.detail("counts", &format!("SHA-256 of the histograms: {digest}"));
    }
    if let Some(digest) = report.plan.as_ref().and_then(|plan| plan.training.as_ref()) {
        document.detail("training", &format!("SHA-256 of its description: {digest}"));
    }
}

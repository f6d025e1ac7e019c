//! The report of canaries of a known null distribution.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::OutcomeKind;
use dpscope_core::audit::one_shot::EpsilonEstimator;
use dpscope_core::format::rounded;

use super::Reported;
use super::one_run::add_notes;
use crate::document::{Document, Hints, Section, add_federated_training};
use crate::number::{confidence, counted, grouped, plain};
use crate::recompute::{Checker, OpenValues, RecomputeError, one_shot, open};
use crate::record::{OneShotEstimate, OneShotReport, OneShotSimulation, OneShotSummary};
use crate::summary::{ListedValue, Summary, canary_findings, canary_tests};
use crate::words::{
    ESTIMATE_MEANING, LOOK_FOR_AN_ERROR, NO_ARRIVAL, NO_LEAKAGE, adjacency_explained,
    canary_null_sentence, canary_number_sentence, coverage_sentence, holds_for_sentence,
    noisy_sum_sentence, one_shot_quantity, sees_sentence, unit_in_words,
};

impl Reported for OneShotReport {
    const OPEN: OpenValues = OpenValues {
        reasons: &[
            ("/design", open::SETTING),
            ("/null_significance", open::INPUT),
            ("/delta", open::INPUT),
            ("/training", open::TRAINED),
            ("/simulation", open::SEVERAL),
            ("/evidence", open::INPUT),
            ("/detectable_epsilon", open::NULL),
            ("/ceiling", open::NULL),
            ("/bounds/gdp_mu", open::MANY_HITS),
            ("", open::CANARY_SCORES),
        ],
        findings: Some("/findings"),
    };

    fn summary(&self) -> Summary {
        let OneShotReport { kind, bounds, delta, significance, .. } = *self;
        Summary {
            title: "Privacy audit of canaries of a known null distribution".to_owned(),
            headline: self.headline.clone(),
            tests: canary_tests(self.claim.as_ref(), self.fail_above.as_ref()).collect(),
            findings: canary_findings(&self.findings),
            values: vec![
                ListedValue::audited(kind, bounds.epsilon, delta, significance)
                    .of_audit(self.design.adjacency, self.ceiling),
            ],
        }
    }

    fn document(&self, _: Hints) -> Document {
        document(self)
    }

    fn brief_document(&self, _: Hints) -> Document {
        brief(self)
    }

    fn recompute(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
        one_shot::one_shot(report)
    }
}

/// Verdict, meaning, evidence and comparisons.
fn document(report: &OneShotReport) -> Document {
    let mut document = brief(report);
    document.gap();
    document.open(Section::Meaning);
    document.row("meaning", &meaning(report));
    document.detail("value", &coverage_sentence(report.kind, report.significance));
    let design = &report.design;
    document.open(Section::Subject);
    document.detail("unit", unit_in_words(design.unit));
    document.detail("adjacency", adjacency_explained(design.adjacency));
    document.row("holds for", holds_for_sentence(design.number));
    document.row("against", sees_sentence(design.attacker));
    document.row("canaries", &canary_number_sentence(design));
    document.row("null", &canary_null_sentence(design.null));
    document.open(Section::Power);
    if let Some(ceiling) = report.ceiling {
        let text = format!(
            "ε {} is the most that these null scores can show",
            plain(ceiling, Kind::Lower, 4)
        );
        document.row("ceiling", &text);
    }
    document.open(Section::Evidence);
    if let Some(mean) = report.standardised_mean {
        let text = format!("√K z̄ = {}, which is N(0, 1) if no canary took part", rounded(mean, 2));
        document.row("mean score", &text);
    }
    if report.canaries_lost_to_delta > 0 {
        let which = match report.canaries_lost_to_delta {
            all if all >= design.inserted => "all p-values".to_owned(),
            some => format!("the {} smallest p-values", grouped(some)),
        };
        let text = format!("{which} are ignored at this δ; plan fewer canaries");
        document.row("δ", &text);
    }
    add_other_bounds(&mut document, report);
    for (place, estimate) in report.estimates.iter().enumerate() {
        let label = if place == 0 { "estimates" } else { "" };
        document.row(label, &estimate_in_words(estimate));
    }
    if let Some(simulation) = &report.simulation {
        add_simulation(&mut document, simulation);
    }
    if let Some(training) = &report.training {
        add_federated_training(&mut document, training);
    }
    document.open(Section::Reproduction);
    document.row("run", &format!("{:.2} s", report.elapsed_ms / 1e3));
    document
}

/// The mechanism, and what all runs showed.
fn add_simulation(document: &mut Document, simulation: &OneShotSimulation) {
    document.open(Section::Subject);
    document.row("mechanism", &noisy_sum_sentence(simulation));
    document.open(Section::Evidence);
    if !simulation.summaries.is_empty() {
        let text = format!(
            "{}; above is the first; medians with 90 % of the runs:",
            counted(simulation.repeats, "independent run")
        );
        document.row("repeats", &text);
    }
    for summary in &simulation.summaries {
        document.row("", &summary_in_words(summary));
    }
    document.open(Section::Reproduction);
    document.row("seed", &simulation.seed);
    document.row("device", &simulation.device);
}

fn summary_in_words(summary: &OneShotSummary) -> String {
    let OneShotSummary { median, low, high, runs, runs_above, .. } = *summary;
    let [median, low, high] = [median, low, high].map(|value| rounded(value, 2));
    let (symbol, of) = one_shot_quantity(summary.quantity);
    let mut text = format!("{symbol} {median} ({low} to {high}) {of}");
    if summary.truth.is_some() {
        let share = rounded(100.0 * runs_above as f64 / runs as f64, 1);
        text.push_str(&format!("; {share} % above the truth"));
    }
    text
}

/// The result, the verdicts and the findings.
fn brief(report: &OneShotReport) -> Document {
    let mut document = Document::new(&report.headline);
    document.tests(&report.summary().tests);
    document.open(Section::Findings);
    if !report.has_arrived && report.claim.is_some() {
        document.note(NO_ARRIVAL);
    }
    add_notes(&mut document, &report.findings);
    document
}

fn meaning(report: &OneShotReport) -> String {
    if let Some(claim) = &report.claim {
        let could = if report.bounds.epsilon > 0.0 { String::new() } else { detectable(report) };
        return format!("{} {could} Adjacency: {}.", claim.says, claim.note);
    }
    let mut says = match report.kind {
        OutcomeKind::Estimate => ESTIMATE_MEANING.to_owned(),
        OutcomeKind::Bound if report.bounds.epsilon > 0.0 => {
            "Any claim below this ε, for this adjacency, is refuted.".to_owned()
        }
        OutcomeKind::Bound => {
            let none = if report.has_arrived { NO_LEAKAGE } else { NO_ARRIVAL };
            format!("{none} {}", detectable(report))
        }
    };
    if report.findings.iter().any(|record| record.finding.suggests_a_leak()) {
        says = format!("{says} {LOOK_FOR_AN_ERROR}");
    }
    says
}

/// What could have been seen.
fn detectable(report: &OneShotReport) -> String {
    match report.detectable_epsilon {
        Some(epsilon) => format!(
            "A Gaussian leak of ε = {} would have shown ε > 0 with probability 80 %.",
            rounded(epsilon, 2)
        ),
        None if report.delta == 0.0 => {
            "At δ = 0 no Gaussian leak has a finite ε: audit at a δ above \
            0 for the leak that could have been seen."
                .to_owned()
        }
        None if report.findings.iter().any(|record| record.finding.means_no_scores()) => {
            "No leak could have been seen.".to_owned()
        }
        None => "At this δ no leak could have been seen: plan with fewer canaries or a smaller δ."
            .to_owned(),
    }
}

/// The bounds under other assumptions.
fn add_other_bounds(document: &mut Document, report: &OneShotReport) {
    let (bounds, sign) =
        (&report.bounds, if report.kind == OutcomeKind::Bound { '≥' } else { '≈' });
    let lower = |value: f64| plain(value, Kind::Lower, 4);
    let text = format!(
        "ε {sign} {} if canaries do not influence each other",
        lower(bounds.independent_epsilon)
    );
    document.row("independent", &text);
    let text = format!(
        "μ {sign} {} if the training is claimed to be μ-GDP, for any training algorithm",
        lower(bounds.gdp_mu)
    );
    document.row("as GDP", &text);
    if let Some(mu) = bounds.independent_gdp_mu {
        let epsilon = report.epsilon_by_gaussian_curve.filter(|_| mu > 0.0).map_or(
            String::new(),
            |epsilon| {
                let epsilon = lower(epsilon);
                format!(", by the Gaussian curve ε = {epsilon}, which refutes no (ε, δ) claim")
            },
        );
        let text = format!(
            "μ {sign} {} if, in addition, canaries do not influence each other{epsilon}",
            lower(mu)
        );
        document.row("", &text);
    }
    let text = format!(
        "each bound has {} confidence by itself; the verdict uses the first bound; to use another, \
         choose it before the training",
        confidence(report.significance)
    );
    document.row("", &text);
}

fn estimate_in_words(estimate: &OneShotEstimate) -> String {
    let method = match estimate.method {
        EpsilonEstimator::Mean => "by the mean score",
        EpsilonEstimator::TwoGaussians => "by two fitted Gaussians, as published",
    };
    let [low, high] = estimate.null_range.map(|end| rounded(end, 2));
    format!(
        "ε ≈ {} {method}; without any leak, 90 % of runs show {low} to {high}",
        rounded(estimate.epsilon, 4)
    )
}

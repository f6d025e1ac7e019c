//! The report of one run with canaries.

use dpscope_core::accounting::Kind;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::OutcomeKind;
use dpscope_core::audit::one_run::OneRunBound;
use dpscope_core::format::rounded;

use super::Reported;
use crate::document::{Document, Hints, Section, add_trainings};
use crate::number::{self, grouped, plain};
use crate::recompute::{Checker, OpenValues, RecomputeError, canaries, open};
use crate::record::{OneRunFindingRecord, OneRunReport, PrivacyUnit};
use crate::summary::{
    ListedValue, PROVEN_LOWER, Summary, TestKind, TestedClaim, accounted, canary_findings,
    canary_tests, theory_values,
};
use crate::words::{
    CANARIES_ALONE, ESTIMATE_MEANING, GuessRuleKind, INDEPENDENT_CANARIES, InWords,
    LOOK_FOR_A_LEAK, NO_ARRIVAL, NO_LEAKAGE, PAIRS_FACTOR, adjacency_explained, canaries_sentence,
    claimed_training_in_words, coins_sentence, coverage_sentence, guess_rule_sentence,
    headline_after, projected_noise_sentence, projected_score_sentence, runs_sentence,
    self_test_sentence, unit_in_words, verdict_in_words,
};

impl Reported for OneRunReport {
    const OPEN: OpenValues = OpenValues {
        reasons: &[
            ("/bounds", open::SEVERAL),
            ("/ranking", open::SEVERAL),
            ("/runs", open::SETTING),
            ("/claimed_training/test", open::UNTESTED),
            ("/claimed_training", open::CLAIMED),
            ("/training", open::TRAINED),
            ("", open::CANARY_SCORES),
        ],
        findings: Some("/findings"),
    };

    fn summary(&self) -> Summary {
        let tested = self.claimed_training.as_ref().and_then(|it| Some((it, it.test.as_ref()?)));
        let training = tested.map(|(claimed, test)| TestedClaim {
            kind: TestKind::Training,
            name: format!(
                "training {}",
                claimed_training_in_words(claimed.sampler, &claimed.schedule)
            ),
            epsilon: None,
            outcome: test.verdict.outcome,
            reason: Some(test.verdict.reason),
            verdict: verdict_in_words(test.verdict.outcome),
            sentence: claimed.says.clone(),
        });
        let values = self.bounds.iter().map(|bound| {
            ListedValue::audited(self.kind, bound.epsilon, bound.delta, self.significance)
                .of_audit(self.design.adjacency, bound.ceiling)
        });
        let proven = self.claimed_training.as_ref().and_then(|it| it.proven.as_ref());
        let proven = proven.map(|it| accounted(PROVEN_LOWER, it));
        let theory = self.training.as_ref().map(|training| theory_values(&training.theory));
        Summary {
            title: "Privacy audit of one run with canaries".to_owned(),
            headline: headline_after(self.refuted_by_theory(), &self.headline),
            tests: canary_tests(self.claim.as_ref(), self.fail_above.as_ref())
                .chain(training)
                .collect(),
            findings: canary_findings(&self.findings),
            values: values.chain(proven).chain(theory.into_iter().flatten()).collect(),
        }
    }

    fn document(&self, _: Hints) -> Document {
        document(self)
    }

    fn brief_document(&self, _: Hints) -> Document {
        brief(self)
    }

    fn recompute(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
        canaries::one_run(report)
    }
}

/// Verdict, meaning, evidence and comparisons.
fn document(report: &OneRunReport) -> Document {
    let mut document = brief(report);
    document.gap();
    document.open(Section::Meaning);
    document.row("meaning", &meaning(report));
    document.detail("value", &coverage_sentence(report.kind, report.significance));
    document.open(Section::Subject);
    document.detail("unit", unit_in_words(PrivacyUnit::Record));
    document.detail("adjacency", adjacency_explained(report.design.adjacency));
    if let Some(claimed) = &report.claimed_training {
        document.row("training", &claimed.says);
        if let Some(proven) = &claimed.proven {
            document.row("proven", &proven.sentence(false));
        }
    }
    if report.design.adjacency == Adjacency::Replace {
        document.row("pairs", PAIRS_FACTOR);
    }
    let first = report.bounds[0];
    document.row("canaries", &canaries_sentence(&report.design));
    document.open(Section::Evidence);
    if let Some(runs) = &report.runs {
        document.row("runs", &runs_sentence(runs.made, runs.planned, report.design.rule));
    }
    document.row("coins", &coins_sentence(&report.design, report.inclusion_probability));
    if let Some(projected) = &report.projections {
        document.row("score", &projected_score_sentence(projected.score, projected.sampling_rate));
        for (index, run) in projected.runs.iter().enumerate() {
            let name = if index == 0 { "noise" } else { "" };
            let stated = projected.noise_multiplier;
            document.row(name, &projected_noise_sentence(run.steps, run.noise_estimate, stated));
        }
    }
    if let Some(test) = &report.self_test {
        document.row("self-test", &self_test_sentence(test));
    }
    let guesses = guess_rule_sentence(&report.design, first.guesses, first.correct);
    document.row("guesses", &guesses);
    for bound in &report.bounds[1..] {
        document.row("", &value(report, bound));
    }
    if let Some(training) = &report.training {
        add_trainings(&mut document, training, report.into());
    }
    add_comparisons(&mut document, report, &first);
    document.open(Section::Reproduction);
    if let Some(training) = &report.training {
        document.row("seed", &training.seed);
        document.row("device", &training.device);
    }
    document.row("run", &format!("{:.2} s", report.elapsed_ms / 1e3));
    document
}

/// The result, the verdicts and the findings.
fn brief(report: &OneRunReport) -> Document {
    let mut document = Document::of_audit(report.refuted_by_theory(), &report.headline);
    document.tests(&report.summary().tests);
    add_notes(&mut document, &report.findings);
    document
}

/// What the data indicate, one line each.
pub(super) fn add_notes(document: &mut Document, findings: &[OneRunFindingRecord]) {
    document.open(Section::Findings);
    findings.iter().for_each(|record| document.note(&record.sentence));
}

fn meaning(report: &OneRunReport) -> String {
    if let Some(claim) = &report.claim {
        let says = match report.refuted_by_theory() {
            Some(_) => CANARIES_ALONE,
            None => &claim.says,
        };
        return format!("{says} Adjacency: {}.", claim.note);
    }
    let first = &report.bounds[0];
    let mut says = match report.kind {
        OutcomeKind::Estimate => ESTIMATE_MEANING.to_owned(),
        OutcomeKind::Bound if first.epsilon > 0.0 => {
            "Any claim below this ε, for this adjacency, is refuted.".to_owned()
        }
        OutcomeKind::Bound => format!(
            "{} With all guesses correct, this audit would have shown ε ≥ {}.",
            if report.has_arrived { NO_LEAKAGE } else { NO_ARRIVAL },
            plain(first.ceiling, Kind::Lower, 2)
        ),
    };
    if report.findings.iter().any(|record| record.finding.suggests_a_leak()) {
        says = format!("{says} {LOOK_FOR_A_LEAK}");
    }
    says
}

fn value(report: &OneRunReport, bound: &OneRunBound) -> String {
    let (sign, kind) = match report.kind {
        OutcomeKind::Bound => ('≥', Kind::Lower),
        OutcomeKind::Estimate => ('≈', Kind::Estimate),
    };
    format!(
        "ε {sign} {} at δ = {} ({} of {} correct)",
        plain(bound.epsilon, kind, 4),
        number::delta(bound.delta),
        number::grouped(bound.correct),
        number::grouped(bound.guesses)
    )
}

fn add_comparisons(document: &mut Document, report: &OneRunReport, first: &OneRunBound) {
    document.open(Section::Evidence);
    let is_fixed = report.design.rule != GuessRuleKind::Walk;
    let text = if is_fixed && report.kind == OutcomeKind::Bound {
        let steinke = plain(first.steinke_epsilon, Kind::Lower, 4);
        format!("ε ≥ {steinke} by the looser test of published tools: for comparison with papers")
    } else {
        let steinke = plain(first.steinke_epsilon, Kind::Estimate, 4);
        let as_if = if is_fixed { "" } else { ", as if this number of guesses had been fixed" };
        format!(
            "ε ≈ {steinke} by the looser test of published tools{as_if}: no bound, for comparison with \
             papers"
        )
    };
    document.row("Steinke", &text);
    if let Some(mu) = report.gdp_mu {
        let mu = plain(mu, Kind::Lower, 4);
        document.row("as GDP", &format!("μ ≥ {mu}; assumes a Gaussian trade-off curve"));
    }
    if let Some(found) = &report.independent_pairs {
        let mu = plain(found.gdp_mu, Kind::Lower, 4);
        let epsilon = found
            .epsilon
            .map_or(String::new(), |epsilon| format!("ε ≥ {}, ", plain(epsilon, Kind::Lower, 4)));
        let text = format!(
            "{epsilon}μ ≥ {mu} if canaries do not influence each other and the training is μ-GDP: the included \
             one has the larger score in {} of {} random pairs",
            grouped(found.correct),
            grouped(found.pairs)
        );
        document.row("independent", &text);
    }
    if let Some(found) = &report.independent_canaries {
        let label = if report.independent_pairs.is_some() { "" } else { "independent" };
        let epsilon = found.epsilon.map_or(String::new(), |e| format!(", ε ≈ {}", rounded(e, 4)));
        let text = format!("μ ≈ {}{epsilon}: {INDEPENDENT_CANARIES}", rounded(found.gdp_mu, 4));
        document.row(label, &text);
    }
    if let Some(auc) = report.auc {
        document.row("AUC", &format!("{} of included against other canaries", rounded(auc, 4)));
    }
    document.open(Section::Power);
    let ceiling = plain(first.ceiling, Kind::Lower, 4);
    document.row("ceiling", &format!("ε {ceiling} is the most that these canaries can show"));
    let text = format!(
        "ten times as many canaries with the same share of correct guesses would add about {}",
        rounded(first.gain_at_10x, 2)
    );
    document.row("more data", &text);
}

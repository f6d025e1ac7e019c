//! A report of one run, for a person at a terminal.

use dpscope_core::accounting::Kind;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::OutcomeKind;
use dpscope_core::audit::claim::Verdict;
use dpscope_core::audit::one_run::OneRunBound;
use dpscope_core::format::{given, rounded};

use super::one_run_training::trainings_text;
use super::row;
use crate::number::{self, plain};
use crate::record::{LimitRecord, OneRunClaim, OneRunFindingRecord, OneRunReport};
use crate::words::{
    GuessRuleKind, INDEPENDENT_CANARIES, LOOK_FOR_A_LEAK, NO_LEAKAGE, PAIRS_FACTOR,
    canaries_sentence, claimed_training_in_words, coins_sentence, guess_rule_sentence,
    runs_sentence, self_test_sentence, unfair_coins_sentence, verdict_in_words,
};

/// Verdict, meaning, evidence and comparisons.
#[must_use]
pub fn one_run_text(report: &OneRunReport) -> String {
    let mut out = one_run_brief_text(report);
    out.push('\n');
    out.push_str(&meaning(report));
    if let Some(claimed) = &report.claimed_training {
        out.push_str(&row("training", &claimed.says));
    }
    if report.design.adjacency == Adjacency::Replace {
        out.push_str(&row("pairs", PAIRS_FACTOR));
    }
    let first = report.bounds[0];
    out.push_str(&row("canaries", &canaries_sentence(&report.design)));
    if let Some(runs) = &report.runs {
        out.push_str(&row("runs", &runs_sentence(runs.made, runs.planned, report.design.rule)));
    }
    match report.inclusion_probability {
        None => out.push_str(&row("coins", coins_sentence(report.design.coins))),
        Some(inclusion) => out.push_str(&row("coins", &unfair_coins_sentence(inclusion))),
    }
    if let Some(test) = &report.self_test {
        out.push_str(&row("self-test", &self_test_sentence(test)));
    }
    let guesses = guess_rule_sentence(&report.design, first.guesses, first.correct);
    out.push_str(&row("guesses", &guesses));
    for bound in &report.bounds[1..] {
        out.push_str(&row("", &value(report, bound)));
    }
    if let Some(training) = &report.training {
        out.push_str(&trainings_text(training, report.into()));
    }
    out.push_str(&comparisons(report, &first));
    if let Some(training) = &report.training {
        out.push_str(&row("seed", &training.seed));
        out.push_str(&row("device", &training.device));
    }
    out.push_str(&row("run", &format!("{:.2} s", report.elapsed_ms / 1e3)));
    out
}

/// The result, the verdicts and the findings.
#[must_use]
pub fn one_run_brief_text(report: &OneRunReport) -> String {
    let mut out = format!("{}\n", report.headline);
    out.push_str(&claim_lines(report.claim.as_ref(), report.fail_above.as_ref()));
    if let Some(claimed) = &report.claimed_training {
        let training = claimed_training_in_words(claimed.sampler, &claimed.schedule);
        let verdict = verdict_in_words(claimed.test.verdict.outcome);
        out.push_str(&format!("training {training}: {verdict}\n"));
    }
    out.push_str(&finding_lines(&report.findings));
    out
}

/// The verdicts on a claim and on a limit.
pub(super) fn claim_lines(claim: Option<&OneRunClaim>, limit: Option<&LimitRecord>) -> String {
    let mut out = String::new();
    if let Some(record) = claim {
        let (epsilon, delta) = (given(record.claim.epsilon), number::delta(record.claim.delta));
        let verdict = verdict_in_words(record.verdict.outcome);
        out.push_str(&format!("claim ε = {epsilon} at δ = {delta}: {verdict}\n"));
    }
    if let Some(limit) = limit {
        let verdict = match limit.verdict.outcome {
            Verdict::Refuted => "EXCEEDED by the bound",
            Verdict::NotRefuted => "not exceeded by the bound",
            Verdict::Inconclusive => "inconclusive",
        };
        out.push_str(&format!("limit ε = {}: {verdict}\n", given(limit.epsilon)));
    }
    out
}

/// What the data indicate, one line each.
pub(super) fn finding_lines(findings: &[OneRunFindingRecord]) -> String {
    findings.iter().map(|record| format!("note: {}\n", record.sentence)).collect()
}

fn meaning(report: &OneRunReport) -> String {
    if let Some(claim) = &report.claim {
        return row("meaning", &format!("{} Adjacency: {}.", claim.says, claim.note));
    }
    let first = &report.bounds[0];
    let mut says = match report.kind {
        OutcomeKind::Estimate => "An estimate refutes nothing; it shows what to expect.".to_owned(),
        OutcomeKind::Bound if first.epsilon > 0.0 => {
            "Any claim below this ε, for this adjacency, is refuted.".to_owned()
        }
        OutcomeKind::Bound => format!(
            "{NO_LEAKAGE} With all guesses correct, this audit would have shown ε ≥ {}.",
            plain(first.ceiling, Kind::Lower, 2)
        ),
    };
    if report.findings.iter().any(|record| record.finding.suggests_a_leak()) {
        says = format!("{says} {LOOK_FOR_A_LEAK}");
    }
    row("meaning", &says)
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

fn comparisons(report: &OneRunReport, first: &OneRunBound) -> String {
    let mut out = String::new();
    let as_if = match report.design.rule {
        GuessRuleKind::Walk => ", as if this number of guesses had been fixed",
        GuessRuleKind::Fixed | GuessRuleKind::OneSide => "",
    };
    let steinke = plain(first.steinke_epsilon, Kind::Lower, 4);
    let text = format!(
        "ε ≥ {steinke} by the looser test of published tools{as_if}: for comparison with papers"
    );
    out.push_str(&row("Steinke", &text));
    if let Some(mu) = report.gdp_mu {
        let mu = plain(mu, Kind::Lower, 4);
        out.push_str(&row("as GDP", &format!("μ ≥ {mu}; assumes a Gaussian trade-off curve")));
    }
    if let Some(found) = &report.independent_canaries {
        let epsilon = found.epsilon.map_or(String::new(), |e| format!(", ε ≈ {}", rounded(e, 4)));
        let text = format!("μ ≈ {}{epsilon}: {INDEPENDENT_CANARIES}", rounded(found.gdp_mu, 4));
        out.push_str(&row("independent", &text));
    }
    if let Some(auc) = report.auc {
        out.push_str(&row(
            "AUC",
            &format!("{} of included against other canaries", rounded(auc, 4)),
        ));
    }
    let ceiling = plain(first.ceiling, Kind::Lower, 4);
    out.push_str(&row("ceiling", &format!("ε {ceiling} is the most that these canaries can show")));
    let text = format!(
        "ten times as many canaries with the same share of correct guesses would add about {}",
        rounded(first.gain_at_10x, 2)
    );
    out.push_str(&row("more data", &text));
    out
}

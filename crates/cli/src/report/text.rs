//! A report in plain words, for a person at a terminal.

use dpscope_core::adjacency::Direction;
use dpscope_core::audit::AuditResult;
use dpscope_core::bound::ThresholdRule;
use dpscope_core::claim::{PrivacyClaim, Verdict};

use dpscope_core::shown::{given, rounded};
use dpscope_core::theory::Kind;

use super::{Report, Subject, plain};
use crate::seed::SeedSource;

/// Verdict, evidence and limits.
pub(super) fn to_text(report: &Report) -> String {
    let result = &report.result;
    let mut out = headline(result);
    if let Some(claim) = &report.claim {
        let verdict = match claim.verdict {
            Verdict::Refuted => "REFUTED",
            Verdict::NotRefuted => "not refuted",
        };
        let PrivacyClaim { epsilon, delta, .. } = claim.claim();
        out.push_str(&format!("claim ε = {} at δ = {delta:e}: {verdict}\n", given(*epsilon)));
    }
    if let Some(most) = report.fail_above {
        out.push_str(&format!("limit ε = {}: {}\n", given(most), against_limit(result, most)));
    }
    out.push('\n');
    out.push_str(&meaning(report));
    for finding in &report.findings {
        out.push_str(&row("note", finding));
    }
    out.push_str(&what(report));
    out.push_str(&evidence(report));
    if let Some(reach) = &report.shuffle_reach {
        out.push_str(&row("shuffle", &reach.says));
    }
    if let Some(training) = &report.training {
        out.push_str(&training.to_text());
    }
    out.push_str(&theory(report));
    out.push_str(&limits(report));
    out.push_str(&run(report));
    out
}

fn against_limit(result: &AuditResult, most: f64) -> &'static str {
    match result.kind {
        "bound" if result.epsilon > most => "EXCEEDED by the bound",
        "bound" => "not exceeded by the bound",
        _ => "not tested, since an estimate has no coverage",
    }
}

fn headline(result: &AuditResult) -> String {
    let AuditResult { epsilon, delta, significance, .. } = result;
    match result.kind {
        "bound" => {
            let confidence = confidence(*significance);
            let shown = plain(*epsilon, Kind::Lower, 4);
            format!("ε ≥ {shown} at δ = {delta:e}, with {confidence} confidence\n")
        }
        _ => format!("ε ≈ {epsilon:.4} at δ = {delta:e}: an estimate, without coverage\n"),
    }
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
        ThresholdRule::Split => "chosen on the other half".to_owned(),
        ThresholdRule::MaxUncorrected => format!("best of {} cuts, uncorrected", result.cuts),
        ThresholdRule::Fixed => "fixed beforehand".to_owned(),
    };
    let threshold = result.threshold.map_or("threshold".to_owned(), |t| {
        let sign = if result.target_if_score == "above" { '>' } else { '<' };
        let is_small = t != 0.0 && t.abs() < 1e-3;
        let cut = if is_small { format!("{t:.4e}") } else { rounded(t, 4) };
        format!("score {sign} {cut}")
    });
    out.push_str(&row(
        "attack",
        &format!(
            "{threshold} ({rule}): {}, {}",
            counted(result.false_positives, "false positive"),
            counted(result.false_negatives, "false negative")
        ),
    ));
    let direction = match result.direction {
        _ if result.epsilon == 0.0 => "",
        Direction::Remove => ": this decision is too likely with the target record",
        Direction::Add => ": the other decision is too likely without the target record",
    };
    let [fpr, fnr] = [result.fpr_upper, result.fnr_upper].map(up);
    out.push_str(&row(
        "error rates",
        &format!("FPR ≤ {fpr}, FNR ≤ {fnr} at tail {:.3e} each{direction}", result.tail_per_rate),
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

fn theory(report: &Report) -> String {
    match &report.theory {
        Some(beside) => beside.to_text(&report.result),
        None => row(
            "accountant",
            "--noise-multiplier and --steps of the training show here what is usually claimed",
        ),
    }
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
        "bound" if report.result.epsilon > 0.0 => {
            let refutation = report.subject.refutation();
            format!("A smaller claimed ε at this δ is refuted, which would say: {refutation}")
        }
        "bound" => "This attack did not find any leakage. That proves nothing.".to_owned(),
        _ => "An estimate refutes nothing; it shows what to expect.".to_owned(),
    };
    row("meaning", &says)
}

fn run(report: &Report) -> String {
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
        let drawn = report.seed_source == Some(SeedSource::Entropy);
        let again = if drawn { " (drawn; --seed repeats this run)" } else { "" };
        out.push_str(&row("seed", &format!("{seed}{again}")));
    }
    out
}

/// A label of 12 columns, then text wrapped at 96.
pub(crate) fn row(label: &str, text: &str) -> String {
    let mut out = String::new();
    let mut line = format!("  {label:<12}");
    let mut fresh = true;
    for word in text.split_whitespace() {
        if !fresh && line.chars().count() + 1 + word.chars().count() > 96 {
            out.push_str(line.trim_end());
            out.push('\n');
            line = format!("  {:<12}", "");
            fresh = true;
        }
        if !fresh {
            line.push(' ');
        }
        line.push_str(word);
        fresh = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out
}

/// An upper limit of a rate as text, rounded up to five digits.
fn up(limit: f64) -> String {
    let shown = format!("{limit:.4e}");
    match shown.parse::<f64>() {
        Ok(rounded) if rounded < limit => {
            let digits = shown.split('e').nth(1).and_then(|e| e.parse::<i32>().ok());
            let unit = digits.and_then(|e| format!("1e{}", e - 4).parse::<f64>().ok());
            format!("{:.4e}", rounded + unit.unwrap_or(0.0))
        }
        _ => shown,
    }
}

/// A number of things: 1 event, 2 events.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}

/// 1234567 as 1,234,567.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// 1234567 as 1.2 M.
pub(crate) fn short(rate: f64) -> String {
    match rate {
        r if r >= 1e9 => format!("{:.2} G", r / 1e9),
        r if r >= 1e6 => format!("{:.1} M", r / 1e6),
        r if r >= 1e3 => format!("{:.1} k", r / 1e3),
        r => format!("{r:.1}"),
    }
}

/// A significance of 0.05 as 95 %: never more than it is, with at most six decimals.
pub(crate) fn confidence(significance: f64) -> String {
    // rounded up, but for the rounding of the product itself
    let risk = (significance * 1e8 - 1e-4).ceil();
    let shown = format!("{:.6}", (1e8 - risk.max(1.0)) / 1e6);
    let more = if risk < 1.0 || significance < 1e-8 { "more than " } else { "" };
    format!("{more}{} %", shown.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_shown_rounded_outward() {
        for limit in [1.000_000_1e-5, 0.999_999_9, 1.0, 8.732_41e-6, 0.5, 9.999_99e-3] {
            let shown = up(limit).parse::<f64>().unwrap();
            assert!(shown >= limit && shown <= limit * 1.000_2, "{limit}: {shown}");
        }
    }

    #[test]
    fn numbers_are_grouped_and_text_is_wrapped() {
        assert_eq!([grouped(0), grouped(999), grouped(1_234_567)], ["0", "999", "1,234,567"]);
        assert_eq!([0.05, 0.001, 0.1].map(confidence), ["95 %", "99.9 %", "90 %"]);
        assert_eq!([1e-8, 1.5e-8].map(confidence), ["99.999999 %", "99.999998 %"]);
        assert_eq!([9e-9, 1e-13, 1e-100].map(confidence), ["more than 99.999999 %"; 3]);
        let text = row("label", &"word ".repeat(60));
        assert!(text.lines().count() > 3 && text.lines().all(|line| line.len() <= 96));
    }
}

//! Rows about trainings with canaries.

use dpscope_core::accounting::Kind;
use dpscope_core::format::rounded;

use super::theory::add_comparison;
use super::{Document, Section};
use crate::number::{counted, grouped, plain};
use crate::record::{AuditedEpsilon, OneRunTrainings, RepeatSummary};
use crate::words::canary_score_sentence;

pub(crate) fn add_trainings(
    document: &mut Document,
    training: &OneRunTrainings,
    audited: AuditedEpsilon,
) {
    document.open(Section::Subject);
    document.row("mechanism", &format!("trained: {}", training.mechanism));
    document.row("trained", &trained(training));
    document.row("score", &canary_score_sentence(training.score, training.reference_models));
    if let Some(share) = training.correct_share {
        let asked = counted(training.asked, "prediction");
        let share = rounded(100.0 * share, 1);
        let text = format!("{share} % of {asked} on held-out data are correct");
        document.row("models", &text);
    }
    document.open(Section::Evidence);
    if let Some(summary) = &training.summary {
        document.row("repeats", &repeats(summary, training.repeats.len()));
    }
    document.open(Section::Theory);
    add_comparison(document, &training.theory, audited);
    if let Some(epsilon) = training.ideal_attack_epsilon {
        let text = format!(
            "ε ≈ {} is what an ideal attack would show with these canaries, if the training leaked as \
             much as the accountant claims",
            rounded(epsilon, 2)
        );
        document.row("power", &text);
    }
}

/// Data, canaries and settings.
fn trained(training: &OneRunTrainings) -> String {
    let description = &training.description;
    let name = |pointer: &str| match description.pointer(pointer) {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let number = |pointer: &str| description.pointer(pointer).and_then(serde_json::Value::as_u64);
    let records = number("/data/records").unwrap_or(0);
    let mut text = format!(
        "{} on {} records of {} and {} {}, learning rate {}",
        counted(training.repeats.len() as u64, "model"),
        grouped(records),
        name("/data/name"),
        counted_canaries(training.canaries),
        in_brackets(&name("/canaries/name")),
        name("/settings/learning_rate"),
    );
    let momentum = name("/settings/momentum");
    if momentum != "0.0" {
        text.push_str(&format!(", momentum {momentum}"));
    }
    if let Some(records) = number("/settings/pre_training/records") {
        let records = grouped(records);
        text.push_str(&format!("; pre-trained without privacy on {records} other records"));
    }
    text
}

fn in_brackets(name: &str) -> String {
    format!("({name})")
}

fn counted_canaries(canaries: u32) -> String {
    format!("{} canaries", grouped(u64::from(canaries)))
}

/// The bounds of single trainings.
fn repeats(summary: &RepeatSummary, repeats: usize) -> String {
    let value = |epsilon| plain(epsilon, Kind::Lower, 4);
    let above = match summary.above_claim {
        Some(above) => format!("; {above} of {repeats} exceed the claim"),
        None => String::new(),
    };
    format!(
        "audited one by one, the {repeats} repeats give ε ≥ {} in the median, from {} to \
         {}{above}; the bound above covers all of them, and the largest of these is not a bound",
        value(summary.median),
        value(summary.smallest),
        value(summary.largest),
    )
}

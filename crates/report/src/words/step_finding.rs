//! Findings about the first steps of a training in words.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::foreign_text::ForeignText;
use dpscope_core::format::{given, rounded};
use dpscope_core::training_check::step::{
    Neighbours, NoisePairs, NoiseScope, Place, ProbeKind, StepCheck, StepFinding, StepOutcome,
    StepSeverity, ValueChange,
};

use super::one_run::adjacency_in_words;
use super::output_phase::with_limits;
use crate::number::{counted, grouped};

/// What a check of steps found, in one or two sentences.
#[must_use]
pub fn step_headline(check: &StepCheck) -> String {
    let steps = counted(check.steps, "step");
    let found = |is: fn(StepSeverity) -> bool| {
        check.findings.iter().filter(|finding| is(finding.severity())).count() as u64
    };
    match check.outcome {
        StepOutcome::Violated => format!(
            "{} in {steps} with record {}: the training is not what the accountant assumes.",
            counted(found(|it| it <= StepSeverity::Violates), "violation"),
            check.target
        ),
        StepOutcome::NoViolationFound => format!(
            "No violation in {steps} with this record{}. This proves nothing about other records, \
             batches, steps or the sampler.",
            match found(|it| it == StepSeverity::Warning) {
                0 => String::new(),
                warnings => format!(", but {}", counted(warnings, "warning")),
            }
        ),
        StepOutcome::Incomplete => format!(
            "No violation in {steps} with this record, but not everything was compared. This proves \
             nothing about what was not, or about other records, batches, steps or the sampler."
        ),
    }
}

/// What a finding says, with what to change.
#[must_use]
pub fn step_finding_sentence(finding: &StepFinding) -> String {
    use StepFinding as F;
    match finding {
        F::SensitivityExceeded { change, record, place, is_uncertain } => {
            let (change, place) = (amount(*change), at(place, Some(*record)));
            match is_uncertain {
                false => format!(
                    "The accountant assumes that a record changes the sum by at most C. Here it changes \
                     it by {change} C{place}. Clip the gradient of each record to C, for all tensors \
                     together, before gradients are summed."
                ),
                true => format!(
                    "The sum changes by {change} C{place}, which other random draws in a batch of another \
                     size may explain. Compare under zero-out, which keeps the draws."
                ),
            }
        }
        F::OtherGradientsChange { change, record, place, is_uncertain } => format!(
            "The accountant assumes that a record changes no gradient but its own. Here the norm of the \
             gradient of record {record} changes by {} %{}. {}",
            amount(100.0 * change),
            at(place, None),
            match is_uncertain {
                false =>
                    "Look for what couples the records of a batch: batch statistics, means or totals in \
                     the loss, or data that are standardised together.",
                true =>
                    "Other random draws in a batch of another size may explain it: compare under \
                     zero-out, which keeps the draws.",
            }
        ),
        F::StateDiffers { name, change, place } => format!(
            "The accountant assumes that only the release changes the model. Here “{}” differs by {} % of \
             its norm after equal releases{}. Train or update it by the noisy gradient only, or freeze it.",
            ForeignText::new(name),
            amount(100.0 * change),
            at(place, None)
        ),
        F::ReleaseDiffers { change, place } => format!(
            "The accountant assumes that the release is the clipped sum and noise. Here it changes by {} C \
             more than the sum{}. Add nothing that depends on data to the gradient after clipping.",
            amount(*change),
            at(place, None)
        ),
        F::StepsDiffer { .. }
        | F::StepsPerEpochDiffer { .. }
        | F::ShapesDiffer { .. }
        | F::BatchWithoutStep { .. }
        | F::OneWorldFails { .. }
        | F::NonFiniteGradient { .. } => control_flow(finding),
        F::NoNoise { .. }
        | F::NoiseBelowStated { .. }
        | F::NoiseAboveStated { .. }
        | F::NoiseReused { .. }
        | F::NoiseCorrelated { .. }
        | F::NoiseNotNormal { .. } => noise(finding),
        F::AccountedStepsDiffer { .. }
        | F::RandomDrawsDiffer { .. }
        | F::NotReproducible { .. }
        | F::BuffersNotExamined => about_check(finding),
        finding => value(finding),
    }
}

/// Findings about the accountant and the check itself.
fn about_check(finding: &StepFinding) -> String {
    use StepFinding as F;
    match finding {
        F::AccountedStepsDiffer { accounted, releases } => format!(
            "The accountant counted {}, but there were {}. Let it count every noisy gradient that is used.",
            counted(*accounted, "step"),
            counted(*releases, "release")
        ),
        F::RandomDrawsDiffer { neighbours } => format!(
            "{} the training draws other random numbers without the record, so that differences of other \
             records say little there.",
            under(&neighbours.differs)
        ),
        F::NotReproducible { difference } => format!(
            "Two runs on the same data with the same seed {}: nothing was compared. Make the training \
             deterministic, for example by torch.use_deterministic_algorithms(True).",
            match difference {
                Some(difference) => format!("differ by {} C", amount(*difference)),
                None => "end differently".to_owned(),
            }
        ),
        F::BuffersNotExamined => {
            "Buffers of the model, such as running means, were not compared. Pass module= to attach."
                .to_owned()
        }
        _ => "An unknown finding.".to_owned(),
    }
}

fn value(finding: &StepFinding) -> String {
    use StepFinding as F;
    match finding {
        F::ScaleDiffers { value } => differing(
            value,
            ["the release is the sum divided", "by ", "the accountant assumes"],
            "Divide by a constant, not by the size of the batch or of the data.",
        ),
        F::DivisorDiffers { value } => differing(
            value,
            ["the sum is divided", "by ", "the accountant assumes"],
            "Pass a constant expected_batch_size.",
        ),
        F::SampleRateDiffers { value } => differing(
            value,
            ["the sampling rate is", "", "the accountant used"],
            "Pass a constant sampling rate to the loader and the accountant.",
        ),
        F::ClipNormDiffers { value } => differing(
            value,
            ["the clip norm is", "", "the accountant assumes"],
            "Let it depend on no data but noisy releases.",
        ),
        F::LearningRateDiffers { value } => differing(
            value,
            ["the learning rate is", "", "the accountant assumes"],
            "Use a schedule that depends on no data but noisy releases.",
        ),
        _ => "An unknown finding.".to_owned(),
    }
}

/// A value with the record and without it, or beside that of the accountant.
fn differing(value: &ValueChange, [what, by, accounted]: [&str; 3], advice: &str) -> String {
    let ValueChange { original, other, place } = value;
    let [original, other] = [*original, *other].map(|value| format!("{by}{}", precise(value)));
    let Neighbours { differs, same } = &place.neighbours;
    let place = at(&Place { neighbours: Neighbours::default(), ..place.clone() }, None);
    if differs.is_empty() {
        let (what, other) = (capitalised(what), other.trim_start_matches(by));
        return format!("{what} {original}{place}, but {accounted} {other}. {advice}");
    }
    let same = match same.is_empty() {
        true => String::new(),
        false => format!("; {} it is not", under(same).to_lowercase()),
    };
    format!(
        "{} {what} {original} with the record and {other} without it{place}{same}. {advice}",
        under(differs)
    )
}

fn control_flow(finding: &StepFinding) -> String {
    use StepFinding as F;
    match finding {
        F::StepsDiffer { original, other, place } => format!(
            "The training makes {} with the record and {other} without it{}, which no noise hides. Let \
             the end of the training depend on no data but noisy releases.",
            counted(*original, "step"),
            at(place, None)
        ),
        F::StepsPerEpochDiffer { original, other, neighbours } => format!(
            "{} an epoch has {} with the record and {other} without it, which no noise hides. Fix the \
             number of steps.",
            under(&neighbours.differs),
            counted(*original, "step")
        ),
        F::ShapesDiffer { shape, neighbours } => format!(
            "{} “{}” has shape {:?} with the record and {:?} without it, which no noise hides. Take sizes \
             and domains from a public description, not from the data.",
            under(&neighbours.differs),
            ForeignText::new(&shape.name),
            shape.original,
            shape.replay
        ),
        F::BatchWithoutStep { batches, place } => format!(
            "{} by no step{}, which no noise hides: whether a batch is empty shows the record. Make a step, \
             with its noise, for every batch.",
            match batches {
                1 => "A batch is followed".to_owned(),
                batches => format!("{} batches are followed", grouped(*batches)),
            },
            at(place, None)
        ),
        F::OneWorldFails { message, with_target, place } => format!(
            "The training fails only {} the record{}: “{}”. No noise hides that. Handle such records and \
             empty batches like all others.",
            if *with_target { "with" } else { "without" },
            at(place, None),
            ForeignText::new(message)
        ),
        F::NonFiniteGradient { with_target, place } => format!(
            "The sum is not finite only {} the record{}, which no noise hides. {}",
            if *with_target { "with" } else { "without" },
            at(place, None),
            match with_target {
                true => "Set gradients that are not finite to 0 before they are summed.",
                false => "Let an empty batch have the sum 0.",
            }
        ),
        _ => "An unknown finding.".to_owned(),
    }
}

fn noise(finding: &StepFinding) -> String {
    use StepFinding as F;
    match finding {
        F::NoNoise { scope, others } => format!(
            "No noise is added{}{}. Add noise to every tensor in every step.",
            within(scope).replace(" of ", " to "),
            match (scope, others) {
                (_, 0) => String::new(),
                (NoiseScope::Tensor(_), others) => format!(" and {}", more(*others, "tensor")),
                (_, others) => format!(" and {}", more(*others, "step")),
            }
        ),
        F::NoiseBelowStated { noise, stated, scope } => format!(
            "The noise{} has a standard deviation of {} C, stated {} C: less than the accountant assumes. \
             Compare noise multiplier, clip norm and divisor.",
            within(scope),
            with_limits(noise, decimals(noise.value)),
            rounded(*stated, 3)
        ),
        F::NoiseAboveStated { noise, stated, scope } => format!(
            "The noise{} has a standard deviation of {} C, stated {} C: more than the accountant assumes. \
             Pass the noise multiplier of the training, or reduce the noise.",
            within(scope),
            with_limits(noise, decimals(noise.value)),
            rounded(*stated, 3)
        ),
        F::NoiseReused { correlation, pairs, scope, .. } => format!(
            "The accountant assumes new noise for each entry and step. Here the correlation of {} is {}{}. {}",
            match pairs {
                NoisePairs::PreviousStep => "the noise of a step with that of the step before",
                NoisePairs::OtherTensor => "the noise of a tensor with that of another tensor",
                NoisePairs::OtherSeed => "the noise with that under another seed",
                _ => "the noise of a rank with that of another rank",
            },
            rounded(*correlation, 3),
            within(scope),
            match pairs {
                NoisePairs::OtherSeed => "Draw the seed of the noise at random, and never fix it.",
                NoisePairs::OtherRank =>
                    "Give each rank a seed of its own, or add noise on one rank.",
                _ => "Do not seed the generator again between draws.",
            }
        ),
        F::NoiseCorrelated { correlation, pairs, scope, .. } => format!(
            "The accountant assumes independent noise. Here {} have a correlation of {}{}. Draw noise of \
             the shape of the gradient, without broadcasting.",
            match pairs {
                NoisePairs::Rows => "the entries of consecutive rows",
                _ => "neighbouring entries",
            },
            rounded(*correlation, 3),
            within(scope)
        ),
        F::NoiseNotNormal { kurtosis, dimension, scope } => format!(
            "The accountant assumes Gaussian noise. Here its kurtosis is {}{}, not 3 ({} values). Draw \
             normal noise, or account for the noise that is drawn.",
            rounded(*kurtosis, 2),
            within(scope),
            grouped(*dimension)
        ),
        _ => "An unknown finding.".to_owned(),
    }
}

/// Where something differs, in brackets.
fn at(place: &Place, record: Option<u64>) -> String {
    let step = place.step.map(|step| format!("step {step}"));
    let record = record.map(|record| format!("record {record}"));
    let probe = place.probe.map(|probe| {
        match probe {
            ProbeKind::Natural => "its gradient as it is",
            ProbeKind::Inflated => "its gradient inflated to 1,000 C",
            ProbeKind::ExtremeItem => "extreme features",
            ProbeKind::NotANumber => "features that are NaN",
            ProbeKind::Alone => "the record alone in a batch",
        }
        .to_owned()
    });
    let relations = &place.neighbours.differs;
    let relations = (!relations.is_empty()).then(|| under(relations).to_lowercase());
    let parts: Vec<String> = [step, record, probe, relations].into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// The relations at the start of a sentence.
fn under(relations: &[Adjacency]) -> String {
    let names: Vec<&str> = relations.iter().map(|it| adjacency_in_words(*it)).collect();
    format!("Under {}", names.join(" and "))
}

fn within(scope: &NoiseScope) -> String {
    match scope {
        NoiseScope::All => String::new(),
        NoiseScope::Step(step) => format!(" in step {step}"),
        NoiseScope::Tensor(name) => format!(" of “{}”", ForeignText::new(name)),
    }
}

fn more(others: u64, thing: &str) -> String {
    let plural = if others == 1 { "" } else { "s" };
    format!("{} other {thing}{plural}", grouped(others))
}

/// Up to four significant digits.
fn amount(value: f64) -> String {
    digits(value, 3)
}

/// Six significant digits, which separate values that hardly differ.
fn precise(value: f64) -> String {
    digits(value, 5)
}

fn digits(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$e}").parse().map_or_else(|_| given(value), given)
}

/// Decimals that show a standard deviation and its limits apart.
fn decimals(deviation: f64) -> usize {
    if deviation >= 0.1 { 3 } else { 5 }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(differs: &[Adjacency], same: &[Adjacency]) -> Place {
        let neighbours = Neighbours { differs: differs.to_vec(), same: same.to_vec() };
        Place { step: Some(0), probe: None, neighbours }
    }

    #[test]
    fn sentences_name_the_relation_and_what_to_do() {
        let (zero_out, add_remove) = ([Adjacency::ZeroOut], [Adjacency::AddRemove]);
        let place_of = |probe| Place { step: None, probe, ..place(&zero_out, &[]) };
        let sensitivity = |place| StepFinding::SensitivityExceeded {
            change: 83.0,
            record: 5,
            place,
            is_uncertain: false,
        };
        let value =
            ValueChange { original: 70.0, other: 69.0, place: place(&add_remove, &zero_out) };
        let accounted = ValueChange { place: place(&[], &[]), ..value.clone() };
        for (finding, start) in [
            (
                sensitivity(place(&zero_out, &[])),
                "The accountant assumes that a record changes the sum by at most C. Here it changes it by \
                 83 C (step 0, record 5, under zero-out). Clip",
            ),
            (
                sensitivity(place_of(Some(ProbeKind::Inflated))),
                "The accountant assumes that a record changes the sum by at most C. Here it changes it by \
                 83 C (record 5, its gradient inflated to 1,000 C, under zero-out). Clip",
            ),
            (
                StepFinding::DivisorDiffers { value },
                "Under add/remove the sum is divided by 70 with the record and by 69 without it (step 0); \
                 under zero-out it is not. Pass a constant expected_batch_size.",
            ),
            (
                StepFinding::DivisorDiffers { value: accounted },
                "The sum is divided by 70 (step 0), but the accountant assumes 69. Pass",
            ),
            (
                StepFinding::NoNoise { scope: NoiseScope::Tensor("0.bias".into()), others: 2 },
                "No noise is added to “0.bias” and 2 other tensors. Add",
            ),
            (
                StepFinding::BatchWithoutStep {
                    batches: 1,
                    place: place_of(Some(ProbeKind::Alone)),
                },
                "A batch is followed by no step (the record alone in a batch, under zero-out), which no",
            ),
        ] {
            let sentence = step_finding_sentence(&finding);
            assert!(sentence.starts_with(start), "{sentence}");
        }
    }

    #[test]
    fn headlines_claim_nothing_beyond_the_record() {
        let check = StepCheck {
            outcome: StepOutcome::NoViolationFound,
            findings: Vec::new(),
            steps: 8,
            target: 5,
            noise: None,
            largest_change: None,
            control_difference: None,
        };
        assert_eq!(
            step_headline(&check),
            "No violation in 8 steps with this record. This proves nothing about other records, batches, \
             steps or the sampler."
        );
        let incomplete = StepCheck { outcome: StepOutcome::Incomplete, ..check };
        assert!(step_headline(&incomplete).contains("not everything was compared"));
    }

    #[test]
    fn amounts_have_few_digits() {
        let shown = [83.0, 1.005, 36.96, 0.000_12, 289.4].map(amount);
        assert_eq!(shown, ["83", "1.005", "36.96", "0.00012", "289.4"]);
        assert_eq!([1.131_57, 70.0].map(precise), ["1.13157", "70"]);
    }
}

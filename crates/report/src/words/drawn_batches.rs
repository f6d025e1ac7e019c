//! Batches that a loader drew, in words.

use dpscope_core::format::{given, rounded};
use dpscope_core::training_check::drawn_batches::{
    DrawnSampler, LoaderCheck, LoaderFacts, LoaderFinding, LoaderTest, LoaderTestKind,
};

use crate::number::{counted, grouped};

/// The sampler that the batches fit, what shows it, and what to do.
#[must_use]
pub fn drawn_sampler_sentence(check: &LoaderCheck) -> String {
    let facts = &check.facts;
    let by = |kind| check.tests.of(kind).map_or(String::new(), loader_test_in_words);
    match check.sampler {
        DrawnSampler::Deterministic => format!(
            "Each epoch has the same order{}: nothing is random about a record's batch. Account for \
             deterministic batches, or shuffle anew in each epoch (with a DistributedSampler, call \
             set_epoch).",
            if facts.file_order { ", that of the file" } else { "" }
        ),
        DrawnSampler::PersistentShuffle => {
            "The records were shuffled once: each epoch has the same order, and another loader has \
             another one. Account for a persistent shuffle, or shuffle anew in each epoch."
                .to_owned()
        }
        DrawnSampler::BatchThenShuffle => {
            "Each epoch has the same batches in another order: a record always meets the same others. \
             Account for batches formed before shuffling, or shuffle records before batches are cut."
                .to_owned()
        }
        DrawnSampler::PartialShuffle { least_buffer, is_buffer: true } => format!(
            "The order is that of a shuffle buffer of {} for {}: a record's place in the file limits \
             its batches ({}). Use a buffer of at least the data set, or shuffle the file itself.",
            counted(least_buffer, "record"),
            counted(facts.dataset_size, "record"),
            by(LoaderTestKind::OrderWithinBuffer)
        ),
        DrawnSampler::PartialShuffle { .. } => format!(
            "The order of the records depends on that of the file ({}). Shuffle all records, or draw \
             Poisson batches.",
            by(LoaderTestKind::PositionAgainstRecord)
        ),
        DrawnSampler::Chunks { is_together } => format!(
            "Neighbours in the file {} ({}). Shuffle single records instead of chunks or shards.",
            if is_together { "stay together in batches" } else { "avoid each other's batches" },
            by(LoaderTestKind::NeighboursTogether)
        ),
        DrawnSampler::RepeatsEarlierEpochs { by: test } => format!(
            "An epoch depends on the one before it ({}). Shuffle all records anew in each epoch.",
            by(test)
        ),
        DrawnSampler::Shuffle => format!(
            "{}, in batches of one size and in a new order: no test distinguishes it from a shuffle. \
             Account for shuffled batches, not for Poisson batches.",
            once_in_words(facts)
        ),
        DrawnSampler::BallsInBins => format!(
            "{}, in batches of random size: no test distinguishes them from balls in bins. Account \
             for balls-in-bins batches.",
            once_in_words(facts)
        ),
        DrawnSampler::UnevenBatches => format!(
            "{}, in batches whose sizes fit no known sampler{}. Check how batches are cut: no \
             accountant is known for them.",
            once_in_words(facts),
            in_brackets(&by(LoaderTestKind::SizesAsBallsInBins))
        ),
        _ => independent_draws_sentence(check),
    }
}

/// Batches that do not follow from an order of the records.
fn independent_draws_sentence(check: &LoaderCheck) -> String {
    let by = |kind| check.tests.of(kind).map_or(String::new(), loader_test_in_words);
    match check.sampler {
        DrawnSampler::WithReplacement => {
            "Records are drawn with replacement: a batch can contain one twice, which then counts \
             twice. Draw Poisson batches, or sample without replacement."
                .to_owned()
        }
        DrawnSampler::PaddedShuffle => format!(
            "Each epoch has all records and some of them again, up to whole batches of {}: a record \
             can be used twice in an epoch. Drop the last batch (drop_last=True) instead.",
            grouped(check.facts.batch_size)
        ),
        DrawnSampler::UnequalRates => format!(
            "Some records are drawn more often than others{}. Account with the highest rate of a \
             record, or draw all with one rate.",
            in_brackets(&by(LoaderTestKind::UsesOfRecords))
        ),
        DrawnSampler::Balanced => format!(
            "Records are used more evenly than independent batches use them{}: a batch depends on \
             those before it. Draw Poisson batches, or shuffle once per epoch.",
            in_brackets(&by(LoaderTestKind::UsesOfRecords))
        ),
        DrawnSampler::Other { by: test } => format!(
            "Batches are not drawn independently with one rate ({}). Check how the loader draws them: \
             no accountant is known for them.",
            by(test)
        ),
        DrawnSampler::FixedSize => {
            "Each batch has one size, and no test distinguishes it from a new uniform subset. Account \
             for batches of fixed size, not for Poisson batches."
                .to_owned()
        }
        _ => {
            "No test distinguishes the batches from Poisson batches. Account for them with the rate of \
             the loader."
                .to_owned()
        }
    }
}

/// What a finding says, and what to do.
#[must_use]
pub fn loader_finding_sentence(finding: &LoaderFinding, check: &LoaderCheck) -> String {
    match *finding {
        LoaderFinding::Sampler(_) => drawn_sampler_sentence(check),
        LoaderFinding::FixedSeed => {
            "Two loaders drew the same batches: the seed is fixed, and whoever knows it knows the batches \
             of every record. Draw the seed at random and keep it secret."
                .to_owned()
        }
        LoaderFinding::NeverDrawn { records } => format!(
            "{} of {} records are in no batch of {}. Check the sampler: they are not \
             trained on, and the accountant counts them.",
            grouped(records),
            grouped(check.facts.dataset_size + records),
            counted(check.facts.epochs, "epoch")
        ),
        LoaderFinding::RateDiffers { stated, estimate } => format!(
            "Batches contain a record with probability {}, not with the stated {}. Account with the \
             rate of the loader.",
            rounded(estimate, 6),
            given(stated)
        ),
        LoaderFinding::RecordsDropped { records } => format!(
            "An epoch leaves out {} of {} records. State drop_last where steps are counted.",
            grouped(records),
            grouped(check.facts.dataset_size)
        ),
    }
}

/// What a test compares, with its result.
#[must_use]
pub fn loader_test_in_words(test: &LoaderTest) -> String {
    let what = match test.kind {
        LoaderTestKind::PositionAgainstRecord => "correlation of batches with record numbers",
        LoaderTestKind::PositionAgainstLastEpoch => "correlation of batches with the last epoch's",
        LoaderTestKind::NeighboursTogether => "consecutive records in one batch",
        LoaderTestKind::SamePlaceOverlap => "records shared by batches at one place of two epochs",
        LoaderTestKind::OrderWithinBuffer => {
            return format!("chance in a full shuffle {}", chance(test.p_value));
        }
        LoaderTestKind::SizesAsBallsInBins | LoaderTestKind::SizesAsPoisson => "batch sizes",
        LoaderTestKind::ConsecutiveOverlap => "records shared by consecutive batches",
        LoaderTestKind::UsesOfRecords => "uses of records",
    };
    let statistic = match test.kind {
        LoaderTestKind::SizesAsBallsInBins
        | LoaderTestKind::SizesAsPoisson
        | LoaderTestKind::UsesOfRecords => format!("χ² {}", rounded(test.statistic, 1)),
        _ => format!("z {:+.1}", test.statistic),
    };
    format!("{what}: {statistic}, p {}", chance(test.p_value))
}

fn once_in_words(facts: &LoaderFacts) -> &'static str {
    if facts.once {
        "Each epoch has each record once"
    } else {
        "Each epoch has a record at most once"
    }
}

fn in_brackets(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(" ({words})") }
}

/// A probability with two digits.
fn chance(p_value: f64) -> String {
    match p_value {
        p if p < 1e-300 => "below 1e-300".to_owned(),
        p if p < 0.01 => format!("{p:.1e}"),
        p => rounded(p, 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::training_check::drawn_batches::DrawnBatches;

    fn check(records: &[u32], size: u32, dataset_size: u64) -> LoaderCheck {
        let batches = records.len() as u32 / size;
        let sizes = vec![size; batches as usize];
        let epochs = [batches / 2; 2];
        LoaderCheck::of(
            &DrawnBatches::new(records, &sizes, &epochs, dataset_size, None).unwrap(),
            None,
        )
    }

    #[test]
    fn sentences_name_what_was_drawn() {
        let found = check(&[0, 1, 2, 3, 0, 1, 2, 3], 2, 4);
        let sentence = drawn_sampler_sentence(&found);
        assert!(
            sentence.starts_with("Each epoch has the same order, that of the file: "),
            "{sentence}"
        );
        let file: Vec<u32> = (0..400).collect();
        let sentence = drawn_sampler_sentence(&check(
            &[&file[..], &file[10..], &file[..10]].concat(),
            20,
            400,
        ));
        let start = "The order is that of a shuffle buffer of 11 records for 400 records: ";
        assert!(sentence.starts_with(start), "{sentence}");
        assert!(sentence.contains(" (chance in a full shuffle below 1e-300)."), "{sentence}");
    }

    #[test]
    fn findings_end_with_what_to_do() {
        let found = check(&[0, 1, 2, 3, 0, 1, 2, 3], 2, 4);
        let finding = LoaderFinding::RateDiffers { stated: 0.1, estimate: 1.0 / 3.0 };
        assert_eq!(
            loader_finding_sentence(&finding, &found),
            "Batches contain a record with probability 0.333333, not with the stated 0.1. Account with \
             the rate of the loader."
        );
        for finding in [
            LoaderFinding::Sampler(found.sampler),
            LoaderFinding::FixedSeed,
            LoaderFinding::NeverDrawn { records: 3 },
            LoaderFinding::RecordsDropped { records: 3 },
        ] {
            let sentence = loader_finding_sentence(&finding, &found);
            assert!(sentence.ends_with('.') && sentence.contains(". "), "{sentence}");
        }
    }
}

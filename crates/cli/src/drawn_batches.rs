//! Batches that a loader drew, checked for a caller in another language.

use dpscope_core::training_check::drawn_batches::{
    DrawnBatches, LoaderCheck, LoaderFinding, LoaderTest,
};
use dpscope_report::record::ErrorReport;
use dpscope_report::words::{drawn_sampler_sentence, loader_finding_sentence};
use serde_json::{Value, json};

use crate::failure::Failure;

/// What batches of several epochs show of the sampler that drew them: one JSON document with facts,
/// tests, the sampler, its name and options for a check of the training, a sentence, and findings.
///
/// | argument | meaning |
/// |---|---|
/// | `records` | record numbers of all batches, one batch after another |
/// | `batch_sizes` | records of each batch, of all epochs |
/// | `batches_per_epoch` | batches of each epoch |
/// | `dataset_size` | records of the data set |
/// | `rate` | the stated sampling rate, if there is one |
/// | `repeated` | whether a second loader of the same function drew the same batches, if there was one |
///
/// # Errors
/// Lists that [`DrawnBatches::new`] refuses.
pub fn check_loader(
    records: &[u32],
    batch_sizes: &[u32],
    batches_per_epoch: &[u32],
    dataset_size: u64,
    rate: Option<f64>,
    repeated: Option<bool>,
) -> Result<String, ErrorReport> {
    let drawn = DrawnBatches::new(records, batch_sizes, batches_per_epoch, dataset_size, rate)
        .map_err(|error| Failure::input(error).report())?;
    let check = LoaderCheck::of(&drawn, repeated);
    let significance = check.tests.significance();
    let test = |test: &LoaderTest| {
        json!({
            "name": test.kind.name(),
            "statistic": test.statistic,
            "p": test.p_value,
            "significance": significance,
        })
    };
    let finding = |finding: &LoaderFinding| {
        json!({
            "code": finding.code(),
            "severity": finding.severity(),
            "sentence": loader_finding_sentence(finding, &check),
        })
    };
    let document = json!({
        "facts": check.facts,
        "tests": check.tests.iter().map(test).collect::<Vec<_>>(),
        "sampler": check.sampler,
        "evidence": check.sampler.evidence(),
        "loader": check.loader().map(|loader| loader.kind().name()),
        "options": options(&check),
        "sentence": drawn_sampler_sentence(&check),
        "findings": check.findings.iter().map(finding).collect::<Vec<_>>(),
    });
    Ok(document.to_string())
}

/// Options of `check` that the batches state; none if it knows nothing of them.
fn options(check: &LoaderCheck) -> Option<Value> {
    let loader = check.loader()?;
    let facts = &check.facts;
    let mut options = json!({
        "loader": loader.kind().name(),
        "dataset_size": facts.dataset_size,
        "batch_size": facts.batch_size,
    });
    if let Some(buffer) = loader.buffer_examples() {
        options["buffer_examples"] = buffer.into();
    }
    if facts.equal_sizes && loader.kind().cuts_an_order() {
        options["drop_last"] = (facts.most_dropped() > 0).into();
    }
    Some(options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::training_check::drawn_batches::DrawnSampler;

    fn checked(records: &[u32], dataset_size: u64) -> Result<Value, String> {
        let sizes = vec![2; records.len() / 2];
        let text = check_loader(records, &sizes, &[2, 2], dataset_size, None, None);
        text.map_err(|error| error.message).map(|text| serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn a_document_names_the_sampler_and_its_options() {
        let found = checked(&[3, 0, 1, 2, 0, 3, 2, 1], 5).unwrap();
        assert_eq!(found["sampler"], json!({ "name": "deterministic" }));
        assert_eq!(
            (&found["loader"], &found["evidence"]),
            (&json!("deterministic"), &json!("facts"))
        );
        let options = json!({
            "loader": "deterministic", "dataset_size": 5, "batch_size": 2, "drop_last": true
        });
        assert_eq!(found["options"], options);
        assert_eq!(found["findings"][0]["severity"], "warning");
        assert_eq!(found["facts"]["same_order"], true);
        let level = found["tests"][0]["significance"].as_f64().unwrap();
        assert_eq!(level, 1e-3 / found["tests"].as_array().unwrap().len() as f64);
        let unknown = checked(&[0, 0, 1, 2, 0, 3, 2, 1], 4).unwrap();
        assert_eq!(unknown["sampler"]["name"], "with-replacement");
        assert_eq!(
            checked(&[3, 0, 1, 2, 0, 3, 2, 1], 3).unwrap_err(),
            "batch 1 of epoch 1 contains record 3; \
             records of this data set have the numbers 0 to 2"
        );
    }

    #[test]
    fn names_are_those_of_the_samplers() {
        for sampler in [DrawnSampler::BatchThenShuffle, DrawnSampler::Chunks { is_together: true }]
        {
            assert_eq!(json!(sampler)["name"], sampler.name());
        }
    }
}

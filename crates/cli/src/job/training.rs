//! What differs between the training of a checkpoint and that of the options.

use std::path::Path;

use dpscope_core::foreign_text::ForeignText;
use dpscope_engine::{Artefact, ArtefactError};
use serde_json::Value;

use super::{ResumePoint, RunPlan};
use crate::disk::HAS_DISK;
use crate::failure::Failure;

/// Differences that an error lists.
const MOST: usize = 5;

impl<P: RunPlan> ResumePoint<P> {
    /// Refuses a checkpoint of another training, whose description `saved` finds in its state. A plan has
    /// only a digest, which does not show what differs.
    pub(crate) fn check_training(
        &self,
        checkpoint: Option<&Path>,
        description: &str,
        saved: impl Fn(&Artefact<P>) -> Option<String>,
    ) -> Result<(), Failure> {
        let checkpoint = checkpoint.filter(|_| HAS_DISK); // as in `read`
        let (Some(path), Some(saved)) = (checkpoint, self.saved.as_ref().and_then(saved)) else {
            return Ok(());
        };
        let value = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
        let differences = differences(&value(description), &value(&saved));
        if differences.is_empty() {
            return Ok(());
        }
        let differences = differences.into_iter().take(MOST).collect::<Vec<_>>().join("; ");
        Err(Failure::from(ArtefactError::PlanMismatch { differences }).about(path))
    }
}

/// Each value that differs, with its path.
fn differences(here: &Value, there: &Value) -> Vec<String> {
    let mut found = Vec::new();
    add_differences("training", here, there, &mut found);
    found
}

fn add_differences(path: &str, here: &Value, there: &Value, found: &mut Vec<String>) {
    if here == there {
        return;
    }
    if let (Value::Object(mine), Value::Object(theirs)) = (here, there) {
        let names = mine.keys().chain(theirs.keys().filter(|name| !mine.contains_key(*name)));
        for name in names {
            let [mine, theirs] = [mine, theirs].map(|fields| fields.get(name));
            let path = format!("{path}.{name}");
            let none = &Value::Null;
            add_differences(&path, mine.unwrap_or(none), theirs.unwrap_or(none), found);
        }
        return;
    }
    let [mine, theirs] = [here, there].map(|value| match value {
        Value::String(text) => ForeignText::new(text),
        value => ForeignText::of(value),
    });
    found.push(format!("{path}: {mine} here, {theirs} there"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_have_their_paths() {
        let here = json!({ "a": 1, "b": { "c": [1, 2], "d": "x" }, "e": 0 });
        let there = json!({ "a": 1, "b": { "c": [1, 3], "d": "x" }, "f": 2 });
        assert_eq!(
            differences(&here, &there),
            [
                "training.b.c: [1,2] here, [1,3] there",
                "training.e: 0 here, null there",
                "training.f: null here, 2 there"
            ]
        );
        assert!(differences(&here, &here).is_empty());
    }
}

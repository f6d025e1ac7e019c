//! Bit for bit: numbers by their 64 bits, everything else as text.

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value};

use crate::record::Record;

/// One line for each value that is missing, new or different.
pub(crate) fn differences(recorded: &Map<String, Value>, seen: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    compare("", recorded, seen, &mut found);
    found
}

fn compare(
    path: &str,
    recorded: &Map<String, Value>,
    seen: &Map<String, Value>,
    found: &mut Vec<String>,
) {
    for (name, new) in seen {
        if !recorded.contains_key(name) {
            found.push(format!("{path}{name}: not recorded, now {new}"));
        }
    }
    for (name, old) in recorded {
        match (old, seen.get(name)) {
            (Value::Object(old), Some(Value::Object(new))) => {
                compare(&format!("{path}{name}: "), old, new, found);
            }
            (old, Some(new)) if is_same(old, new) => {}
            (old, Some(new)) => found.push(format!("{path}{name}: recorded {old}, now {new}")),
            (old, None) => found.push(format!("{path}{name}: recorded {old}, now missing")),
        }
    }
}

fn is_same(old: &Value, new: &Value) -> bool {
    match (old.as_f64(), new.as_f64()) {
        (Some(old), Some(new)) => old.to_bits() == new.to_bits(),
        _ => old == new,
    }
}

/// The comparison itself, on the recorded files.
pub(crate) fn trials(records: &[fn() -> Record]) -> Vec<Trial> {
    let records = records.to_vec();
    vec![
        Trial::test("a_changed_bit_is_rejected", move || {
            records.iter().try_for_each(|record| reject_changes(&record().recorded()))
        }),
        Trial::test("a_missing_or_new_case_is_rejected", || {
            let one = Map::from_iter([("a".to_string(), Value::from(1))]);
            let both = [differences(&one, &Map::new()), differences(&Map::new(), &one)];
            require(both.iter().all(|lines| lines.len() == 1), &format!("{both:?}"))
        }),
    ]
}

/// Changes every recorded value in turn.
fn reject_changes(recorded: &Map<String, Value>) -> Result<(), Failed> {
    require(differences(recorded, recorded).is_empty(), "a file differs from itself")?;
    let mut changes = 0;
    for (id, values) in recorded {
        let values = values.as_object().unwrap();
        for (name, value) in values {
            let mut changed = values.clone();
            changed.insert(name.clone(), changed_by_one_bit(value));
            let lines = differences(values, &changed);
            require(lines.len() == 1, &format!("{id}: {name}: {lines:?}"))?;
            changes += 1;
        }
    }
    require(changes > 0, "nothing is recorded")
}

fn changed_by_one_bit(value: &Value) -> Value {
    match value {
        Value::Number(number) => {
            let bits = number.as_f64().unwrap().to_bits() ^ 1;
            Value::from(f64::from_bits(bits))
        }
        // '0' and '1', 'a' and '`': the last digit of a digest.
        Value::String(text) => {
            let mut bytes = text.clone().into_bytes();
            *bytes.last_mut().unwrap() ^= 1;
            String::from_utf8(bytes).unwrap().into()
        }
        other => Value::from(format!("not {other}")),
    }
}

fn require(holds: bool, message: &str) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(message.into()) }
}

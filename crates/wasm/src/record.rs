//! What a page gives: plain objects, read field by field, so that a failure names its field.

use js_sys::{Array, JsString, Object};
use wasm_bindgen::{JsCast, JsValue};

use crate::failure::Failure;

/// The largest whole number that a float holds with all below it, 2⁵³.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Fields of one record.
const MOST_FIELDS: u32 = 64;

/// Letters of a name or text.
const MOST_LETTERS: u32 = 64;

/// What stands in a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Text.
    Text(String),
    /// True or false.
    Flag(bool),
    /// Anything else.
    Other,
}

/// The fields that were given; `undefined` and `null` are none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record {
    fields: Vec<(&'static str, Value)>,
}

impl Record {
    /// Reads a plain object that has no other fields than `known`.
    ///
    /// # Errors
    /// No object, or a field that nothing reads: most often a misspelt one.
    pub fn read(
        value: &JsValue,
        name: &'static str,
        known: &[&'static str],
    ) -> Result<Self, Failure> {
        // of another realm too, which has an Object of its own
        let entries = value.is_object().then(|| Object::entries(value.unchecked_ref()));
        let entries = entries.filter(|entries| entries.length() <= MOST_FIELDS);
        let entries = entries.ok_or(Failure::input(name, &["is no object; give its fields"]))?;
        let mut record = Record::default();
        for entry in entries.iter() {
            let entry: Array = entry.unchecked_into();
            let key = short(&entry.get(0)).unwrap_or_default();
            record.put(name, known, &key, of(&entry.get(1)))?;
        }
        Ok(record)
    }

    /// A record that is already at hand.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn of(fields: &[(&str, Value)], known: &[&'static str]) -> Result<Self, Failure> {
        let mut record = Record::default();
        for (key, value) in fields {
            record.put("record", known, key, Some(value.clone()))?;
        }
        Ok(record)
    }

    fn put(
        &mut self,
        record: &'static str,
        known: &[&'static str],
        key: &str,
        value: Option<Value>,
    ) -> Result<(), Failure> {
        let Some(key) = known.iter().find(|known| **known == key) else {
            return Err(Failure::input(record, &["has no field ", key]));
        };
        if let Some(value) = value {
            self.fields.push((key, value));
        }
        Ok(())
    }

    fn get(&self, field: &str) -> Option<&Value> {
        self.fields.iter().find(|(name, _)| *name == field).map(|(_, value)| value)
    }

    /// Whether the field is given.
    #[must_use]
    pub fn has(&self, field: &str) -> bool {
        self.get(field).is_some()
    }

    /// A number.
    ///
    /// # Errors
    /// None, or something else than a number.
    pub fn needed_number(&self, field: &'static str) -> Result<f64, Failure> {
        match self.get(field) {
            Some(Value::Number(number)) => Ok(*number),
            Some(_) => Err(Failure::input(field, &["must be a number"])),
            None => Err(Failure::missing(field)),
        }
    }

    /// A number, if it is given.
    ///
    /// # Errors
    /// Something else than a number.
    pub fn number(&self, field: &'static str) -> Result<Option<f64>, Failure> {
        if self.has(field) { self.needed_number(field).map(Some) } else { Ok(None) }
    }

    /// A whole number from `least`, 0 or 1, to 2⁵³.
    ///
    /// # Errors
    /// None, or something else.
    pub fn needed_whole(&self, field: &'static str, least: u64) -> Result<u64, Failure> {
        whole(field, self.needed_number(field)?, least)
    }

    /// A whole number as of [`whole`](Self::whole), if it is given.
    ///
    /// # Errors
    /// Something else.
    pub fn whole(&self, field: &'static str, least: u64) -> Result<Option<u64>, Failure> {
        if self.has(field) { self.needed_whole(field, least).map(Some) } else { Ok(None) }
    }

    /// A name.
    ///
    /// # Errors
    /// None, or something else than short text.
    pub fn needed_text(&self, field: &'static str) -> Result<&str, Failure> {
        match self.get(field) {
            Some(Value::Text(text)) => Ok(text),
            Some(_) => Err(Failure::input(field, &["must be a name"])),
            None => Err(Failure::missing(field)),
        }
    }

    /// A name, if it is given.
    ///
    /// # Errors
    /// Something else than short text.
    pub fn text(&self, field: &'static str) -> Result<Option<&str>, Failure> {
        if self.has(field) { self.needed_text(field).map(Some) } else { Ok(None) }
    }

    /// True or false, if it is given.
    ///
    /// # Errors
    /// Something else.
    pub fn flag(&self, field: &'static str) -> Result<Option<bool>, Failure> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::Flag(flag)) => Ok(Some(*flag)),
            Some(_) => Err(Failure::input(field, &["must be true or false"])),
        }
    }
}

/// What is needed and was not given.
///
/// # Errors
/// None was given.
pub fn needed<T>(given: Option<T>, field: &'static str) -> Result<T, Failure> {
    given.ok_or_else(|| Failure::missing(field))
}

/// A whole number from `least`, 0 or 1, to 2⁵³.
///
/// # Errors
/// Another number.
pub fn whole(field: &'static str, number: f64, least: u64) -> Result<u64, Failure> {
    if number.fract() == 0.0 && number >= least as f64 && number <= MOST_WHOLE {
        return Ok(number as u64);
    }
    let allowed = match least {
        0 => "a whole number from 0 to 2^53",
        _ => "a whole number from 1 to 2^53",
    };
    Err(Failure::outside(field, number, allowed))
}

fn of(value: &JsValue) -> Option<Value> {
    if value.is_undefined() || value.is_null() {
        return None;
    }
    Some(if let Some(number) = value.as_f64() {
        Value::Number(number)
    } else if let Some(flag) = value.as_bool() {
        Value::Flag(flag)
    } else {
        short(value).map_or(Value::Other, Value::Text)
    })
}

/// Text of few letters; of longer text no name is known.
fn short(value: &JsValue) -> Option<String> {
    let text = value.dyn_ref::<JsString>().filter(|text| text.length() <= MOST_LETTERS);
    text.map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let fields = [
            ("steps", Value::Number(100.0)),
            ("half", Value::Number(0.5)),
            ("name", Value::Text("shuffle".to_owned())),
            ("flag", Value::Flag(true)),
            ("list", Value::Other),
        ];
        Record::of(&fields, &["steps", "half", "name", "flag", "list", "other"]).unwrap()
    }

    #[test]
    fn fields_are_read_as_what_they_are() {
        let record = record();
        assert_eq!(record.needed_whole("steps", 1), Ok(100));
        assert_eq!(record.number("half"), Ok(Some(0.5)));
        assert_eq!(record.needed_text("name"), Ok("shuffle"));
        assert_eq!(record.flag("flag"), Ok(Some(true)));
        assert_eq!(record.whole("other", 1), Ok(None));
        assert!(record.has("list") && !record.has("other"));
    }

    #[test]
    fn a_failure_names_its_field() {
        let record = record();
        for failure in [
            record.needed_whole("half", 0).unwrap_err(),
            record.needed_text("half").unwrap_err(),
            record.flag("half").unwrap_err(),
            Failure::missing("half"),
        ] {
            assert_eq!(failure.field, Some("half"));
            assert!(failure.message.starts_with("half "), "{failure:?}");
        }
        assert!(record.needed_number("list").is_err() && record.needed_text("list").is_err());
        let misspelt = [("step", Value::Number(1.0))];
        let failure = Record::of(&misspelt, &["steps"]).unwrap_err();
        assert_eq!(failure.message, "record has no field step");
    }

    #[test]
    fn whole_numbers_are_below_two_to_the_53() {
        assert_eq!(whole("steps", 9_007_199_254_740_992.0, 1), Ok(1 << 53));
        for number in [0.0, -1.0, 1.5, f64::NAN, f64::INFINITY, 9_007_199_254_740_994.0] {
            let failure = whole("steps", number, 1).unwrap_err();
            assert!(failure.message.contains("steps is"), "{failure:?}");
        }
    }
}

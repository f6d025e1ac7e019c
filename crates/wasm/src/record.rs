//! What a page gives and gets: plain objects. Those that it gives are read field by field, so that a
//! failure names its field.

use js_sys::{Object, Reflect};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::{JsCast, JsValue};

use crate::failure::{Failure, FailureKind};

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
    fields: Vec<(String, Value)>,
}

impl Record {
    /// Reads a plain object that has no other fields than `known`.
    ///
    /// # Errors
    /// No object, or a field that nothing reads: most often a misspelt one.
    pub fn read(value: &JsValue, name: &str, known: &[&str]) -> Result<Self, Failure> {
        let refused = || Failure::input(name, format!("{name} is no object; give its fields"));
        let object: &Object = value.dyn_ref().ok_or_else(refused)?;
        let keys = Object::keys(object);
        if keys.length() > MOST_FIELDS {
            return Err(refused());
        }
        let mut fields = Vec::new();
        for key in keys.iter() {
            let found = Reflect::get(object, &key).map_err(|_| refused())?;
            if let (Some(key), Some(found)) = (short(&key), of(&found)) {
                fields.push((key, found));
            }
        }
        Record { fields }.checked(known)
    }

    /// A record that is already at hand.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn of(fields: &[(&str, Value)], known: &[&str]) -> Result<Self, Failure> {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        Record { fields: fields.collect() }.checked(known)
    }

    fn checked(self, known: &[&str]) -> Result<Self, Failure> {
        match self.fields.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(self),
            Some((name, _)) => {
                let known = known.join(", ");
                Err(Failure::input(name, format!("{name} is none of the fields {known}")))
            }
        }
    }

    fn get(&self, field: &str) -> Option<&Value> {
        self.fields.iter().find(|(name, _)| name == field).map(|(_, value)| value)
    }

    /// Whether the field is given.
    #[must_use]
    pub fn has(&self, field: &str) -> bool {
        self.get(field).is_some()
    }

    /// A number, if it is given.
    ///
    /// # Errors
    /// Something else than a number.
    pub fn number(&self, field: &str) -> Result<Option<f64>, Failure> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(*number)),
            Some(_) => Err(Failure::input(field, format!("{field} must be a number"))),
        }
    }

    /// A whole number from `least` to 2⁵³, if it is given.
    ///
    /// # Errors
    /// Something else.
    pub fn whole(&self, field: &str, least: u64) -> Result<Option<u64>, Failure> {
        self.number(field)?.map(|number| whole(field, number, least)).transpose()
    }

    /// Text, if it is given.
    ///
    /// # Errors
    /// Something else than text, or long text.
    pub fn text(&self, field: &str) -> Result<Option<&str>, Failure> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(_) => Err(Failure::input(field, format!("{field} must be a name"))),
        }
    }

    /// True or false, if it is given.
    ///
    /// # Errors
    /// Something else.
    pub fn flag(&self, field: &str) -> Result<Option<bool>, Failure> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::Flag(flag)) => Ok(Some(*flag)),
            Some(_) => Err(Failure::input(field, format!("{field} must be true or false"))),
        }
    }
}

/// What is needed and was not given.
///
/// # Errors
/// None was given.
pub fn needed<T>(given: Option<T>, field: &str) -> Result<T, Failure> {
    given.ok_or_else(|| Failure::input(field, format!("{field} is missing; add it")))
}

/// A whole number from `least` to 2⁵³.
///
/// # Errors
/// Another number.
pub fn whole(field: &str, number: f64, least: u64) -> Result<u64, Failure> {
    if number.fract() == 0.0 && number >= least as f64 && number <= MOST_WHOLE {
        return Ok(number as u64);
    }
    let allowed = format!("a whole number from {least} to 2^53");
    Err(Failure::outside(field, number, &allowed))
}

/// A record for the page.
pub(crate) type Made = Result<JsValue, Failure>;

/// A plain object.
pub(crate) fn to_js(record: &impl Serialize) -> Made {
    let plain = Serializer::json_compatible();
    record.serialize(&plain).map_err(|error| Failure::of(FailureKind::Internal, error.to_string()))
}

/// What has this name.
pub(crate) fn named<T: Copy>(field: &str, names: &[(&str, T)], name: &str) -> Result<T, Failure> {
    let found = names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|(known, _)| *known).collect();
        Failure::input(field, format!("{field} must be one of {}", known.join(", ")))
    })
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
    let text: &js_sys::JsString = value.dyn_ref()?;
    (text.length() <= MOST_LETTERS).then(|| text.into())
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
        assert_eq!(record.whole("steps", 1), Ok(Some(100)));
        assert_eq!(record.number("half"), Ok(Some(0.5)));
        assert_eq!(record.text("name"), Ok(Some("shuffle")));
        assert_eq!(record.flag("flag"), Ok(Some(true)));
        assert_eq!(record.number("other"), Ok(None));
        assert!(record.has("list") && !record.has("other"));
    }

    #[test]
    fn a_failure_names_its_field() {
        let record = record();
        for failure in [
            record.whole("half", 0).unwrap_err(),
            record.text("half").unwrap_err(),
            record.flag("half").unwrap_err(),
            needed(None::<f64>, "half").unwrap_err(),
        ] {
            assert_eq!(failure.field.as_deref(), Some("half"));
            assert!(failure.message.starts_with("half "), "{failure:?}");
        }
        assert!(record.number("list").is_err() && record.text("list").is_err());
        let misspelt = [("step", Value::Number(1.0))];
        let failure = Record::of(&misspelt, &["steps"]).unwrap_err();
        assert_eq!(failure.message, "step is none of the fields steps");
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

//! Plain objects of pages, read by serde.
//!
//! `serde-wasm-bindgen` only writes records here: when it reads, it ignores misspelt fields, and its
//! errors do not name the field.

use std::{fmt, slice};

use dpscope_core::accounting::Given;
use js_sys::{Array, JsString, Object};
use serde::de::value::U32Deserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, SeqAccess, Visitor,
};
use wasm_bindgen::{JsCast, JsValue};

use crate::failure::{Failure, FailureKind};

/// 2⁵³: up to here a float represents every integer.
const MAX_INTEGER: u64 = 1 << 53;

/// Fields of one object.
const MAX_FIELDS: u32 = 64;

/// UTF-16 units of a text.
const MAX_TEXT: u32 = 128;

/// Objects inside objects.
const MAX_DEPTH: u32 = 3;

/// Reads a plain object or a name.
///
/// # Errors
/// The first field that is missing, unknown or of another type.
pub fn read<T: DeserializeOwned>(value: &JsValue, name: &'static str) -> Result<T, Failure> {
    Value::of(value, MAX_DEPTH).unwrap_or(Value::Other).read(name)
}

/// As [`read`], if there is a value.
///
/// # Errors
/// As [`read`].
pub fn read_optional<T: DeserializeOwned>(
    value: &JsValue,
    name: &'static str,
) -> Result<Option<T>, Failure> {
    if value.is_undefined() { Ok(None) } else { read(value, name).map(Some) }
}

/// One of the names of a type.
///
/// # Errors
/// Another name.
pub fn named<T: DeserializeOwned>(field: &'static str, name: &str) -> Result<T, Failure> {
    Value::Text(name.to_owned()).read(field)
}

/// The fields of an object that contains numbers.
///
/// # Errors
/// No object, or a field of another type.
pub fn numbers(value: &JsValue, name: &'static str) -> Result<Vec<(String, f64)>, Failure> {
    let Some(Value::Record(fields)) = Value::of(value, 1) else {
        return Err(Failure::input(name, &["must be an object"]));
    };
    let mut numbers = Vec::new();
    for (key, value) in fields {
        let Value::Number(number) = value else {
            return Err(Failure::input(name, &["has no number ", &key]));
        };
        numbers.push((key, number));
    }
    Ok(numbers)
}

/// Either ε or δ: an object with exactly one of them.
///
/// # Errors
/// Both or neither.
pub fn given(at: &JsValue) -> Result<Given, Failure> {
    given_of(&numbers(at, "at")?)
}

fn given_of(fields: &[(String, f64)]) -> Result<Given, Failure> {
    match fields {
        [(name, delta)] if name == "delta" => Ok(Given::Delta(*delta)),
        [(name, epsilon)] if name == "epsilon" => Ok(Given::Epsilon(*epsilon)),
        _ => Err(Failure::input("at", &["must have delta or epsilon"])),
    }
}

/// An integer from `least`, 0 or 1, to 2⁵³.
///
/// # Errors
/// Another number.
pub fn integer(field: &'static str, number: f64, least: u64) -> Result<u64, Failure> {
    if number.fract() == 0.0 && number >= least as f64 && number <= MAX_INTEGER as f64 {
        return Ok(number as u64);
    }
    let allowed = match least {
        0 => "an integer from 0 to 2^53",
        _ => "an integer from 1 to 2^53",
    };
    Err(Failure::outside(field, number, allowed))
}

/// What a page passes; `undefined` and `null` are missing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    Text(String),
    Flag(bool),
    Record(Vec<(String, Value)>),
    Other,
}

impl Value {
    fn of(value: &JsValue, depth: u32) -> Option<Self> {
        if value.is_undefined() || value.is_null() {
            return None;
        }
        Some(if let Some(number) = value.as_f64() {
            Value::Number(number)
        } else if let Some(flag) = value.as_bool() {
            Value::Flag(flag)
        } else if let Some(text) = short(value) {
            Value::Text(text)
        } else if value.is_object() && depth > 0 {
            // An object of another realm is no instance of this one's `Object`.
            Value::of_object(value.unchecked_ref(), depth - 1)
        } else {
            Value::Other
        })
    }

    fn of_object(object: &Object, depth: u32) -> Self {
        let entries = Object::entries(object);
        if entries.length() > MAX_FIELDS {
            return Value::Other;
        }
        let field = |entry: JsValue| {
            let entry: Array = entry.unchecked_into();
            let value = Value::of(&entry.get(1), depth)?;
            Some((short(&entry.get(0)).unwrap_or_default(), value))
        };
        Value::Record(entries.iter().filter_map(field).collect())
    }

    pub(crate) fn read<T: DeserializeOwned>(&self, name: &'static str) -> Result<T, Failure> {
        T::deserialize(Field { name, value: Some(self) }).map_err(|rejection| *rejection.0)
    }
}

/// Text that may be a name.
fn short(value: &JsValue) -> Option<String> {
    let text = value.dyn_ref::<JsString>().filter(|text| text.length() <= MAX_TEXT);
    text.map(String::from)
}

/// A failure in a box: results of types that are read stay small, and so does their code.
#[derive(Debug)]
struct Rejection(Box<Failure>);

impl From<Failure> for Rejection {
    #[cold]
    #[inline(never)]
    fn from(failure: Failure) -> Self {
        Rejection(Box::new(failure))
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Rejection {}

/// Names of the fields of a type, or of its variants.
type Names = &'static [&'static str];

/// A value, which may be missing, and the name that failures have for it.
#[derive(Clone, Copy)]
struct Field<'v> {
    name: &'static str,
    value: Option<&'v Value>,
}

impl<'v> Field<'v> {
    #[inline(never)]
    fn number(&self) -> Result<f64, Rejection> {
        let Some(Value::Number(number)) = self.value else { return Err(self.must_be("a number")) };
        Ok(*number)
    }

    #[inline(never)]
    fn integer(&self, largest: u64, allowed: &'static str) -> Result<u64, Rejection> {
        let number = self.number()?;
        let found = integer(self.name, number, 0).ok().filter(|&found| found <= largest);
        found.ok_or_else(|| Failure::outside(self.name, number, allowed).into())
    }

    #[inline(never)]
    fn fields(self, names: Names) -> Result<Fields<'v>, Rejection> {
        let Some(Value::Record(record)) = self.value else { return Err(self.must_be("an object")) };
        if let Some((key, _)) = record.iter().find(|(key, _)| !names.contains(&key.as_str())) {
            return Err(Failure::input(self.name, &["has no field ", key]).into());
        }
        Ok(Fields { record, names: names.iter() })
    }

    #[inline(never)]
    fn variant(self, names: Names) -> Result<U32Deserializer<Rejection>, Rejection> {
        let index = match self.value {
            Some(Value::Text(text)) => names.iter().position(|name| name == text),
            _ => None,
        };
        match index {
            Some(index) => Ok((index as u32).into_deserializer()),
            None => {
                let mut rejection = self.must_be("one of");
                for name in names {
                    rejection.0.message.push(' ');
                    rejection.0.message.push_str(name);
                }
                Err(rejection)
            }
        }
    }

    #[inline(never)]
    fn must_be(&self, expected: &str) -> Rejection {
        match self.value {
            Some(_) => Failure::input(self.name, &["must be ", expected]).into(),
            None => Failure::missing(self.name).into(),
        }
    }
}

/// The fields of an object in the order of their type: that takes less code in each type than a map.
struct Fields<'v> {
    record: &'v [(String, Value)],
    names: slice::Iter<'static, &'static str>,
}

impl<'v> Fields<'v> {
    #[inline(never)]
    fn next(&mut self) -> Option<Field<'v>> {
        let name = self.names.next()?;
        let value = self.record.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        Some(Field { name, value })
    }
}

impl<'de> SeqAccess<'de> for Fields<'de> {
    type Error = Rejection;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Rejection> {
        self.next().map(|field| seed.deserialize(field)).transpose()
    }
}

impl<'de> Deserializer<'de> for Field<'de> {
    type Error = Rejection;

    /// Derived types ask for one of the types below.
    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Rejection> {
        Err(self.must_be("a value"))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rejection> {
        visitor.visit_f64(self.number()?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rejection> {
        visitor.visit_u64(self.integer(MAX_INTEGER, "an integer from 0 to 2^53")?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rejection> {
        visitor.visit_u64(self.integer(u32::MAX.into(), "an integer from 0 and below 2^32")?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rejection> {
        let Some(Value::Flag(flag)) = self.value else { return Err(self.must_be("true or false")) };
        visitor.visit_bool(*flag)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rejection> {
        let Some(Value::Text(text)) = self.value else { return Err(self.must_be("a short text")) };
        visitor.visit_str(text)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rejection> {
        if self.value.is_some() { visitor.visit_some(self) } else { visitor.visit_none() }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        names: Names,
        visitor: V,
    ) -> Result<V::Value, Rejection> {
        visitor.visit_seq(self.fields(names)?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        names: Names,
        visitor: V,
    ) -> Result<V::Value, Rejection> {
        visitor.visit_enum(self.variant(names)?)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 char str bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

/// Short messages without formatting, of which a bundle pays for every byte.
impl de::Error for Rejection {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Failure::rejected(&message).into()
    }

    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Failure::of(FailureKind::Input, "wrong type").into()
    }

    fn invalid_value(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(de::Unexpected::Unit, expected)
    }

    fn invalid_length(_: usize, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(de::Unexpected::Unit, expected)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use dpscope_core::mechanism::{BatchedGaussian, ThreatModel};
    use dpscope_core::training_check::TrainingDescription;
    use dpscope_report::record::input::Mechanism;

    use super::*;

    /// Reads an object with these fields.
    pub(crate) fn of_fields<T: DeserializeOwned>(
        fields: &[(&'static str, Value)],
    ) -> Result<T, Failure> {
        let named = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        Value::Record(named.collect()).read("record")
    }

    pub(crate) fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn fields_are_read_by_their_type() {
        let read: TrainingDescription = of_fields(&[
            ("dataset_size", Value::Number(100.0)),
            ("noise_multiplier", Value::Number(0.5)),
            ("loader", text("shuffle")),
            ("drop_last", Value::Flag(true)),
        ])
        .unwrap();
        assert_eq!((read.dataset_size, read.noise_multiplier), (Some(100), Some(0.5)));
        assert_eq!(read.loader.unwrap().name(), "shuffle");
        assert_eq!((read.drop_last, read.epochs), (Some(true), None));
    }

    #[test]
    fn a_failure_names_its_field() {
        for (field, value) in [
            ("dataset_size", Value::Number(0.5)),
            ("dataset_size", Value::Other),
            ("noise_multiplier", text("1")),
            ("loader", text("shuffled")),
            ("loader", Value::Number(1.0)),
            ("drop_last", Value::Number(1.0)),
        ] {
            let failure = of_fields::<TrainingDescription>(&[(field, value)]).unwrap_err();
            assert_eq!(failure.field, Some(field));
            assert!(failure.message.starts_with(&format!("{field} ")), "{failure:?}");
        }
        let misspelt = of_fields::<TrainingDescription>(&[("epoch", Value::Number(1.0))]);
        assert_eq!(misspelt.unwrap_err().message, "record has no field epoch");
        let unknown = named::<ThreatModel>("threat_model", "nobody").unwrap_err();
        assert!(unknown.message.starts_with("threat_model must be one of worst-case "));
    }

    #[test]
    fn an_omitted_threat_model_is_the_samplers_default() {
        let mechanism = |sampler: &str| {
            let options: Mechanism = of_fields(&[
                ("noise_multiplier", Value::Number(1.0)),
                ("steps", Value::Number(10.0)),
                ("epochs", Value::Number(1.0)),
                ("sampler", text(sampler)),
            ])
            .unwrap();
            BatchedGaussian::try_from(options).unwrap()
        };
        assert_eq!(mechanism("shuffle").threat_model, ThreatModel::WorstCase);
        assert_eq!(mechanism("poisson").threat_model, ThreatModel::TargetCanary);
    }

    #[test]
    fn exactly_one_of_delta_and_epsilon_is_given() {
        let (delta, epsilon) = (("delta".to_owned(), 0.1), ("epsilon".to_owned(), 2.0));
        assert_eq!(given_of(std::slice::from_ref(&delta)), Ok(Given::Delta(0.1)));
        assert_eq!(given_of(std::slice::from_ref(&epsilon)), Ok(Given::Epsilon(2.0)));
        for fields in [&[][..], &[delta, epsilon], &[("alpha".to_owned(), 0.1)]] {
            assert!(given_of(fields).is_err(), "{fields:?}");
        }
    }

    #[test]
    fn integers_are_at_most_two_to_the_53() {
        assert_eq!(integer("steps", 9_007_199_254_740_992.0, 1), Ok(1 << 53));
        for number in [0.0, -1.0, 1.5, f64::NAN, f64::INFINITY, 9_007_199_254_740_994.0] {
            let failure = integer("steps", number, 1).unwrap_err();
            assert!(failure.message.contains("steps is"), "{failure:?}");
        }
    }
}

//! What a page is given: plain objects with the names of the command line's JSON.
//!
//! Of the same records the crate serde-wasm-bindgen makes the same objects, with thrice the code.

use std::fmt::{self, Display};

use serde::ser::{Error, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct};
use wasm_bindgen::JsValue;

use crate::failure::{Failure, FailureKind};
use crate::js::{self, Object};

/// A record for the page.
pub type Made = Result<JsValue, Failure>;

/// Turns a record into a plain object; what is missing is null.
///
/// # Errors
/// A record of a kind that no report has: bytes, tuples, variants with fields outside them.
pub fn to_js(record: &impl Serialize) -> Made {
    let refused = |_| Failure::of(FailureKind::Internal, "a record cannot be shown");
    record.serialize(Plain).map_err(refused)
}

/// Text of a record is never read.
#[derive(Debug)]
struct Unsupported;

impl Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unsupported")
    }
}

impl std::error::Error for Unsupported {}

impl Error for Unsupported {
    fn custom<T: Display>(_: T) -> Self {
        Unsupported
    }
}

type Shown = Result<JsValue, Unsupported>;
type Never = Impossible<JsValue, Unsupported>;

#[derive(Debug, Clone, Copy)]
struct Plain;

macro_rules! numbers {
    ($($method:ident: $number:ty),*) => { $(
        #[allow(clippy::cast_lossless, reason = "one line for every width")]
        fn $method(self, value: $number) -> Shown {
            Ok(JsValue::from_f64(value.into()))
        }
    )* };
}

macro_rules! unsupported {
    ($($method:ident($($argument:ty),*) -> $made:ty),*) => { $(
        fn $method(self, $(_: $argument),*) -> Result<$made, Unsupported> {
            Err(Unsupported)
        }
    )* };
}

impl serde::Serializer for Plain {
    type Ok = JsValue;
    type Error = Unsupported;
    type SerializeSeq = List;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Fields;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Never;

    numbers!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_u8: u8,
        serialize_u16: u16, serialize_u32: u32, serialize_f32: f32, serialize_f64: f64
    );

    /// Every whole number of a record is below 2⁵³.
    fn serialize_i64(self, value: i64) -> Shown {
        Ok(JsValue::from_f64(value as f64))
    }

    fn serialize_u64(self, value: u64) -> Shown {
        Ok(JsValue::from_f64(value as f64))
    }

    unsupported!(
        serialize_char(char) -> JsValue,
        serialize_bytes(&[u8]) -> JsValue,
        serialize_unit_struct(&'static str) -> JsValue,
        serialize_tuple(usize) -> Never,
        serialize_tuple_struct(&'static str, usize) -> Never,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never
    );

    fn serialize_bool(self, value: bool) -> Shown {
        Ok(JsValue::from_bool(value))
    }

    fn serialize_str(self, value: &str) -> Shown {
        Ok(JsValue::from_str(value))
    }

    fn serialize_none(self) -> Shown {
        Ok(JsValue::NULL)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Shown {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Shown {
        Ok(JsValue::NULL)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Shown {
        Ok(JsValue::from_str(name))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Shown {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Shown {
        Err(Unsupported)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List, Unsupported> {
        Ok(List(js::List::new()))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Fields, Unsupported> {
        Ok(Fields { object: Object::new(), key: String::new() })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields, Unsupported> {
        self.serialize_map(None)
    }
}

#[derive(Debug)]
struct List(js::List);

impl SerializeSeq for List {
    type Ok = JsValue;
    type Error = Unsupported;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unsupported> {
        self.0.push(&value.serialize(Plain)?);
        Ok(())
    }

    fn end(self) -> Shown {
        Ok(self.0.into())
    }
}

#[derive(Debug)]
struct Fields {
    object: Object,
    key: String,
}

impl SerializeStruct for Fields {
    type Ok = JsValue;
    type Error = Unsupported;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Unsupported> {
        js::set(&self.object, key, &value.serialize(Plain)?);
        Ok(())
    }

    fn end(self) -> Shown {
        Ok(self.object.into())
    }
}

impl SerializeMap for Fields {
    type Ok = JsValue;
    type Error = Unsupported;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unsupported> {
        self.key = key.serialize(Plain)?.as_string().ok_or(Unsupported)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unsupported> {
        js::set(&self.object, &self.key, &value.serialize(Plain)?);
        Ok(())
    }

    fn end(self) -> Shown {
        Ok(self.object.into())
    }
}

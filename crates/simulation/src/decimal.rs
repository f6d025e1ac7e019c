//! A u64 as a decimal string, since JSON numbers are doubles to many readers: for `serde(with)`.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// Writes a number as text.
///
/// # Errors
/// The errors of the serializer.
pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.to_string())
}

/// Reads a number from text.
///
/// # Errors
/// Text that is not a decimal integer.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| D::Error::custom(format!("`{text}` is not a decimal integer")))
}

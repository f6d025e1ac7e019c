//! SHA-256 digests in hexadecimal.

use serde::Serialize;
use sha2::{Digest, Sha256};

/// SHA-256 of a value's JSON, in hexadecimal.
#[must_use]
pub fn sha256(value: &impl Serialize) -> String {
    let json = serde_json::to_vec(value).unwrap_or_default();
    Sha256::digest(json).iter().map(|byte| format!("{byte:02x}")).collect()
}

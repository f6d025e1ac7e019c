//! SHA-256 digests in hexadecimal.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// SHA-256 of a training's description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrainingDigest([u8; 32]);

impl TrainingDigest {
    /// The digest of a description.
    #[must_use]
    pub fn of(description: &str) -> Self {
        TrainingDigest(Sha256::digest(description.as_bytes()).into())
    }
}

impl From<TrainingDigest> for String {
    fn from(digest: TrainingDigest) -> String {
        hex(&digest.0)
    }
}

impl TryFrom<String> for TrainingDigest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let byte = |pair: &[u8]| {
            let digits = std::str::from_utf8(pair).ok()?;
            digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(())?;
            u8::from_str_radix(digits, 16).ok()
        };
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
        let whole = bytes.filter(|_| text.len() == 64);
        let bytes = whole.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        bytes.map(TrainingDigest).ok_or("a training digest has 64 hexadecimal digits")
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::TrainingDigest;

    #[test]
    fn digests_are_hexadecimal() {
        let digest = TrainingDigest::of("{}");
        let text = String::from(digest);
        assert_eq!(TrainingDigest::try_from(text.clone()), Ok(digest));
        for bad in [&text[1..], &format!("{text}00"), &format!("+f{}", &text[2..]), "ü"] {
            assert!(TrainingDigest::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}

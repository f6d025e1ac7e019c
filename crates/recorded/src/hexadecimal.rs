//! Bytes as hexadecimal text.

/// Two digits for each byte.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes of hexadecimal text; none if it is something else.
#[must_use]
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|value| value as u8);
    let digits: Option<Vec<u8>> = text.as_bytes().iter().map(digit).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_text_round_trips() {
        assert_eq!(unhex(&hex(&[0, 9, 255])), Some(vec![0, 9, 255]));
        assert_eq!((unhex("abc"), unhex("zz"), unhex("é")), (None, None, None));
    }
}

use std::io::Read;

use half::{bf16, f16};

use crate::shape::reserve;
use crate::{ArrayName, FormatError};

/// Beyond it f64 does not have every integer: 2⁵³.
const MOST_INTEGER: u64 = 1 << 53;

/// Whether a number was written as an integer beyond ±2⁵³, where f64 lacks integers.
pub(crate) fn is_large_integer(text: &str, value: f64) -> bool {
    // 2⁵³ + 1 rounds to 2⁵³
    let is_written = || text.bytes().all(|byte| byte.is_ascii_digit() || b"+-".contains(&byte));
    value.abs() >= MOST_INTEGER as f64
        && is_written()
        && text.parse().map_or(true, |exact: i128| exact.unsigned_abs() > MOST_INTEGER.into())
}

/// How one element is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    F64,
    F32,
    F16,
    Bf16,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    /// Accepted as 0 and 1: membership labels are often saved so.
    Bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl Number {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::I8 | Self::U8 | Self::Bool => 1,
        }
    }

    /// Whether `bytes` contain an integer beyond ±2⁵³, tested before it is rounded.
    fn has_large_integer(self, order: ByteOrder, bytes: &[u8]) -> bool {
        let mut words = bytes.as_chunks::<8>().0.iter().map(|word| match order {
            ByteOrder::Little => u64::from_le_bytes(*word),
            ByteOrder::Big => u64::from_be_bytes(*word),
        });
        match self {
            Self::I64 => words.any(|word| word.cast_signed().unsigned_abs() > MOST_INTEGER),
            Self::U64 => words.any(|word| word > MOST_INTEGER),
            _ => false,
        }
    }

    /// Appends all elements of `bytes`, whose length is a multiple of the element's. Integers beyond ±2⁵³
    /// are rounded; all else is exact.
    fn append(self, order: ByteOrder, bytes: &[u8], out: &mut Vec<f64>) {
        macro_rules! extend {
            ($type:ty, $to_f64:expr) => {{
                let chunks = bytes.as_chunks::<{ size_of::<$type>() }>().0.iter().copied();
                match order {
                    ByteOrder::Little => {
                        out.extend(chunks.map(<$type>::from_le_bytes).map($to_f64))
                    }
                    ByteOrder::Big => out.extend(chunks.map(<$type>::from_be_bytes).map($to_f64)),
                }
            }};
        }
        match self {
            Self::F64 => extend!(f64, |x| x),
            Self::F32 => extend!(f32, f64::from),
            Self::F16 => extend!(f16, f64::from),
            Self::Bf16 => extend!(bf16, f64::from),
            Self::I64 => extend!(i64, |x| x as f64),
            Self::I32 => extend!(i32, f64::from),
            Self::I16 => extend!(i16, f64::from),
            Self::I8 => extend!(i8, f64::from),
            Self::U64 => extend!(u64, |x| x as f64),
            Self::U32 => extend!(u32, f64::from),
            Self::U16 => extend!(u16, f64::from),
            Self::U8 => extend!(u8, f64::from),
            Self::Bool => extend!(u8, |x| f64::from(u8::from(x != 0))),
        }
    }

    /// Reads `count` elements. `available_bytes` is the most that `reader` can return:
    /// memory is allocated only after `count` has been checked against it.
    pub(crate) fn read(
        self,
        order: ByteOrder,
        array: &ArrayName,
        count: usize,
        available_bytes: u64,
        reader: &mut dyn Read,
    ) -> Result<Vec<f64>, FormatError> {
        let needed_bytes = count as u64 * self.bytes() as u64;
        let truncated = |present_bytes| FormatError::Truncated {
            array: array.clone(),
            needed_bytes,
            present_bytes,
        };
        if needed_bytes > available_bytes {
            return Err(truncated(available_bytes));
        }
        let mut data = reserve(array, count)?;
        let mut buffer = [0; 1 << 14];
        let mut missing = needed_bytes;
        while missing > 0 {
            let wanted = missing.min(buffer.len() as u64) as usize;
            let got = fill(array, reader, &mut buffer[..wanted])?;
            if got < wanted {
                return Err(truncated(needed_bytes - missing + got as u64));
            }
            if self.has_large_integer(order, &buffer[..wanted]) {
                return Err(FormatError::LargeInteger { array: array.clone() });
            }
            self.append(order, &buffer[..wanted], &mut data);
            missing -= wanted as u64;
        }
        Ok(data)
    }
}

/// Fills `buffer` as far as `reader` goes.
pub(crate) fn fill(
    array: &ArrayName,
    reader: &mut dyn Read,
    buffer: &mut [u8],
) -> Result<usize, FormatError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) => {
                let reason = error.to_string();
                return Err(FormatError::Damaged { array: array.clone(), reason });
            }
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(number: Number, order: ByteOrder, mut bytes: &[u8]) -> Vec<f64> {
        let (count, available) = (bytes.len() / number.bytes(), bytes.len() as u64);
        number.read(order, &ArrayName::only(), count, available, &mut bytes).unwrap()
    }

    #[test]
    fn byte_orders_mirror_each_other() {
        assert_eq!(read(Number::I16, ByteOrder::Little, &[1, 2, 0xff, 0xff]), [513.0, -1.0]);
        assert_eq!(read(Number::I16, ByteOrder::Big, &[1, 2, 0xff, 0xff]), [258.0, -1.0]);
        assert_eq!(read(Number::F32, ByteOrder::Big, &[0x3f, 0xc0, 0, 0]), [1.5]);
        assert_eq!(read(Number::Bool, ByteOrder::Little, &[0, 1, 2]), [0.0, 1.0, 1.0]);
    }

    #[test]
    fn half_precision_values_are_exact() {
        let bits: Vec<u8> = [0x3c00_u16, 0xc000, 0x7bff, 0x0001, 0x7c00]
            .into_iter()
            .flat_map(u16::to_le_bytes)
            .collect();
        let smallest = 1.0 / f64::from(1 << 24);
        let expected = [1.0, -2.0, 65504.0, smallest, f64::INFINITY];
        assert_eq!(read(Number::F16, ByteOrder::Little, &bits), expected);
        assert_eq!(
            read(Number::Bf16, ByteOrder::Little, &[0x80, 0x3f, 0x80, 0xff]),
            [1.0, f64::NEG_INFINITY]
        );
    }

    #[test]
    fn integers_beyond_two_to_the_53_are_refused() {
        let most = (1_i64 << 53).to_le_bytes();
        assert_eq!(read(Number::I64, ByteOrder::Little, &most), [MOST_INTEGER as f64]);
        let array = ArrayName::only();
        for large in [(1_i64 << 53) + 1, (1_i64 << 53) + 2, -(1_i64 << 53) - 1, i64::MIN] {
            for number in [Number::I64, Number::U64] {
                for (order, bytes) in [
                    (ByteOrder::Little, large.to_le_bytes()),
                    (ByteOrder::Big, large.to_be_bytes()),
                ] {
                    let found = number.read(order, &array, 1, 8, &mut &bytes[..]);
                    assert!(matches!(found, Err(FormatError::LargeInteger { .. })), "{large}");
                }
            }
        }
        let is_large = |text: &str| is_large_integer(text, text.parse().unwrap());
        for text in ["9007199254740993", "-9007199254740993", "100000000000000000000"] {
            assert!(is_large(text), "{text}");
        }
        for text in ["9007199254740992", "-9007199254740992", "9007199254740993.0", "1e300"] {
            assert!(!is_large(text), "{text}");
        }
    }

    #[test]
    fn sizes_beyond_the_file_are_refused_before_allocation() {
        let array = ArrayName::only();
        let count = 1 << 50;
        let error =
            Number::U8.read(ByteOrder::Little, &array, count, 3, &mut &[1, 2, 3][..]).unwrap_err();
        let (needed_bytes, present_bytes) = (1 << 50, 3);
        assert_eq!(error, FormatError::Truncated { array, needed_bytes, present_bytes });
    }

    #[test]
    fn a_reader_that_ends_early_is_truncated() {
        let array = ArrayName::only();
        let bytes = vec![0; 20_000];
        let error =
            Number::F64.read(ByteOrder::Little, &array, 4000, 32_000, &mut &bytes[..]).unwrap_err();
        let (needed_bytes, present_bytes) = (32_000, 20_000);
        assert_eq!(error, FormatError::Truncated { array, needed_bytes, present_bytes });
    }
}

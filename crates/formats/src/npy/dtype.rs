use crate::number::{ByteOrder, Number};
use crate::{ArrayName, FormatError};

/// The dtype of an npy header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dtype {
    /// NumPy's code for one type, such as `<f8`.
    Plain(String),
    /// A record of named fields.
    Structured,
}

impl Dtype {
    /// NumPy's code; none for named fields.
    #[cfg(feature = "coins")]
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Plain(code) => Some(code),
            Self::Structured => None,
        }
    }

    /// NumPy's name for the type where it has a short one, else its code.
    pub(crate) fn name(&self) -> String {
        let Self::Plain(code) = self else { return "with named fields".to_owned() };
        if code.strip_prefix('|').is_some_and(|kind| !kind.ends_with(['1', 'O'])) {
            return code.clone(); // NumPy writes a byte order wherever one is possible
        }
        let name = match code.trim_start_matches(['<', '>', '|']) {
            "f8" => "float64",
            "f4" => "float32",
            "f2" => "float16",
            "i8" => "int64",
            "i4" => "int32",
            "i2" => "int16",
            "i1" => "int8",
            "u8" => "uint64",
            "u4" => "uint32",
            "u2" => "uint16",
            "u1" => "uint8",
            "b1" => "bool",
            "c8" => "complex64",
            "c16" => "complex128",
            "O" | "O8" => "object",
            "f12" | "f16" => return format!("longdouble ({code})"),
            other => match (other.strip_prefix("M8"), other.strip_prefix("m8")) {
                (Some(unit), _) => return format!("datetime64{unit}"),
                (_, Some(unit)) => return format!("timedelta64{unit}"),
                _ => return code.clone(),
            },
        };
        name.to_owned()
    }

    /// How an element is stored, if it is a real number that `f64` can represent.
    pub(crate) fn number(&self, array: &ArrayName) -> Result<(Number, ByteOrder), FormatError> {
        if let Self::Plain(code) = self
            && let Some(number) = known(code)
        {
            return Ok(number);
        }
        let (problem, remedy) = self.refusal();
        let (array, dtype) = (array.clone(), self.name());
        Err(FormatError::Dtype { array, dtype, problem, remedy })
    }

    /// What is wrong with a dtype that is refused, and what to save instead.
    fn refusal(&self) -> (&'static str, &'static str) {
        let Self::Plain(code) = self else {
            return (
                "is not one number",
                "save each field by itself, e.g. np.savez(path, **{f: x[f] for f in x.dtype.names})",
            );
        };
        let kind = code.trim_start_matches(['<', '>', '|']);
        match kind.as_bytes().first() {
            Some(b'c') => {
                ("is not a real number", "save the real part, e.g. np.save(path, x.real)")
            }
            Some(b'O') => (
                "contains pickled Python values, which are not supported",
                "save numbers, e.g. np.save(path, np.asarray(x, dtype=np.float64))",
            ),
            Some(b'U' | b'S' | b'a' | b'T') => {
                ("contains text", "save numbers, e.g. np.save(path, x.astype(np.float64))")
            }
            Some(b'M' | b'm') => {
                ("is a time", "save a number, e.g. np.save(path, x.astype(np.int64))")
            }
            Some(b'f') if matches!(kind, "f10" | "f12" | "f16") => (
                "has more digits than float64",
                "round it yourself, e.g. np.save(path, x.astype(np.float64))",
            ),
            Some(b'V') if kind == "V2" => (
                "contains raw bytes, perhaps bfloat16",
                "save a type of NumPy's own, e.g. np.save(path, x.astype(np.float32))",
            ),
            Some(b'V') => {
                ("contains raw bytes", "save numbers, e.g. np.save(path, x.view(np.float64))")
            }
            _ => ("is unknown", "save numbers, e.g. np.save(path, x.astype(np.float64))"),
        }
    }
}

fn known(code: &str) -> Option<(Number, ByteOrder)> {
    let (order, kind) = code.split_at_checked(1)?;
    let number = match kind {
        "f8" => Number::F64,
        "f4" => Number::F32,
        "f2" => Number::F16,
        "i8" => Number::I64,
        "i4" => Number::I32,
        "i2" => Number::I16,
        "i1" => Number::I8,
        "u8" => Number::U64,
        "u4" => Number::U32,
        "u2" => Number::U16,
        "u1" => Number::U8,
        "b1" => Number::Bool,
        _ => return None,
    };
    match order {
        "<" => Some((number, ByteOrder::Little)),
        ">" => Some((number, ByteOrder::Big)),
        "|" if number.bytes() == 1 => Some((number, ByteOrder::Little)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multi_byte_dtypes_need_a_byte_order() {
        assert_eq!(known("<f8"), Some((Number::F64, ByteOrder::Little)));
        assert_eq!(known(">u2"), Some((Number::U16, ByteOrder::Big)));
        assert_eq!(known("|i1"), Some((Number::I8, ByteOrder::Little)));
        for refused in ["", "f8", "|f8", "=f8", "<f16", "<b2", "é1", "<"] {
            assert_eq!(known(refused), None, "{refused}");
        }
    }

    #[test]
    fn names_match_numpy() {
        let name = |code: &str| Dtype::Plain(code.to_owned()).name();
        assert_eq!(name(">f4"), "float32");
        assert_eq!(name("<m8[us]"), "timedelta64[us]");
        assert_eq!(name("<U12"), "<U12");
    }
}

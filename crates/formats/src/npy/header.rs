use dpscope_core::foreign_text::ForeignText;

use super::dtype::Dtype;
use crate::number::{ByteOrder, Number};
use crate::{ArrayName, FormatError};

/// The header of an npy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) dtype: Dtype,
    pub(crate) fortran_order: bool,
    pub(crate) shape: Vec<u64>,
    /// Offset of the data in bytes.
    pub(crate) bytes: u64,
}

impl Header {
    pub(crate) fn number(&self, array: &ArrayName) -> Result<(Number, ByteOrder), FormatError> {
        self.dtype.number(array)
    }

    /// Parses the dictionary with the keys descr, fortran_order and shape, in any order and no
    /// other. The error is the reason.
    pub(crate) fn parse(text: &[u8], bytes: u64) -> Result<Self, String> {
        // Version 1.0 and 2.0 are Latin-1, 3.0 is UTF-8; only field names are ever beyond ASCII.
        let text: String = match std::str::from_utf8(text) {
            Ok(text) => text.to_owned(),
            Err(_) => text.iter().map(|&byte| char::from(byte)).collect(),
        };
        let text = text.trim_matches([' ', '\n', '\0']);
        let Some(mut rest) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) else {
            return Err(format!("`{}` is not a dictionary", ForeignText::new(text)));
        };
        let (mut dtype, mut fortran_order, mut shape) = (None, None, None);
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                break;
            }
            let (key, after) = split_literal(rest, ':')?;
            let (value, after) = split_literal(after, ',')?;
            let repeated = match unquoted(key) {
                Some("descr") => dtype.replace(parse_dtype(value)?).is_some(),
                Some("fortran_order") => fortran_order.replace(parse_bool(value)?).is_some(),
                Some("shape") => shape.replace(parse_shape(value)?).is_some(),
                _ => return Err(format!("`{}` is not a key", ForeignText::new(key))),
            };
            if repeated {
                return Err(format!("the key {} occurs twice", ForeignText::new(key)));
            }
            rest = after;
        }
        match (dtype, fortran_order, shape) {
            (Some(dtype), Some(fortran_order), Some(shape)) => {
                Ok(Self { dtype, fortran_order, shape, bytes })
            }
            _ => Err("it lacks descr, fortran_order or shape".to_owned()),
        }
    }
}

/// Splits at the first `end` outside of brackets and quotes, or at the text's end.
fn split_literal(text: &str, end: char) -> Result<(&str, &str), String> {
    let mut open_brackets = 0_u32;
    let mut quote = None;
    let mut escaped = false;
    for (position, character) in text.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if character == '\\' => escaped = true,
            Some(mark) if character == mark => quote = None,
            Some(_) => {}
            None if character == end && open_brackets == 0 => {
                return Ok((text[..position].trim(), &text[position + 1..]));
            }
            None => match character {
                '\'' | '"' => quote = Some(character),
                '(' | '[' | '{' => open_brackets += 1,
                ')' | ']' | '}' => {
                    open_brackets =
                        open_brackets.checked_sub(1).ok_or("a bracket closes too much")?;
                }
                _ => {}
            },
        }
    }
    if quote.is_some() || open_brackets > 0 {
        return Err("a quotation mark or bracket is not closed".to_owned());
    }
    Ok((text.trim(), ""))
}

fn unquoted(text: &str) -> Option<&str> {
    ['\'', '"'].into_iter().find_map(|mark| text.strip_prefix(mark)?.strip_suffix(mark))
}

fn parse_dtype(value: &str) -> Result<Dtype, String> {
    match (unquoted(value), value.as_bytes().first()) {
        (Some(code), _) => Ok(Dtype::Plain(ForeignText::new(code).to_string())),
        (None, Some(b'[')) => Ok(Dtype::Structured),
        _ => Err(format!("descr `{}` is not a dtype", ForeignText::new(value))),
    }
}

fn parse_bool(value: &str) -> Result<bool, String> {
    match value {
        "True" => Ok(true),
        "False" => Ok(false),
        _ => Err(format!("fortran_order is `{}`, not True or False", ForeignText::new(value))),
    }
}

fn parse_shape(value: &str) -> Result<Vec<u64>, String> {
    let inside = value.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let Some(inside) = inside else {
        return Err(format!("shape `{}` is not a tuple", ForeignText::new(value)));
    };
    let inside = inside.trim();
    if inside.is_empty() {
        return Ok(Vec::new());
    }
    let axes = inside.strip_suffix(',').unwrap_or(inside).split(',');
    axes.map(|axis| {
        let axis = axis.trim();
        // Python 2 wrote long integers as 3L.
        let digits = axis.strip_suffix('L').unwrap_or(axis);
        let length = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok());
        length.flatten().ok_or_else(|| format!("axis `{}` is not a length", ForeignText::new(axis)))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Header, String> {
        Header::parse(text.as_bytes(), 0)
    }

    #[test]
    fn keys_come_in_any_order_and_either_quotes() {
        let text = "{\"shape\": (3L, 4), 'fortran_order':True,'descr':'<f8'}";
        let header = parse(text).unwrap();
        assert_eq!(header.dtype, Dtype::Plain("<f8".to_owned()));
        assert_eq!((header.fortran_order, header.shape), (true, vec![3, 4]));
    }

    #[test]
    fn structured_dtypes_may_contain_anything() {
        let text = "{'descr': [('a,}\\')', '<f8'), (\"b:'\", [('c', '|O')], (2, 2))], \
                    'fortran_order': False, 'shape': (), }";
        assert_eq!(parse(text).unwrap().dtype, Dtype::Structured);
        let latin = b"{'descr': [('\xe9', '<f8')], 'fortran_order': False, 'shape': (1,)}";
        assert_eq!(Header::parse(latin, 0).unwrap().dtype, Dtype::Structured);
    }

    #[test]
    fn every_other_text_is_refused() {
        let good = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}";
        assert!(parse(good).is_ok());
        for (old, new) in [
            ("{", ""),
            ("'descr'", "'describe'"),
            ("'descr'", "descr"),
            ("'<f8'", "<f8"),
            ("'<f8'", "'<f8"),
            ("'<f8'", ""),
            ("False", "0"),
            ("(1,)", "[1]"),
            ("(1,)", "(1"),
            ("(1,)", "1)"),
            ("(1,)", "(1,,)"),
            ("(1,)", "(,)"),
            ("(1,)", "(+1,)"),
            ("(1,)", "(1.0,)"),
            (", 'shape': (1,)", ""),
            ("'descr'", "'shape'"),
        ] {
            let text = good.replacen(old, new, 1);
            assert!(parse(&text).is_err(), "{text}");
        }
    }
}

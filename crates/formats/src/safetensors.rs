use std::fmt;
use std::io::Read;

use dpscope_core::foreign_text::ForeignText;
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensorError, SafeTensors};

use crate::array::ArrayInfo;
use crate::error::name_list;
use crate::number::{ByteOrder, Number, fill};
use crate::shape::{element_count, shape_text};
use crate::{Array, ArrayName, FormatError, Limits, StoredArray};

/// A safetensors file whose arrays are read one by one.
pub struct Safetensors<'a> {
    file: SafeTensors<'a>,
    /// Sorted: the file itself has no order.
    names: Vec<String>,
    limits: Limits,
}

impl fmt::Debug for Safetensors<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Safetensors").field("names", &self.names).finish_non_exhaustive()
    }
}

impl<'a> Safetensors<'a> {
    /// Lists the arrays of a safetensors file.
    ///
    /// # Errors
    ///
    /// A header that is no JSON, too long, or whose offsets overlap, leave gaps or end elsewhere
    /// than the file; more than `limits` allow. Of two tensors with one name the header's last
    /// counts; the other's bytes are then a gap.
    pub fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, FormatError> {
        limits.file(bytes)?;
        let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
            return Err(header("the file is shorter than 8 bytes"));
        };
        let length = u64::from_le_bytes(*length);
        if length > rest.len() as u64 {
            return Err(longer_than(length, rest.len() as u64));
        }
        limits.header("the file", length)?;
        let file = SafeTensors::deserialize(bytes).map_err(|error| refuse(&error))?;
        limits.arrays(file.len() as u64)?;
        let mut names: Vec<String> = file.names().into_iter().map(str::to_owned).collect();
        names.sort_unstable();
        for name in &names {
            limits.name(name)?;
        }
        if names.is_empty() {
            return Err(FormatError::NoArrays { remedy: "save at least one tensor" });
        }
        Ok(Self { file, names, limits: limits.clone() })
    }

    /// The arrays' names, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Name, dtype and shape of each array, without its data.
    #[must_use]
    pub fn describe(&self) -> Vec<ArrayInfo> {
        let tensors = self.names().filter_map(|name| Some((name, self.file.tensor(name).ok()?)));
        tensors
            .map(|(name, tensor)| ArrayInfo {
                name: name.to_owned(),
                dtype: tensor.dtype().to_string(),
                shape: shape_text(&wide(tensor.shape())),
                readable: number(tensor.dtype()).is_some(),
            })
            .collect()
    }

    /// Reads one array: F64, F32, F16, BF16, BOOL and all integers.
    ///
    /// Values are exact; integers beyond 2⁵³ are refused. NaN and infinities are preserved.
    ///
    /// # Errors
    ///
    /// No such name, another dtype, an empty array, or more than the limits allow.
    pub fn read(&self, name: &str) -> Result<Array, FormatError> {
        self.read_within(name, &self.limits)
    }

    fn read_within(&self, name: &str, limits: &Limits) -> Result<Array, FormatError> {
        let array = ArrayName::of(name);
        let Ok(tensor) = self.file.tensor(name) else {
            let available = name_list(self.names());
            return Err(FormatError::NotFound { name: ForeignText::new(name), available });
        };
        let number = number_of(array.clone(), tensor.dtype())?;
        let shape = wide(tensor.shape());
        let count = element_count(&array, &shape, limits)?;
        let mut bytes = tensor.data();
        let available = bytes.len() as u64;
        let data = number.read(ByteOrder::Little, &array, count, available, &mut bytes)?;
        Ok(Array::from_checked(&shape, data))
    }
}

/// The places of all arrays of a safetensors file of so many bytes, from its header alone.
pub(crate) fn stored_tensors(
    file: &mut dyn Read,
    file_bytes: u64,
    limits: &Limits,
) -> Result<Vec<StoredArray>, FormatError> {
    let only = ArrayName::only();
    let mut start = [0; 8];
    fill(&only, file, &mut start)?;
    let (length, rest) = (u64::from_le_bytes(start), file_bytes.saturating_sub(8));
    if length > rest {
        return Err(longer_than(length, rest));
    }
    limits.header("the file", length)?;
    let mut text = vec![0; length as usize];
    fill(&only, file, &mut text)?;
    let text = std::str::from_utf8(&text)
        .map_err(|error| refuse(&SafeTensorError::InvalidHeader(error)))?;
    let metadata: Metadata =
        serde_json::from_str(text).map_err(|error| header(ForeignText::of(error)))?;
    let tensors = metadata.tensors();
    limits.arrays(tensors.len() as u64)?;
    let data_bytes = file_bytes - 8 - length;
    if metadata.data_len() as u64 != data_bytes {
        return Err(refuse(&SafeTensorError::MetadataIncompleteBuffer));
    }
    if tensors.is_empty() {
        return Err(FormatError::NoArrays { remedy: "save at least one tensor" });
    }
    let array = |(name, info): (String, &TensorInfo)| {
        let number = number_of(ArrayName::of(&name), info.dtype)?;
        let (first, end) = info.data_offsets;
        let place = (8 + length + first as u64, (end - first) as u64);
        StoredArray::new(&name, wide(&info.shape), place, (number, ByteOrder::Little), limits)
    };
    tensors.into_iter().map(array).collect()
}

/// Reads all arrays of numbers in a safetensors file, sorted by name.
///
/// Arrays of another dtype are skipped; use [`Safetensors`] for the reason why one was.
///
/// ```
/// use dpscope_formats::{Limits, read_safetensors};
///
/// let header = br#"{"score":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
/// let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
/// bytes.extend(header);
/// bytes.extend([0.5_f32, -2.0].iter().flat_map(|value| value.to_le_bytes()));
/// let arrays = read_safetensors(&bytes, &Limits::default())?;
/// println!("{} {:?}", arrays[0].0, arrays[0].1.data()); // score [0.5, -2.0]
/// assert_eq!(arrays[0].1.data(), [0.5, -2.0]);
/// # Ok::<(), dpscope_formats::FormatError>(())
/// ```
///
/// # Errors
///
/// Errors of [`Safetensors::open`] and [`Safetensors::read`], except for refused dtypes. `max_elements`
/// limits all arrays together. A file without any array of numbers is [`FormatError::NoArrays`].
pub fn read_safetensors(
    bytes: &[u8],
    limits: &Limits,
) -> Result<Vec<(String, Array)>, FormatError> {
    let file = Safetensors::open(bytes, limits)?;
    let mut limits = limits.clone();
    let mut arrays = Vec::new();
    for name in &file.names {
        match file.read_within(name, &limits) {
            Ok(array) => {
                limits.max_elements -= array.data().len() as u64;
                arrays.push((name.clone(), array));
            }
            Err(FormatError::Dtype { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    if arrays.is_empty() {
        return Err(FormatError::NoArrays { remedy: "save tensors of floats or integers" });
    }
    Ok(arrays)
}

fn wide(shape: &[usize]) -> Vec<u64> {
    shape.iter().map(|&length| length as u64).collect()
}

fn number(dtype: Dtype) -> Option<Number> {
    match dtype {
        Dtype::F64 => Some(Number::F64),
        Dtype::F32 => Some(Number::F32),
        Dtype::F16 => Some(Number::F16),
        Dtype::BF16 => Some(Number::Bf16),
        Dtype::I64 => Some(Number::I64),
        Dtype::I32 => Some(Number::I32),
        Dtype::I16 => Some(Number::I16),
        Dtype::I8 => Some(Number::I8),
        Dtype::U64 => Some(Number::U64),
        Dtype::U32 => Some(Number::U32),
        Dtype::U16 => Some(Number::U16),
        Dtype::U8 => Some(Number::U8),
        Dtype::BOOL => Some(Number::Bool),
        _ => None,
    }
}

fn number_of(array: ArrayName, dtype: Dtype) -> Result<Number, FormatError> {
    number(dtype).ok_or_else(|| FormatError::Dtype {
        array,
        dtype: dtype.to_string(),
        problem: "is not a real number of 16 bits or more",
        remedy: "convert it before saving, e.g. tensor.to(torch.float32)",
    })
}

fn header(reason: impl std::fmt::Display) -> FormatError {
    FormatError::SafetensorsHeader { reason: reason.to_string() }
}

fn longer_than(length: u64, present: u64) -> FormatError {
    header(format!(
        "it claims {length} bytes, but {present} are present; the file is truncated, or is not \
         safetensors"
    ))
}

/// The crate's errors, in words for a user.
fn refuse(error: &SafeTensorError) -> FormatError {
    match error {
        SafeTensorError::InvalidOffset(name) => header(format!(
            "the offsets of `{}` overlap another tensor or leave a gap",
            ForeignText::new(name)
        )),
        SafeTensorError::TensorInvalidInfo => {
            header("the offsets of a tensor do not span what its shape and dtype need")
        }
        SafeTensorError::MetadataIncompleteBuffer => {
            header("the tensors end before or beyond the file's end")
        }
        SafeTensorError::ValidationOverflow => {
            header("a shape has more elements than a computer can address")
        }
        SafeTensorError::InvalidHeader(_) => header("it is not UTF-8 text"),
        other => header(ForeignText::of(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
    }

    fn tensor(name: &str, dtype: &str, shape: &str, start: u64, end: u64) -> String {
        format!(
            "\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":[{start},{end}]}}"
        )
    }

    fn one(dtype: &str, shape: &str, data: &[u8]) -> Result<Vec<(String, Array)>, FormatError> {
        let header = format!("{{{}}}", tensor("x", dtype, shape, 0, data.len() as u64));
        read_safetensors(&file(&header, data), &Limits::default())
    }

    fn message(bytes: &[u8]) -> String {
        read_safetensors(bytes, &Limits::default()).unwrap_err().to_string()
    }

    #[test]
    fn every_numeric_dtype_is_read() {
        for (dtype, data) in [
            ("F64", &(-2_f64).to_le_bytes()[..]),
            ("F32", &(-2_f32).to_le_bytes()),
            ("F16", &[0x00, 0xc0]),
            ("BF16", &[0x00, 0xc0]),
            ("I64", &(-2_i64).to_le_bytes()),
            ("I32", &(-2_i32).to_le_bytes()),
            ("I16", &(-2_i16).to_le_bytes()),
            ("I8", &(-2_i8).to_le_bytes()),
        ] {
            assert_eq!(one(dtype, "[]", data).unwrap()[0].1.data(), [-2.0], "{dtype}");
        }
        for (dtype, bytes) in [("U64", 8), ("U32", 4), ("U16", 2), ("U8", 1), ("BOOL", 1)] {
            let mut data = vec![0; bytes];
            data[0] = 1;
            assert_eq!(one(dtype, "[1,1]", &data).unwrap()[0].1.data(), [1.0], "{dtype}");
        }
    }

    #[test]
    fn other_dtypes_are_skipped_or_named() {
        let parts = [tensor("c", "C64", "[1]", 0, 8), tensor("x", "F32", "[1]", 8, 12)];
        let bytes = file(&format!("{{{}}}", parts.join(",")), &[0; 12]);
        let read = read_safetensors(&bytes, &Limits::default()).unwrap();
        assert_eq!(read.len(), 1);
        let opened = Safetensors::open(&bytes, &Limits::default()).unwrap();
        assert_eq!(opened.names().collect::<Vec<_>>(), ["c", "x"]);
        let error = opened.read("c").unwrap_err().to_string();
        assert!(error.starts_with("array `c`: dtype C64 is not a real number"), "{error}");
        let described = opened.describe();
        assert_eq!((described[0].readable, described[1].readable), (false, true));
        assert!(message(&file(&format!("{{{}}}", parts[0]), &[0; 8])).contains("no arrays"));
    }

    #[test]
    fn contradictions_are_refused() {
        let pair = |a: (u64, u64), b: (u64, u64)| {
            let parts = [tensor("a", "F32", "[1]", a.0, a.1), tensor("b", "F32", "[1]", b.0, b.1)];
            file(&format!("{{{}}}", parts.join(",")), &[0; 8])
        };
        assert!(read_safetensors(&pair((0, 4), (4, 8)), &Limits::default()).is_ok());
        assert!(message(&pair((0, 4), (2, 6))).contains("overlap"));
        assert!(message(&pair((0, 4), (8, 12))).contains("leave a gap"));
        assert!(message(&pair((0, 4), (4, 7))).contains("do not span"));
        let short = file(&format!("{{{}}}", tensor("a", "F32", "[9]", 0, 36)), &[0; 8]);
        assert!(message(&short).contains("before or beyond the file's end"));
        let huge = "[4294967296,4294967296,4]";
        assert!(one("U8", huge, &[0; 8]).unwrap_err().to_string().contains("can address"));
        assert!(one("U8", "[-1]", &[0; 8]).is_err());
        assert!(one("F32", "[0]", &[]).unwrap_err().to_string().contains("no elements"));
        let same = [tensor("a", "F32", "[1]", 0, 4), tensor("a", "F32", "[1]", 4, 8)];
        assert!(
            read_safetensors(
                &file(&format!("{{{}}}", same.join(",")), &[0; 8]),
                &Limits::default()
            )
            .is_err()
        );
    }

    #[test]
    fn damaged_headers_are_refused() {
        let whole = file(&format!("{{{}}}", tensor("x", "F32", "[1]", 0, 4)), &[0; 4]);
        assert!(read_safetensors(&whole, &Limits::default()).is_ok());
        for end in 0..whole.len() {
            assert!(read_safetensors(&whole[..end], &Limits::default()).is_err(), "cut at {end}");
        }
        let mut claim = whole.clone();
        claim[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(message(&claim).contains("claims 18446744073709551615 bytes"));
        let limits = Limits { max_header_bytes: 8, ..Limits::default() };
        let error = read_safetensors(&whole, &limits).unwrap_err().to_string();
        assert!(error.contains("max_header_bytes"), "{error}");
        assert!(message(&file("{}", &[])).contains("no arrays"));
        assert!(message(&file("{\"x\": 1}", &[])).contains("header is damaged"));
        assert!(message(&file(&"[".repeat(10_000), &[])).contains("header is damaged"));
    }
}

//! Where the arrays of a file are stored, from its headers.

use std::io::{Read, Seek, SeekFrom};

use dpscope_core::foreign_text::ForeignText;
use zip::{CompressionMethod, ZipArchive};

use crate::number::fill;
use crate::safetensors::stored_tensors;
use crate::stored::{StoredArray, array_name, seek};
use crate::{ArrayName, FormatError, Limits, npy};

impl StoredArray {
    /// All arrays of an npy, npz or safetensors file, sorted by name.
    ///
    /// The file is as long as its headers declare. Checksums of npz entries are not compared.
    ///
    /// # Errors
    ///
    /// [`FormatError::NotInParts`] for a compressed npz entry and Fortran order; another format, a dtype
    /// that is not a real number, and those of the format's reader.
    pub fn all_of<F: Read + Seek>(
        file: &mut F,
        file_name: &str,
        limits: &Limits,
    ) -> Result<Vec<Self>, FormatError> {
        let only = ArrayName::only();
        let length = seek(&only, file, SeekFrom::End(0))?;
        limits.length(length)?;
        seek(&only, file, SeekFrom::Start(0))?;
        let mut start = [0; 9];
        let known = fill(&only, file, &mut start)?;
        let start = &start[..known];
        seek(&only, file, SeekFrom::Start(0))?;
        let mut arrays = if start.starts_with(npy::MAGIC) {
            vec![Self::of_npy("", file, length, limits)?]
        } else if start.starts_with(b"PK\x03\x04") {
            Self::of_npz(file, limits)?
        } else if start.ends_with(b"{") && start.len() == 9 {
            stored_tensors(file, length, limits)?
        } else {
            let found = match start {
                [] => "is empty",
                _ => "is not npy, npz or safetensors, or is cut off",
            };
            let file_name = ForeignText::new(file_name);
            let remedy = "save it with np.save, np.savez or safetensors";
            return Err(FormatError::UnknownFormat { file_name, found, remedy });
        };
        arrays.sort_by(|one, other| one.name().cmp(other.name()));
        Ok(arrays)
    }

    /// The npy file from here on, of so many bytes.
    fn of_npy<F: Read + Seek>(
        name: &str,
        file: &mut F,
        length: u64,
        limits: &Limits,
    ) -> Result<Self, FormatError> {
        let array = array_name(name);
        let first = seek(&array, file, SeekFrom::Current(0))?;
        let header = npy::read_header(&array, &mut file.take(length), limits)?;
        let kind = header.number(&array)?;
        if header.fortran_order && header.shape.iter().filter(|&&axis| axis > 1).count() > 1 {
            let (storage, remedy) = ("in Fortran order", "save np.ascontiguousarray(x)");
            return Err(FormatError::NotInParts { array, storage, remedy });
        }
        let place = (first + header.bytes, length.saturating_sub(header.bytes));
        Self::new(name, header.shape, place, kind, limits)
    }

    fn of_npz<F: Read + Seek>(file: &mut F, limits: &Limits) -> Result<Vec<Self>, FormatError> {
        let unreadable = |error: zip::result::ZipError| FormatError::Npz {
            reason: ForeignText::of(error).to_string(),
        };
        let mut places = Vec::new();
        let mut archive = ZipArchive::new(&mut *file).map_err(unreadable)?;
        limits.arrays(archive.len() as u64)?;
        if archive.has_duplicate_names() {
            let reason = "two entries have the same name".to_owned();
            return Err(FormatError::Npz { reason });
        }
        for index in 0..archive.len() {
            let entry = archive.by_index_raw(index).map_err(unreadable)?;
            let Some(name) =
                entry.name().ok().and_then(|name| name.strip_suffix(".npy").map(str::to_owned))
            else {
                continue;
            };
            let array = ArrayName::of(&name);
            let problem = |problem| FormatError::NpzEntry { array: array.clone(), problem };
            if entry.encrypted() {
                return Err(problem("the entry is encrypted"));
            }
            if entry.compression() != CompressionMethod::Stored {
                let (storage, remedy) = ("compressed", "save it with np.savez");
                return Err(FormatError::NotInParts { array, storage, remedy });
            }
            let Some(offset) = entry.data_start() else {
                return Err(problem("the entry has no data; save it again"));
            };
            places.push((name, offset, entry.size()));
        }
        drop(archive);
        if places.is_empty() {
            return Err(FormatError::NoArrays { remedy: "save them with np.savez" });
        }
        let array = |(name, offset, length): (String, u64, u64)| {
            seek(&ArrayName::of(&name), file, SeekFrom::Start(offset))?;
            Self::of_npy(&name, file, length, limits)
        };
        places.into_iter().map(array).collect()
    }
}

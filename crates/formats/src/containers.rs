//! Files of several named arrays.

use crate::array::ArrayInfo;
use crate::format::Format;
use crate::{Array, FormatError, Limits, Npz, Safetensors};

/// A file whose arrays are read on request.
#[derive(Debug)]
pub(crate) enum Container<'a> {
    Npz(Npz<'a>),
    Safetensors(Safetensors<'a>),
}

impl<'a> Container<'a> {
    pub(crate) fn npz(bytes: &'a [u8], limits: &Limits) -> Result<Self, FormatError> {
        Npz::open(bytes, limits).map(Container::Npz)
    }

    pub(crate) fn safetensors(bytes: &'a [u8], limits: &Limits) -> Result<Self, FormatError> {
        Safetensors::open(bytes, limits).map(Container::Safetensors)
    }

    pub(crate) fn format(&self) -> Format {
        match self {
            Container::Npz(_) => Format::Npz,
            Container::Safetensors(_) => Format::Safetensors,
        }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        match self {
            Container::Npz(npz) => npz.names().collect(),
            Container::Safetensors(file) => file.names().collect(),
        }
    }

    pub(crate) fn describe(&self) -> Result<Vec<ArrayInfo>, FormatError> {
        match self {
            Container::Npz(npz) => npz.describe(),
            Container::Safetensors(file) => Ok(file.describe()),
        }
    }

    pub(crate) fn read(&self, name: &str) -> Result<Array, FormatError> {
        match self {
            Container::Npz(npz) => npz.read(name),
            Container::Safetensors(file) => file.read(name),
        }
    }
}

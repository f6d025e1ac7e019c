//! Bytes to arrays, with limits on everything.
//!
//! Reads what users record and save: NumPy's npy and npz, csv and other delimited text, and
//! safetensors; and what data sets are published as: IDX, CIFAR-10's binary records, gzip around
//! any of them. There are no files here, only byte slices, so that the browser uses the same code.
//!
//! - Images become bytes ([`ByteArray`]). Every other numeric dtype becomes `f64` in C order; a dtype
//!   that is not a number is refused, with the line of Python that converts the array.
//! - Sizes in a header are checked against the available bytes before memory is allocated.
//! - Coins of canaries are drawn from a secret seed that is committed before training ([`CoinSeed`]).
//! - Rows of typed columns are read with a schema of public bounds and categories ([`table`]).
//! - Records of other accountants are read into phases (`accountants`).
//! - NaN and infinities are preserved: see [`Array::non_finite`].
//!
//! ```
//! use dpscope_formats::{Array, Dataset, Limits, write_npz};
//!
//! let target = Array::new(vec![2, 3], vec![0.5, 1.5, 2.5, 3.5, 4.5, f64::NAN])?;
//! let bytes = write_npz(&[("target", &target)])?;
//!
//! let dataset = Dataset::open(&bytes, "outputs.npz", &Limits::default())?;
//! let read = dataset.array("target")?;
//! assert_eq!(read.shape(), [2, 3]);
//! assert_eq!(read.non_finite().unwrap().index, [1, 2]);
//! println!("{:?} {}", dataset.names(), read.data()[1]); // ["target"] 1.5
//! # Ok::<(), dpscope_formats::FormatError>(())
//! ```

#[cfg(feature = "accountants")]
pub mod accountants;
mod array;
#[cfg(feature = "data-sets")]
mod cifar10;
#[cfg(feature = "coins")]
mod coins;
mod containers;
mod csv;
mod dataset;
mod error;
mod format;
#[cfg(feature = "data-sets")]
mod gzip;
#[cfg(feature = "data-sets")]
mod idx;
#[cfg(feature = "data-sets")]
mod idx_header;
mod limits;
mod npy;
mod npz;
mod number;
mod places;
mod safetensors;
mod shape;
mod stored;
#[cfg(feature = "tables")]
pub mod table;

pub use array::{Array, ArrayInfo, NonFinite};
#[cfg(feature = "data-sets")]
pub use cifar10::{Cifar10, read_cifar10};
#[cfg(feature = "coins")]
pub use coins::{CanariesDigest, CoinSeed, write_coins, write_copies, write_secrets};
pub use csv::{CsvTable, MissingValues, read_csv, read_csv_as};
pub use dataset::{Dataset, sniff};
pub use error::{ArrayName, FormatError};
pub use format::Format;
#[cfg(feature = "data-sets")]
pub use gzip::{is_gzip, unpack_gzip};
#[cfg(feature = "data-sets")]
pub use idx::{ByteArray, is_idx, read_idx};
pub use limits::Limits;
pub use npy::{read_npy, write_npy};
pub use npz::{Npz, NpzWriter, read_npz, write_npz};
pub use safetensors::{Safetensors, read_safetensors};
pub use stored::StoredArray;

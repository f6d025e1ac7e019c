//! Training data: built-in synthetic data sets and the user's own files.
//!
//! `DATA.md` of this package lists the sources of the published data sets and how to pass them.
//!
//! ```
//! use dpscope_train::data::SyntheticData;
//!
//! let set = SyntheticData::FmnistLike.generate(10, 4)?;
//! let (mut pixels, mut labels) = (Vec::new(), Vec::new());
//! set.fill(&[0, 9], &mut pixels, &mut labels);
//! assert_eq!((pixels.len(), labels.len()), (2 * 28 * 28, 2));
//! println!("{} {} {}", set.name(), set.len(), set.classes()); // fmnist-like 10 2
//! # Ok::<(), dpscope_train::data::DataError>(())
//! ```

mod draws;
mod error;
mod examples;
mod load;
mod synthetic;

pub use error::DataError;
pub use examples::{Examples, Packed};
pub use load::{LoadOptions, LoadSummary, Source, load};
pub use synthetic::SyntheticData;

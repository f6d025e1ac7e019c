//! What theory says of a training: the rows that a report or a page sets side by side.
//!
//! The accountants are those of [`accounting`](crate::accounting); here each is asked in the way that
//! a reader wants it, with the finest grid that it can afford.

mod accounted;
mod cell;
mod setting;

pub use accounted::{Accounted, Kind, ToAccounted};
pub use cell::{Cell, reason};
pub use setting::{At, Found, Setting, ShuffleMethod};

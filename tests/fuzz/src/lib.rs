//! What the fuzz targets call: one module a package under test, one function a target.
//!
//! The package's own tests replay `corpus/TARGET/` through the same functions on the stable
//! toolchain, so a module here uses nothing but what that package has.

pub mod engine;
pub mod formats;

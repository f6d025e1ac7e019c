//! DP-SGD on many small models at once, with an attacker's canary in place.

pub mod data;
pub mod model;

//! Random words, normals, likelihood-ratio scores and draws of the exact pair: the CPU twins of the
//! WGSL kernels, and the production backend wherever there is no GPU.
//!
//! Each kernel processes 64 observations at a time, one per lane. Random words, normals and scores
//! are f32 and u32 operations in one fixed order, without fused multiply-add, so that every
//! instruction set (and WebAssembly) computes the same bits; see [`lanes`].

pub mod bgm;
pub mod directions;
mod error;
mod float;
pub mod lanes;
pub mod pair;
pub mod random;
pub mod train;
mod wgsl;

pub use bgm::{Phase, ScoreKernel};
pub use error::{Cancelled, KernelError};
pub use float::FloatMode;
pub use lanes::{InstructionSet, LANES, instruction_set};
pub use pair::PairKernel;

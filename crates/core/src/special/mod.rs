//! Special functions that stay accurate in the far tail and at huge counts.
//!
//! One module per distribution: [`normal`], [`gamma`], [`binomial`], [`BetaDistribution`]. Tails
//! are computed directly, never as one minus the other, and quantiles are [`UnitPoint`]s, which
//! store x and 1 − x, each to full relative accuracy.

pub(crate) mod arrival;
mod beta;
mod beta_quantile;
mod beta_tail;
pub mod binomial;
pub(crate) mod chi_square;
mod error;
pub mod gamma;
pub mod normal;
pub(crate) mod quadrature;
pub mod unit_point;

pub use beta::BetaDistribution;
pub(crate) use beta::Tail;
pub(crate) use beta_quantile::lower_quantiles;
pub use binomial::ln_binomial_pmf;
pub use error::SpecialError;
pub use gamma::{ln_gamma, stirling_error};
pub use normal::{
    normal_cdf, normal_ln_cdf, normal_ln_pdf, normal_pdf, normal_quantile, normal_quantile_from_ln,
    normal_survival,
};
pub use unit_point::UnitPoint;

//! Does a bound hold, and is it tight? Always both, and each check is fed a broken twin that it
//! must reject.
//!
//! What can be had by exact enumeration over binomial counts is not drawn; the rest draws from fixed
//! seeds, within the budget of [`budget::FALSE_ALARM`].

mod anytime;
mod bounds;
mod budget;
mod curves;
mod enumeration;
mod gaussian;
mod intervals;
mod mistakes;
mod one_run;
mod one_shot;
mod one_shot_detectors;
mod outputs;
mod pairs;
mod planning;
mod pure_dp;
mod saturation;
mod secrets;
mod small_audits;
mod split;
mod stopping;
mod tightness;
mod truncated_poisson;

/// The significance of every bound here, as in the reports.
const SIGNIFICANCE: f64 = 0.05;

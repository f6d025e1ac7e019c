//! Simulated audits, from the random words to the bound.

mod curves;
mod engine;
mod identities;
mod slots;
mod truth;

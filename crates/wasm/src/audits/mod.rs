//! Simulations and audits of files.

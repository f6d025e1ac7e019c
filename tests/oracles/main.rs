//! Right numbers? Values at many digits or by another method, with their source in `data/SOURCE.md`.

#[cfg(test)]
mod accounting;
mod bayesian;
mod clopper_pearson;
mod counts;
mod gdp;
mod jeffreys;
#[cfg(test)]
mod shuffle_theory;
mod target_slots;

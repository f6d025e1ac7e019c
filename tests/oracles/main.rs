//! Right numbers? Values at many digits or by another method, with their source in `data/SOURCE.md`.

#[cfg(test)]
mod accounting;
mod bayesian;
mod clopper_pearson;
#[cfg(test)]
mod fixed_size;
mod gdp;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod gradients;
mod jeffreys;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod metagradient;
#[cfg(test)]
mod metrics;
mod one_run;
mod one_shot;
#[cfg(test)]
mod pair_epochs;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod phases;
#[cfg(test)]
mod quadrature;
#[cfg(test)]
mod random_allocation;
#[cfg(test)]
mod ranking;
#[cfg(test)]
mod recorded_outputs;
#[cfg(test)]
mod replacement;
mod shuffle_theory;
#[cfg(test)]
mod target_slots;
#[cfg(test)]
mod training_check;
#[cfg(test)]
mod truncated_poisson;
#[cfg(test)]
mod without_coins;

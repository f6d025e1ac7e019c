//! Do two routes to the same number agree?

#[cfg(test)]
mod accounting;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod calibration;
#[cfg(test)]
mod curves;
#[cfg(test)]
mod independence;
#[cfg(test)]
mod pair;
#[cfg(test)]
mod samplers;
#[cfg(test)]
mod scores;

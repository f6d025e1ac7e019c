//! The seed of a run and its source.

use dpscope_core::random::content_seed;
use dpscope_report::record::SeedSource;

use crate::failure::{Exit, Failure};

/// The seed of `--seed`, or one derived from the recorded values, so that an audit of the same files
/// always has the same result.
pub(crate) fn seed_or_content(requested: Option<u64>, worlds: [&[f64]; 2]) -> (u64, SeedSource) {
    match requested {
        Some(seed) => (seed, SeedSource::Given),
        None => (content_seed(worlds), SeedSource::Content),
    }
}

/// The seed of `--seed`, or fresh entropy below 2⁵³.
pub(crate) fn seed_or_fresh(requested: Option<u64>) -> Result<(u64, SeedSource), Failure> {
    if let Some(seed) = requested {
        return Ok((seed, SeedSource::Given));
    }
    let fresh = getrandom::u64().map_err(|error| {
        Failure::with(Exit::Internal, format!("no entropy from the system ({error}); pass --seed"))
    })?;
    Ok((fresh >> 11, SeedSource::Entropy))
}

//! Where the seed of a run comes from.

use dpscope_report::record::SeedSource;

use crate::failure::{Exit, Failure};

/// The seed that was given, or fresh entropy below 2⁵³.
pub(crate) fn seed_or_fresh(given: Option<u64>) -> Result<(u64, SeedSource), Failure> {
    if let Some(seed) = given {
        return Ok((seed, SeedSource::Given));
    }
    let fresh = getrandom::u64().map_err(|error| {
        Failure::with(Exit::Internal, format!("no entropy from the system ({error}); give --seed"))
    })?;
    Ok((fresh >> 11, SeedSource::Entropy))
}

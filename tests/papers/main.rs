//! Are published tables reproduced?

#[cfg(test)]
mod shuffle_or_not;

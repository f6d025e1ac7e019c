//! Errors of the mechanism's parameters.

/// A parameter outside its domain, or a combination that is not defined.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MechanismError {}

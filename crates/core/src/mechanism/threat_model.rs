//! Threat models: what the attacker controls.

use std::{fmt, str::FromStr};

/// What the attacker controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ThreatModel {
    /// Every record's gradient: the batched Gaussian mechanism on (+1, −1, …, −1).
    WorstCase,
    /// One record of every batch.
    PartiallyInformed,
    /// The target record alone.
    TargetCanary,
}

impl ThreatModel {
    /// Every threat model, the strongest attacker first.
    pub const ALL: [ThreatModel; 3] =
        [ThreatModel::WorstCase, ThreatModel::PartiallyInformed, ThreatModel::TargetCanary];

    /// The name in commands, files and links.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ThreatModel::WorstCase => "worst-case",
            ThreatModel::PartiallyInformed => "partially-informed",
            ThreatModel::TargetCanary => "target-canary",
        }
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for ThreatModel {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(self.name().into())
    }
}

impl fmt::Display for ThreatModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ThreatModel {
    type Err = UnknownThreatModel;

    fn from_str(name: &str) -> Result<Self, UnknownThreatModel> {
        ThreatModel::ALL
            .into_iter()
            .find(|model| model.name() == name)
            .ok_or_else(|| UnknownThreatModel { name: name.to_owned() })
    }
}

/// A name that is no threat model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "threat_model = {name:?} is unknown; use one of {}",
    ThreatModel::ALL.map(ThreatModel::name).join(", ")
)]
pub struct UnknownThreatModel {
    /// The name.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for model in ThreatModel::ALL {
            assert_eq!(model.to_string().parse(), Ok(model));
        }
    }

    #[test]
    fn unknown_name_lists_the_known_ones() {
        let error = "worst_case".parse::<ThreatModel>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "threat_model = \"worst_case\" is unknown; use one of worst-case, \
             partially-informed, target-canary"
        );
    }

    #[test]
    fn padding_is_honoured() {
        assert_eq!(format!("{:>12}", ThreatModel::WorstCase), "  worst-case");
    }
}

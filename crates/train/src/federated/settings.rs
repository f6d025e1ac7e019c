//! Settings of a federated training, and its description as JSON.

use dpscope_core::foreign_text::{ForeignText, is_plain};
use serde::{Deserialize, Serialize};

use super::clipping::UpdateClipping;
use super::noise::{MAX_BANDS, NoiseMechanism, NoiseStrategy};
use super::rounds::Participation;
use crate::data::Examples;
use crate::description::DataDescription;
use crate::{ModelSpec, TrainError};

/// Maximum length of a description.
const MAX_BYTES: usize = 1 << 16;

const SCHEMA: &str = "dpscope.federated-training/1";

/// Hyperparameters of DP-FedAvg.
///
/// A round: every participant trains from the parameters θ of the server; its update u = θ_local − θ is
/// clipped, u·min(1, C/‖u‖). The server adds noise of standard deviation σC to the sum of updates, by a
/// [`NoiseMechanism`], divides by the expected number n of participants, and takes the result ρ as
/// v ← βv + ρ, θ ← θ + ηv.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FederatedSettings {
    /// Number of clients, canaries excluded; at least 1.
    pub clients: u32,
    /// Records of a client; at least 1. The most of one client if they are read from a column.
    pub records_per_client: u32,
    /// α of the Dirichlet distribution of labels, in [0.01, 10⁶]; none for a uniform division.
    pub concentration: Option<f64>,
    /// Server rounds T, 1 to 10⁵.
    pub rounds: u32,
    /// Who takes part in which round.
    pub participation: Participation,
    /// Rounds of each canary, 1 to T, evenly spread; none if canaries are drawn as clients are.
    pub presentations: Option<u32>,
    /// Passes of a participant over its records, 1 to 10³.
    pub local_epochs: u32,
    /// Records of a local batch, at least 1.
    pub local_batch_size: u32,
    /// Learning rate of participants, in [0, 10⁶].
    pub local_learning_rate: f64,
    /// Norm of updates.
    pub clipping: UpdateClipping,
    /// Noise multiplier σ, in [0, 10⁶].
    pub noise_multiplier: f64,
    /// How the noises of the rounds depend on each other.
    #[serde(default, skip_serializing_if = "NoiseMechanism::is_independent")]
    pub noise_mechanism: NoiseMechanism,
    /// Learning rate η of the server, in (0, 10⁶].
    pub server_learning_rate: f64,
    /// Momentum β of the server, in [0, 1).
    pub server_momentum: f64,
    /// Whether the updates are scored, which stores all of them, and not only the final model.
    pub sees_updates: bool,
}

impl FederatedSettings {
    pub(super) fn check(&self) -> Result<(), TrainError> {
        let check = |name, value, is_inside, domain| {
            if is_inside { Ok(()) } else { Err(TrainError::Domain { name, value, domain }) }
        };
        let count = |name, value: u32, most, domain| {
            check(name, value.into(), (1..=most).contains(&value), domain)
        };
        count("clients", self.clients, 1 << 24, "from 1 to 2^24")?;
        count("records_per_client", self.records_per_client, 1 << 24, "from 1 to 2^24")?;
        count("rounds", self.rounds, 100_000, "from 1 to 10^5")?;
        count("local_epochs", self.local_epochs, 1_000, "from 1 to 1000")?;
        count("local_batch_size", self.local_batch_size, u32::MAX, "at least 1")?;
        if let Some(alpha) = self.concentration {
            let is_inside = (0.01..=1e6).contains(&alpha);
            check("concentration", alpha, is_inside, "in [0.01, 1e6]")?;
        }
        let is_rate = |rate| (0.0..=1e6).contains(&rate);
        let rate = self.local_learning_rate;
        check("local_learning_rate", rate, is_rate(rate), "in [0, 1e6]")?;
        let rate = self.server_learning_rate;
        check("server_learning_rate", rate, is_rate(rate) && rate > 0.0, "in (0, 1e6]")?;
        let sigma = self.noise_multiplier;
        check("noise_multiplier", sigma, is_rate(sigma), "in [0, 1e6]")?;
        let momentum = self.server_momentum;
        check("server_momentum", momentum, (0.0..1.0).contains(&momentum), "in [0, 1)")?;
        if let Some(presentations) = self.presentations {
            let name = "presentations";
            count(name, presentations, self.rounds, "from 1 to the number of rounds")?;
        }
        let norm = self.clipping.initial();
        check("clip_norm", norm, (1e-6..=1e6).contains(&norm), "in [1e-6, 1e6]")?;
        if let UpdateClipping::Adaptive { quantile, learning_rate, .. } = self.clipping {
            check("clip_quantile", quantile, quantile > 0.0 && quantile < 1.0, "in (0, 1)")?;
            let is_inside = learning_rate > 0.0 && learning_rate <= 10.0;
            check("clip_learning_rate", learning_rate, is_inside, "in (0, 10]")?;
        }
        if let NoiseMechanism::Banded { bands } = self.noise_mechanism {
            let is_inside = (1..=self.rounds.min(MAX_BANDS)).contains(&bands);
            check("bands", bands.into(), is_inside, "from 1 to the number of rounds and to 1024")?;
        }
        match self.participation {
            Participation::Shuffled { epochs } | Participation::MinSeparation { epochs } => {
                let is_divisor = epochs >= 1 && self.rounds.is_multiple_of(epochs);
                check("epochs", epochs.into(), is_divisor, "a divisor of the number of rounds")
            }
            Participation::Poisson { rate } => {
                check("sampling_rate", rate, rate > 0.0 && rate <= 1.0, "in (0, 1]")
            }
            Participation::FixedSize { cohort } => {
                let is_inside = (1..=self.clients).contains(&cohort);
                check("cohort", cohort.into(), is_inside, "from 1 to the number of clients")
            }
        }
    }

    /// The most rounds that a participant of either kind takes part in.
    #[must_use]
    pub fn most_rounds(&self) -> u32 {
        let of_clients = self.participation.most(self.rounds);
        self.presentations.map_or(of_clients, |presentations| presentations.max(of_clients))
    }

    /// The most that one participant of either kind changes Sx: max ‖S·1_R‖ over its possible rounds R,
    /// with the matrix S of [`NoiseMechanism`]; √E for E rounds with independent noise.
    ///
    /// All releases together are μ-GDP with μ equal to it over σ, if the rounds of the others do not depend
    /// on the participant.
    #[must_use]
    pub fn l2_sensitivity(&self) -> f64 {
        NoiseStrategy::new(self.noise_mechanism, self.rounds)
            .l2_sensitivity(self.participation, self.presentations)
    }

    /// Expected clients of a round without canaries.
    #[must_use]
    pub fn expected_clients(&self) -> f64 {
        self.participation.cohort(self.rounds, f64::from(self.clients))
    }

    /// Expected clients of a round, and expected participants, with `canaries` expected canaries.
    pub(super) fn cohorts(&self, canaries: f64) -> (f64, f64) {
        let (rounds, clients) = (self.rounds, f64::from(self.clients));
        let all = self.participation.cohort(rounds, clients + canaries);
        let own = all * clients / (clients + canaries);
        match self.presentations {
            None => (own, all),
            Some(presentations) => {
                let own = self.participation.cohort(rounds, clients);
                (own, own + canaries * f64::from(presentations) / f64::from(rounds))
            }
        }
    }
}

/// Model, data and settings of a federated training, as saved in a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FederatedDescription {
    schema: String,
    /// The model.
    pub model: ModelSpec,
    /// The data set; `records` is the number of records of all clients.
    pub data: DataDescription,
    /// The column of the data with the client of each record; none if records are divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_column: Option<String>,
    /// The settings.
    pub settings: FederatedSettings,
}

impl FederatedDescription {
    pub(super) fn new(
        model: &ModelSpec,
        data: &Examples,
        clients: &[Vec<u32>],
        settings: FederatedSettings,
    ) -> Self {
        let client_column = data.client_column().map(str::to_owned);
        let data = DataDescription {
            name: data.name().to_owned(),
            digest: data.digest().to_owned(),
            records: clients.iter().map(|records| records.len() as u32).sum(),
            held_out: data.held_out().map_or(0, Examples::len),
        };
        let (schema, model) = (SCHEMA.to_owned(), model.clone());
        FederatedDescription { schema, model, data, client_column, settings }
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether its names are safe to print.
    pub(super) fn is_printable(&self) -> bool {
        let column = self.client_column.as_deref().unwrap_or_default();
        self.data.name.chars().chain(column.chars()).all(is_plain)
    }

    /// Parses the output of [`FederatedTraining::description`](super::FederatedTraining::description).
    ///
    /// # Errors
    /// Invalid JSON, missing or unknown fields, another schema.
    pub fn from_json(text: &str) -> Result<Self, TrainError> {
        let invalid = |reason: String| TrainError::Description { reason };
        if text.len() > MAX_BYTES {
            return Err(invalid(format!("it has more than {MAX_BYTES} bytes")));
        }
        let description: FederatedDescription = serde_json::from_str(text)
            .map_err(|error| invalid(ForeignText::of(error).to_string()))?;
        if description.schema != SCHEMA {
            return Err(invalid(format!("the schema is not {SCHEMA}")));
        }
        Ok(description)
    }
}

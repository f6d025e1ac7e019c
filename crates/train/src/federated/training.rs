//! The definition of a federated training.

use super::noise::NoiseMechanism;
use super::partition::partition;
use super::settings::{FederatedDescription, FederatedSettings};
use crate::TrainError;
use crate::data::Examples;
use crate::model::{ModelSpec, Network};
use crate::training::{check_compatible, initial};

/// Most bytes of the stored updates of one training.
const MAX_UPDATE_BYTES: u64 = 1 << 30;

/// A network, the records of each client and settings, checked to be compatible.
#[derive(Debug)]
pub struct FederatedTraining {
    pub(super) network: Network,
    pub(super) examples: Examples,
    /// The records of each client.
    pub(super) clients: Vec<Vec<u32>>,
    pub(super) settings: FederatedSettings,
    pub(super) seed: u64,
    pub(super) initial: Vec<f32>,
    description: String,
}

impl FederatedTraining {
    /// Checks that the parts are compatible, and divides the records among the clients.
    ///
    /// If the examples have [`clients`](Examples::clients), these have their own records, whatever the
    /// settings say about clients.
    ///
    /// # Errors
    /// Data whose shape differs from the model's input or that have more classes than the model has
    /// outputs; too few records; updates of more than 1 GiB if they are scored; a number outside its
    /// domain.
    pub fn new(
        spec: &ModelSpec,
        examples: Examples,
        settings: FederatedSettings,
        seed: u64,
    ) -> Result<Self, TrainError> {
        let network = Network::new(spec)?;
        let of_column = examples.clients().map(records_by_client);
        let settings = match &of_column {
            None => settings,
            Some(clients) => FederatedSettings {
                clients: clients.len() as u32,
                records_per_client: clients.iter().map(Vec::len).max().unwrap_or(0) as u32,
                concentration: None,
                ..settings
            },
        };
        settings.check()?;
        check_compatible(&network, spec, &examples)?;
        let FederatedSettings { clients, records_per_client, concentration, rounds, .. } = settings;
        let needed = u64::from(clients) * u64::from(records_per_client);
        let records = examples.len();
        if of_column.is_none() && needed > records as u64 {
            let data = examples.name().to_owned();
            return Err(TrainError::TooFewClientRecords {
                data,
                records,
                clients,
                records_per_client,
            });
        }
        let bytes = 4 * u64::from(rounds) * network.parameters() as u64;
        if settings.sees_updates && bytes > MAX_UPDATE_BYTES {
            let parameters = network.parameters();
            return Err(TrainError::TooManyUpdates { rounds, parameters });
        }
        if let NoiseMechanism::Banded { bands } = settings.noise_mechanism
            && 4 * u64::from(bands) * network.parameters() as u64 > MAX_UPDATE_BYTES
        {
            let domain = "few enough that as many updates take at most 1 GiB";
            return Err(TrainError::Domain { name: "bands", value: bands.into(), domain });
        }
        let clients = of_column.unwrap_or_else(|| {
            partition(&examples, (clients, records_per_client), concentration, seed)
        });
        let initial = initial(&network, seed);
        let description = FederatedDescription::new(spec, &examples, &clients, settings).to_json();
        Ok(Self { network, examples, clients, settings, seed, initial, description })
    }

    /// Everything that determines the runs except the plan, as JSON.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The records of all clients.
    #[must_use]
    pub fn examples(&self) -> &Examples {
        &self.examples
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &FederatedSettings {
        &self.settings
    }

    /// Parameters θ₀ of all runs.
    #[must_use]
    pub fn initial(&self) -> &[f32] {
        &self.initial
    }

    /// Number of parameters of the model, d.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.network.parameters()
    }

    /// The participants of each server round of a unit with `slots` canaries or slots for them: clients,
    /// then canaries.
    #[must_use]
    pub fn rounds(&self, unit: u64, slots: u64) -> Vec<Vec<u32>> {
        let FederatedSettings { clients, rounds, participation, presentations, .. } = self.settings;
        let sizes = (clients, clients + slots as u32);
        participation.rounds((self.seed, unit), rounds, sizes, presentations)
    }

    /// The records of each client.
    #[must_use]
    pub fn clients(&self) -> &[Vec<u32>] {
        &self.clients
    }
}

/// The records of each client, from the client of each record.
fn records_by_client(clients: &[u32]) -> Vec<Vec<u32>> {
    let count = clients.iter().max().map_or(0, |&last| last as usize + 1);
    let mut records = vec![Vec::new(); count];
    for (record, &client) in (0..).zip(clients) {
        records[client as usize].push(record);
    }
    records
}

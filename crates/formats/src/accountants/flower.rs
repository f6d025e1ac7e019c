//! Settings of Flower's differential privacy (1.42): server-side and client-side clipping.

use dpscope_core::foreign_text::ForeignText;

use super::node::{At, Node};
use super::record::AccountantRecordError;

/// How updates are clipped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FlowerClipping {
    /// To a norm that does not change.
    Fixed {
        /// The norm.
        norm: f64,
    },
    /// To a norm that follows a quantile of the clients' norms.
    Adaptive {
        /// Standard deviation of the noise on the number of clipped clients.
        count_std: f64,
    },
}

/// The settings of a strategy with central differential privacy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowerPrivacy {
    /// σ of a round, that of the count of clipped clients included.
    pub noise_multiplier: f64,
    /// How updates are clipped.
    pub clipping: FlowerClipping,
    /// Clients per round.
    pub sampled_clients: u64,
    /// All clients, if the file names them.
    pub clients: Option<u64>,
    /// Rounds, if the file names them.
    pub rounds: Option<u64>,
}

const NOISE: &str = "noise_multiplier";
const SAMPLED: &str = "num_sampled_clients";
const NORM: &str = "clipping_norm";
const COUNT_STD: &str = "clipped_count_stddev";
const ADAPTIVE: [&str; 4] =
    ["initial_clipping_norm", "target_clipped_quantile", "clip_norm_lr", COUNT_STD];
const CLIENTS: [&str; 2] = ["num_clients", "num_supernodes"];
const ROUNDS: [&str; 2] = ["num_server_rounds", "num_rounds"];

/// Strategies, and whether they adapt the norm.
const STRATEGIES: [(&str, bool); 4] = [
    ("DifferentialPrivacyServerSideFixedClipping", false),
    ("DifferentialPrivacyServerSideAdaptiveClipping", true),
    ("DifferentialPrivacyClientSideFixedClipping", false),
    ("DifferentialPrivacyClientSideAdaptiveClipping", true),
];

/// Keys and values of a table.
type Fields = [(String, Node)];

/// The table with the settings, and whether it has nothing else: the file's own, or that of an app
/// in a pyproject.toml, which has settings of the user beside them.
pub(super) fn table(fields: &Fields) -> Option<(&Fields, At, bool)> {
    let mut inner = Some((fields, At::root()));
    for name in ["tool", "flwr", "app", "config"] {
        inner = inner.and_then(|(fields, at)| {
            let (_, node) = fields.iter().find(|(key, _)| key == name)?;
            let at = at.field(name);
            Some((node.record(&at).ok()?, at))
        });
    }
    if let Some((fields, at)) = inner {
        return Some((fields, at, false));
    }
    let is_known = |(key, _): &(String, Node)| [NOISE, SAMPLED].contains(&written(key).as_str());
    fields.iter().any(is_known).then(|| (fields, At::root(), true))
}

/// Keys of TOML have hyphens, those of Python underscores.
fn written(key: &str) -> String {
    key.replace('-', "_")
}

struct Settings<'n> {
    fields: Vec<(String, &'n Node, At)>,
}

impl<'n> Settings<'n> {
    fn find(&self, names: &[&str]) -> Option<(&'n Node, &At)> {
        let found = self.fields.iter().find(|(key, _, _)| names.contains(&key.as_str()));
        found.map(|(_, node, at)| (*node, at))
    }

    fn positive(&self, name: &str) -> Result<Option<f64>, AccountantRecordError> {
        self.find(&[name]).map(|(node, at)| node.positive(at)).transpose()
    }

    fn count(&self, names: &[&str]) -> Result<Option<u64>, AccountantRecordError> {
        let Some((node, at)) = self.find(names) else { return Ok(None) };
        match node.whole(at)? {
            0 => Err(at.error("is 0; it must be at least 1")),
            count => Ok(Some(count)),
        }
    }
}

pub(super) fn read(
    fields: &[(String, Node)],
    at: &At,
    is_own_file: bool,
) -> Result<FlowerPrivacy, AccountantRecordError> {
    let known = [&["strategy", NOISE, SAMPLED, NORM][..], &ADAPTIVE, &CLIENTS, &ROUNDS].concat();
    let mut settings = Settings { fields: Vec::new() };
    for (key, node) in fields {
        let (name, place) = (written(key), at.field(key));
        if known.contains(&name.as_str()) {
            if settings.fields.iter().any(|(before, _, _)| *before == name) {
                return Err(place.error("it is there with a hyphen and with an underscore"));
            }
            settings.fields.push((name, node, place));
        } else if is_own_file {
            return Err(place.error(format!("unknown setting; known: {}", known.join(", "))));
        }
    }
    let missing = |name: &str| at.error(format!("`{name}` is missing"));
    let noise_multiplier = settings.positive(NOISE)?.ok_or_else(|| missing(NOISE))?;
    let sampled_clients = settings.count(&[SAMPLED])?.ok_or_else(|| missing(SAMPLED))?;
    let clients = settings.count(&CLIENTS)?;
    if let Some(clients) = clients.filter(|&clients| clients < sampled_clients) {
        return Err(at.error(format!(
            "{SAMPLED} is {sampled_clients}, more than the {clients} clients in all"
        )));
    }
    Ok(FlowerPrivacy {
        noise_multiplier,
        clipping: clipping(&settings, at, noise_multiplier, sampled_clients)?,
        sampled_clients,
        clients,
        rounds: settings.count(&ROUNDS)?,
    })
}

fn clipping(
    settings: &Settings<'_>,
    at: &At,
    noise_multiplier: f64,
    sampled_clients: u64,
) -> Result<FlowerClipping, AccountantRecordError> {
    let norm = settings.positive(NORM)?;
    let adaptive = ADAPTIVE.into_iter().find_map(|name| settings.find(&[name]));
    let named = match settings.find(&["strategy"]) {
        None => None,
        Some((node, place)) => {
            let name = node.text(place)?;
            let last = name.rsplit('.').next().unwrap_or_default();
            let known = STRATEGIES.iter().find(|(strategy, _)| *strategy == last);
            let Some((_, is_adaptive)) = known else {
                let names = STRATEGIES.map(|(name, _)| name).join(", ");
                let name = ForeignText::new(name);
                return Err(place.error(format!("unknown strategy `{name}`; known: {names}")));
            };
            Some(*is_adaptive)
        }
    };
    let is_adaptive = named.unwrap_or(adaptive.is_some() || norm.is_none());
    if !is_adaptive {
        if let Some((_, place)) = adaptive {
            return Err(place.error("it has no effect with a fixed clipping norm; leave it out"));
        }
        let norm = norm.ok_or_else(|| at.error(format!("`{NORM}` is missing")))?;
        return Ok(FlowerClipping::Fixed { norm });
    }
    if norm.is_some() {
        return Err(
            at.error(format!("`{NORM}` has no effect with adaptive clipping; leave it out"))
        );
    }
    for name in &ADAPTIVE[..3] {
        settings.positive(name)?;
    }
    if adaptive.is_none() && named.is_none() {
        let names = ADAPTIVE.join(", ");
        return Err(
            at.error(format!("`{NORM}` is missing, or one of {names} for adaptive clipping"))
        );
    }
    let count_std = settings.positive(COUNT_STD)?.unwrap_or(sampled_clients as f64 / 20.0);
    if noise_multiplier >= 2.0 * count_std {
        return Err(at.error(format!(
            "{COUNT_STD} is {count_std:?}, and {NOISE} {noise_multiplier:?} is not below twice \
             that: Flower refuses it; raise {COUNT_STD} or lower {NOISE}"
        )));
    }
    Ok(FlowerClipping::Adaptive { count_std })
}

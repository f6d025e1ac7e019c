//! What the server states about its noise, and the weights of its replies.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dpscope_core::audit::one_run::OneRunFinding;
use dpscope_core::audit::one_shot::{ReplyWeights, StatedNoise};
use dpscope_core::format::given;

use super::args::FederatedArgs;
use crate::commands::audit::recorded::with_dataset;
use crate::failure::{Failure, reject_unused_options};

/// The files of an audit of every update.
pub(super) struct UpdateFiles<'a> {
    pub(super) paths: &'a [PathBuf],
    /// Where files are models: the one before the training.
    pub(super) initial: Option<&'a Path>,
    pub(super) participation: Option<&'a Path>,
    pub(super) momentum: f64,
    pub(super) server: Option<StatedServer>,
}

/// The noise that the options state, and the number of clients that the server divides by.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatedServer {
    pub(super) noise: StatedNoise,
    pub(super) planned_clients: u64,
    /// Server rounds in which each client takes part, as claimed.
    pub(super) participations: Option<u64>,
}

impl StatedServer {
    /// None without --noise-multiplier.
    pub(super) fn new(args: &FederatedArgs) -> Result<Option<Self>, Failure> {
        let has_updates = !(args.updates.is_empty() && args.models.is_empty());
        if !has_updates {
            let options = [("--participations", args.participations.is_some())];
            reject_unused_options(&options, "without --updates or --models")?;
        }
        let options = [("--noise-multiplier", args.noise_multiplier.is_some())];
        if !has_updates && args.replies.is_none() {
            reject_unused_options(&options, "without --updates, --models or --replies")?;
        }
        if args.models.is_empty() {
            let options = [("--server-learning-rate", args.server_learning_rate.is_some())];
            reject_unused_options(&options, "without --models")?;
        }
        let rate = args.server_learning_rate.unwrap_or(1.0);
        for (name, value) in [
            ("--noise-multiplier", args.noise_multiplier),
            ("--clip-norm", args.clip_norm),
            ("--server-learning-rate", Some(rate)),
        ] {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                let value = given(value);
                return Err(Failure::input(format!("{name} is {value}; it must be above 0")));
            }
        }
        let (Some(noise_multiplier), Some(clip_norm)) = (args.noise_multiplier, args.clip_norm)
        else {
            return Ok(None);
        };
        let planned_clients = args.planned_clients.unwrap_or(1);
        let clip_norm = clip_norm * rate / planned_clients as f64;
        let noise = StatedNoise { noise_multiplier, clip_norm };
        Ok(Some(Self { noise, planned_clients, participations: args.participations }))
    }

    /// The worst server round of a file with the columns server_round and weight, one row per reply.
    pub(super) fn reply_findings(&self, path: &Path) -> Result<Vec<OneRunFinding>, Failure> {
        let about = |error| Failure::from(error).about(path);
        let (rounds, weights) = with_dataset(path, |dataset| {
            let column = |name| dataset.array(name).map(dpscope_formats::Array::into_data);
            Ok((column("server_round").map_err(about)?, column("weight").map_err(about)?))
        })?;
        let mut replies: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for (row, (&round, &weight)) in rounds.iter().zip(&weights).enumerate() {
            let row = row + 1;
            let problem = if round.fract() != 0.0 || !(1.0..9e15).contains(&round) {
                format!("has server_round {round} in row {row}; server rounds are numbered from 1")
            } else if !(weight > 0.0 && weight.is_finite()) {
                format!("has weight {weight} in row {row}; weights must be positive and finite")
            } else {
                replies.entry(round as u64).or_default().push(weight);
                continue;
            };
            return Err(Failure::input(problem).about(path));
        }
        let mut worst: [Option<(f64, OneRunFinding)>; 2] = [None, None];
        for (round, weights) in replies {
            let weights = ReplyWeights::new(&weights).map_err(Failure::input)?;
            for finding in self.noise.reply_findings(round, &weights, self.planned_clients) {
                let (place, noise) = match finding {
                    OneRunFinding::FewReplies { noise_multiplier, .. } => (0, noise_multiplier),
                    OneRunFinding::UnequalReplies { noise_multiplier, .. } => (1, noise_multiplier),
                    _ => continue,
                };
                if worst[place].is_none_or(|(least, _)| noise < least) {
                    worst[place] = Some((noise, finding));
                }
            }
        }
        Ok(worst.into_iter().flatten().map(|(_, finding)| finding).collect())
    }
}

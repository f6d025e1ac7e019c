//! `dpscope reproduce published`: published trainings, their claims, and what shuffling would leak.

use dpscope_core::accounting::{
    Accountant, Accounted, Cell, Deterministic, EpochLength, Given, Kind, Poisson, Query,
    RunLength, Schedule, Shuffle, ShuffleMethod, Training,
};
use dpscope_core::format::given;
use dpscope_core::mechanism::SamplerKind;
use dpscope_report::words::epochs_in_words;
use dpscope_simulation::Backend;
use dpscope_simulation::pair::PairSampler;
use serde::Deserialize;
use serde_json::{Value, json};

use super::names::Table;
use super::page::Reproduced;
use super::{ReproduceArgs, data};
use crate::device::backend;
use crate::failure::{Exit, Failure};
use crate::job::float_mode;
use crate::progress::{RowProgress, Terminal};

/// Chance that a drawn bound is wrong.
const SIGNIFICANCE: f64 = 0.05;

/// An entry of `trainings.toml`; `SOURCE.md` beside it explains the fields.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedTraining {
    name: String,
    source: String,
    url: String,
    place: String,
    noise_multiplier: f64,
    dataset_size: Option<u64>,
    batch_size: Option<u64>,
    steps_per_epoch: Option<u64>,
    epochs: Option<f64>,
    total_steps: Option<u64>,
    delta: f64,
    /// As printed.
    claimed_epsilon: String,
    accountant: String,
    ran: Option<SamplerKind>,
    ran_note: Option<String>,
    remark: Option<String>,
    #[serde(default)]
    unverified: Vec<String>,
}

fn trainings() -> Result<Vec<PublishedTraining>, Failure> {
    data::list(include_str!("../../../papers/published/trainings.toml"))
}

impl PublishedTraining {
    fn schedule(&self) -> Result<Schedule, Failure> {
        let unclear = |what: &str| Failure::with(Exit::Internal, format!("{}: {what}", self.name));
        let epoch = match (self.dataset_size, self.batch_size, self.steps_per_epoch) {
            (Some(dataset_size), Some(batch_size), None) => {
                EpochLength::Records { dataset_size, batch_size }
            }
            (None, None, Some(steps)) => EpochLength::Steps(steps),
            _ => return Err(unclear("the length of an epoch")),
        };
        let run = match (self.epochs, self.total_steps) {
            (Some(epochs), None) => RunLength::Epochs(epochs),
            (None, Some(steps)) => RunLength::Steps(steps),
            _ => return Err(unclear("the length of the run")),
        };
        Ok(Schedule::new(self.noise_multiplier, epoch, run)?)
    }

    fn source(&self) -> [&String; 3] {
        [&self.source, &self.url, &self.place]
    }

    /// The claim as printed, beside what holds.
    fn row(&self, seed: u64, backend: &Backend) -> Result<Value, Failure> {
        let schedule = self.schedule()?;
        let at = Given::Delta(self.delta);
        let whole = schedule.rounded_down();
        let shuffle = whole.clone().and_then(|whole| {
            let query = Query { kind: Kind::Lower, ..Query::upper(whole, at) };
            Shuffle(ShuffleMethod::Best).account(&query)
        });
        let shuffle_lower = Cell::from(shuffle);
        let shuffle_upper = Deterministic.account(&Query::upper(schedule.rounded_up(), at));
        let poisson = Cell::from(Poisson.account(&Query::upper(schedule.poisson(), at)));
        let sampler =
            PairSampler { seed, observations: None, significance: SIGNIFICANCE, whole_runs: false };
        // none for less than one epoch
        let pair =
            whole.ok().map(|whole| sampler.rows(whole, at, backend, &Terminal::of_pair(true)));
        let pair = pair.transpose()?;
        let printed = &self.claimed_epsilon;
        let claimed: f64 = printed.parse().map_err(|error| Failure::with(Exit::Internal, error))?;
        let (claim, sign) = claim(printed, claimed, poisson.value());
        let lower = [shuffle_lower.value(), pair.as_ref().map(|pair| &pair.lower)];
        let leak = lower.into_iter().flatten().map(|bound| bound.epsilon).reduce(f64::max);
        let over_claim = leak.map(|leak| leak / claimed);
        let Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate } = schedule.whole;
        let [title, url, place] = self.source();
        Ok(json!({
            "name": self.name, "source": { "title": title, "url": url, "place": place },
            "noise_multiplier": noise_multiplier,
            "noise_multiplier_text": given((noise_multiplier * 1e4).round() / 1e4),
            "steps": steps_per_epoch, "epochs": epochs, "epochs_text": epochs_in_words(&schedule),
            "partial_epoch_steps": schedule.partial_epoch_steps, "total_steps": schedule.steps(),
            "sampling_rate": sampling_rate,
            "dataset_size": self.dataset_size, "batch_size": self.batch_size,
            "delta": self.delta, "claimed": printed, "claimed_epsilon": claimed, "claim": claim,
            "claim_text": sign, "accountant": self.accountant,
            "poisson": poisson, "shuffle_lower": shuffle_lower,
            "pair_lower": pair.as_ref().map(|pair| pair.lower),
            "pair_estimate": pair.as_ref().map(|pair| &pair.estimate),
            "pair_observations": pair.as_ref().map(|pair| pair.observations),
            "shuffle_upper": Cell::from(shuffle_upper), "shuffle_over_claim": over_claim,
            "shuffle_leak": leak, "is_exceeded": over_claim > Some(1.0),
            "ran": self.ran, "ran_text": self.ran.map_or("unstated", SamplerKind::name),
            "ran_note": self.ran_note, "remark": self.remark, "unverified": self.unverified,
        }))
    }
}

pub(super) fn run(args: &ReproduceArgs, seed: u64) -> Result<Reproduced, Failure> {
    let trainings = trainings()?;
    let backend = backend(&args.device, float_mode(&args.device, &[]))?;
    let progress = RowProgress::new(args.show.quiet, trainings.len()).with_estimate();
    let name = |training: &&PublishedTraining| training.name.clone();
    let mut rows = progress.rows(&trainings, name, |training| training.row(seed, &backend))?;
    let (mut sources, mut remarks) = (Vec::<[&String; 3]>::new(), Vec::new());
    for (training, row) in trainings.iter().zip(&mut rows) {
        let source = sources.iter().position(|source| *source == training.source());
        let source = source.map_or(sources.len() + 1, |at| at + 1);
        if source > sources.len() {
            sources.push(training.source());
        }
        row["source_text"] = format!("[{source}]").into();
        let remark = training.remark.iter().map(|remark| format!("[{source}] {remark}"));
        remarks.extend(remark.map(|remark| ("remark".to_owned(), remark)));
    }
    remarks.dedup();
    let named = sources
        .iter()
        .zip(1..)
        .map(|([title, url, place], at)| (format!("[{at}]"), format!("{title}, {place}: {url}")));
    let count = |claim| rows.iter().filter(|row| row["claim"] == claim).count();
    let facts = json!({
        "significance": SIGNIFICANCE, "trainings": rows.len(), "equal": count("equal"),
        "larger": count("larger"), "smaller": count("smaller"),
        "exceeded": rows.iter().filter(|row| row["is_exceeded"] == true).count(),
    });
    let notes = vec![("remarks", remarks), ("sources", named.collect())];
    let page = include_str!("../../../papers/published/page.toml");
    Ok(Reproduced::new(page, facts, vec![Table::new("trainings", rows)], notes))
}

/// How a claim, as printed, compares with an upper bound of Poisson accounting, and the sign of that: equal
/// as printed if it is rounded up, or to the nearest digit; larger if it is a valid claim, by a looser
/// accountant or of a longer run; smaller than can be proven.
fn claim(printed: &str, claimed: f64, poisson: Option<&Accounted>) -> (&'static str, &'static str) {
    let Some(poisson) = poisson else { return ("unknown", "?") };
    let digits = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
    // a claim in whole numbers is a target
    let unit = (0..digits).fold(1.0, |unit, _| unit / 10.0_f64).min(0.01 * claimed);
    if claimed > poisson.epsilon + unit {
        ("larger", ">")
    } else if claimed < poisson.epsilon - poisson.numeric_error - 0.5 * unit {
        ("smaller", "<")
    } else {
        ("equal", "=")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_training_is_complete() {
        let all = trainings().unwrap();
        assert!(all.len() >= 12);
        for training in &all {
            assert!(training.schedule().is_ok());
            assert!(training.claimed_epsilon.parse::<f64>().unwrap() > 0.0, "{}", training.name);
            assert!(training.url.starts_with("https://"), "{}", training.name);
            assert_eq!(training.ran.is_some(), training.ran_note.is_some(), "{}", training.name);
            for field in &training.unverified {
                assert!(["dataset_size", "batch_size"].contains(&field.as_str()), "{field}");
            }
        }
    }

    #[test]
    fn a_claim_is_compared_as_printed() {
        let training = Training {
            noise_multiplier: 1.0,
            steps_per_epoch: 100,
            epochs: 1,
            sampling_rate: None,
        };
        let poisson = Poisson.account(&Query::upper(training, Given::Delta(1e-5))).unwrap();
        assert!(poisson.epsilon > 0.718 && poisson.epsilon < 0.7181);
        let claim =
            |printed: &str| super::claim(printed, printed.parse().unwrap(), Some(&poisson)).0;
        for (expected, printed) in [
            ("equal", &["0.72", "0.718", "0.719"][..]),
            ("larger", &["0.720", "0.73", "1"]),
            ("smaller", &["0.71", "0.7"]),
        ] {
            for printed in printed {
                assert_eq!(claim(printed), expected, "{printed}");
            }
        }
        assert_eq!(super::claim("1", 1.0, None).0, "unknown");
    }
}

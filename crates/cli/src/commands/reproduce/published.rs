//! `dpscope reproduce published`: published trainings, their claims, and what shuffling would leak.

use dpscope_core::accounting::{
    Accountant, Accounted, Cell, Deterministic, EpochLength, Given, Kind, Poisson, Query,
    RunLength, Schedule, Shuffle, ShuffleMethod,
};
use dpscope_core::format::given;
use dpscope_core::mechanism::SamplerKind;
use dpscope_report::words::epochs_in_words;
use dpscope_simulation::Backend;
use dpscope_simulation::pair::{PairRows, PairSampler};
use serde::Deserialize;
use serde_json::{Value, json};

use super::names::Table;
use super::reproduced::Reproduced;
use super::{ReproduceArgs, data};
use crate::device::backend;
use crate::failure::{Exit, Failure};
use crate::job::float_mode;
use crate::progress::{RowProgress, Terminal, is_interrupted};

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

#[derive(Deserialize)]
struct Trainings {
    training: Vec<PublishedTraining>,
}

fn trainings() -> Result<Vec<PublishedTraining>, Failure> {
    let read: Trainings = data::toml(include_str!("../../../papers/published/trainings.toml"))?;
    Ok(read.training)
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
}

/// A claim as printed, beside what holds.
struct Accounting {
    training: PublishedTraining,
    schedule: Schedule,
    claimed: f64,
    poisson: Cell,
    shuffle_lower: Cell,
    /// The worst-case pair of shuffled batches; none for less than one epoch.
    pair: Option<PairRows>,
    shuffle_upper: Cell,
}

impl Accounting {
    fn new(training: PublishedTraining, seed: u64, backend: &Backend) -> Result<Self, Failure> {
        let schedule = training.schedule()?;
        let at = Given::Delta(training.delta);
        let whole = schedule.rounded_down();
        let shuffle = whole.clone().and_then(|whole| {
            let query = Query { kind: Kind::Lower, ..Query::upper(whole, at) };
            Shuffle(ShuffleMethod::Best).account(&query)
        });
        let sampler =
            PairSampler { seed, observations: None, significance: SIGNIFICANCE, whole_runs: false };
        let pair = match whole {
            Ok(whole) => Some(sampler.rows(whole, at, backend, &Terminal::of_pair(true))?),
            Err(_) => None,
        };
        let claimed = training.claimed_epsilon.parse();
        Ok(Self {
            claimed: claimed.map_err(|error| Failure::with(Exit::Internal, error))?,
            poisson: Poisson.account(&Query::upper(schedule.poisson(), at)).into(),
            shuffle_lower: shuffle.into(),
            shuffle_upper: Deterministic.account(&Query::upper(schedule.rounded_up(), at)).into(),
            pair,
            schedule,
            training,
        })
    }

    /// How the printed claim compares with Poisson accounting.
    fn claim(&self) -> Claim {
        Claim::new(&self.training.claimed_epsilon, self.claimed, self.poisson.value())
    }

    /// The largest lower bound of shuffled batches.
    fn least_leak(&self) -> Option<f64> {
        let bounds = [self.shuffle_lower.value(), self.pair.as_ref().map(|pair| &pair.lower)];
        bounds.into_iter().flatten().map(|bound| bound.epsilon).reduce(f64::max)
    }

    fn over_claim(&self) -> Option<f64> {
        Some(self.least_leak()? / self.claimed)
    }

    fn is_exceeded(&self) -> bool {
        self.over_claim() > Some(1.0)
    }

    fn source(&self) -> [&String; 3] {
        [&self.training.source, &self.training.url, &self.training.place]
    }

    fn row(&self, source: usize) -> Value {
        let Self { training, schedule, pair, .. } = self;
        let whole = schedule.whole;
        let [title, url, place] = self.source();
        json!({
            "name": training.name, "source": { "title": title, "url": url, "place": place },
            "source_text": format!("[{source}]"), "noise_multiplier": whole.noise_multiplier,
            "noise_multiplier_text": given((whole.noise_multiplier * 1e4).round() / 1e4),
            "steps": whole.steps_per_epoch, "epochs": whole.epochs,
            "epochs_text": epochs_in_words(schedule),
            "partial_epoch_steps": schedule.partial_epoch_steps, "total_steps": schedule.steps(),
            "sampling_rate": whole.sampling_rate,
            "dataset_size": training.dataset_size, "batch_size": training.batch_size,
            "delta": training.delta, "claimed": training.claimed_epsilon,
            "claimed_epsilon": self.claimed, "claim": self.claim().name(),
            "claim_text": self.claim().sign(), "accountant": training.accountant,
            "poisson": self.poisson, "shuffle_lower": self.shuffle_lower,
            "pair_lower": pair.as_ref().map(|pair| pair.lower),
            "pair_estimate": pair.as_ref().map(|pair| &pair.estimate),
            "pair_observations": pair.as_ref().map(|pair| pair.observations),
            "shuffle_upper": self.shuffle_upper, "shuffle_over_claim": self.over_claim(),
            "shuffle_leak": self.least_leak(), "is_exceeded": self.is_exceeded(),
            "ran": training.ran, "ran_text": training.ran.map_or("unstated", SamplerKind::name),
            "ran_note": training.ran_note, "remark": training.remark,
            "unverified": training.unverified,
        })
    }
}

pub(super) fn run(args: &ReproduceArgs, seed: u64) -> Result<Reproduced, Failure> {
    let trainings = trainings()?;
    let backend = backend(&args.device, float_mode(&args.device, &[]))?;
    let progress = RowProgress::new(args.show.quiet, trainings.len()).with_estimate();
    let mut all = Vec::with_capacity(trainings.len());
    for training in trainings {
        if is_interrupted() {
            return Err(Failure::interrupted());
        }
        progress.next(&training.name);
        all.push(Accounting::new(training, seed, &backend)?);
    }
    drop(progress);
    let mut sources: Vec<[&String; 3]> = Vec::new();
    for one in &all {
        if !sources.contains(&one.source()) {
            sources.push(one.source());
        }
    }
    let number = |one: &Accounting| {
        sources.iter().position(|source| *source == one.source()).map_or(0, |at| at + 1)
    };
    let remarks = all.iter().filter_map(|one| {
        Some(("remark".to_owned(), format!("[{}] {}", number(one), one.training.remark.as_ref()?)))
    });
    let mut remarks: Vec<(String, String)> = remarks.collect();
    remarks.dedup();
    let named = sources
        .iter()
        .zip(1..)
        .map(|([title, url, place], at)| (format!("[{at}]"), format!("{title}, {place}: {url}")));
    let count = |claim| all.iter().filter(|one| one.claim() == claim).count();
    let facts = json!({
        "significance": SIGNIFICANCE, "trainings": all.len(), "equal": count(Claim::Equal),
        "larger": count(Claim::Larger), "smaller": count(Claim::Smaller),
        "exceeded": all.iter().filter(|one| one.is_exceeded()).count(),
    });
    let table = Table::new("trainings", all.iter().map(|one| one.row(number(one))));
    let notes = vec![("remarks", remarks), ("sources", named.collect())];
    let page = include_str!("../../../papers/published/page.toml");
    Ok(Reproduced::new(page, facts, vec![table], notes))
}

/// A printed ε beside that of Poisson accounting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// Equal as printed: rounded up, or to the nearest digit.
    Equal,
    /// The printed one is larger: a valid claim, by a looser accountant or of a longer run.
    Larger,
    /// The printed one is smaller than Poisson accounting can prove.
    Smaller,
    /// Poisson accounting has no value.
    Unknown,
}

impl Claim {
    /// Compares a claim, as printed, with an upper bound of Poisson accounting.
    fn new(printed: &str, claimed: f64, poisson: Option<&Accounted>) -> Self {
        let Some(poisson) = poisson else { return Claim::Unknown };
        let digits = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
        // a claim in whole numbers is a target
        let unit = (0..digits).fold(1.0, |unit, _| unit / 10.0_f64).min(0.01 * claimed);
        if claimed > poisson.epsilon + unit {
            Claim::Larger
        } else if claimed < poisson.epsilon - poisson.numeric_error - 0.5 * unit {
            Claim::Smaller
        } else {
            Claim::Equal
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Claim::Equal => "equal",
            Claim::Larger => "larger",
            Claim::Smaller => "smaller",
            Claim::Unknown => "unknown",
        }
    }

    const fn sign(self) -> &'static str {
        match self {
            Claim::Equal => "=",
            Claim::Larger => ">",
            Claim::Smaller => "<",
            Claim::Unknown => "?",
        }
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::accounting::Training;

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
            |printed: &str| Claim::new(printed, printed.parse().unwrap(), Some(&poisson)).name();
        for (expected, printed) in [
            ("equal", &["0.72", "0.718", "0.719"][..]),
            ("larger", &["0.720", "0.73", "1"]),
            ("smaller", &["0.71", "0.7"]),
        ] {
            for printed in printed {
                assert_eq!(claim(printed), expected, "{printed}");
            }
        }
        assert_eq!(Claim::new("1", 1.0, None), Claim::Unknown);
    }
}

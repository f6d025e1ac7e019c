//! What a run costs, estimated from a short measurement of its first shard.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dpscope_report::number::short;
use dpscope_report::record::{ErrorCode, LaunchEstimate};

use super::args::LaunchArgs;
use super::sharded::ShardedAudit;
use crate::args::DeviceChoice;
use crate::call::Call;
use crate::device::{found, pick};
use crate::failure::{Exit, Failure};
use crate::host::Supervisor;
use crate::progress::is_interrupted;

/// Longest time until the first two results, in seconds: some trainings are long.
const PATIENCE: f64 = 20.0;

/// How often the progress is looked at.
const PAUSE: Duration = Duration::from_millis(2);

/// Stack size of the thread, as of the program's main one.
const STACK: usize = 8 << 20;

/// What a run costs, or why that is unknown.
pub(super) type Estimate = Result<LaunchEstimate, String>;

/// Checks the audit by starting its first shard, and measures it for `--seconds`.
pub(super) fn estimate(audit: &ShardedAudit, args: &LaunchArgs) -> Result<Estimate, Failure> {
    let adapters = if audit.device == DeviceChoice::Cpu { Vec::new() } else { found() };
    let missing = match pick(&audit.device, &adapters) {
        Ok(adapter) => {
            let gpu = adapter.map(|adapter| adapter.facts().name.clone());
            let threads = threads(args);
            let rate = measured(audit, &audit.device, args, args.seconds)?;
            return Ok(match rate {
                _ if args.seconds == 0.0 => Err("--seconds 0".to_owned()),
                Some(rate) => Ok(rate.of_run(audit, args, threads, gpu)),
                None => Err(format!("no results within {PATIENCE} s on this machine")),
            });
        }
        Err(missing) => missing,
    };
    // Some audits are computed on the CPU alone; what else is wrong shows there too.
    let problem = format!("{:#}", missing.error);
    match measured(audit, &audit.device, args, 0.0) {
        Err(failure) if format!("{:#}", failure.error) != problem => return Err(failure),
        _ => {}
    }
    measured(audit, &DeviceChoice::Cpu, args, 0.0)?;
    Ok(Err(format!("this machine has no device `{}`", audit.device)))
}

/// Threads of the measurement.
fn threads(args: &LaunchArgs) -> u16 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    args.cpus_per_shard.min(u16::try_from(cores).unwrap_or(u16::MAX))
}

/// How fast the first shard is on a device; it is only checked for 0 seconds.
fn measured(
    audit: &ShardedAudit,
    device: &DeviceChoice,
    args: &LaunchArgs,
    seconds: f64,
) -> Result<Option<Rate>, Failure> {
    if is_interrupted() {
        return Err(Failure::interrupted());
    }
    let call = first_shard(audit, device, args);
    let supervisor = Arc::<Supervisor>::default();
    if seconds == 0.0 {
        supervisor.stop();
    }
    let run = {
        let supervisor = Arc::clone(&supervisor);
        std::thread::Builder::new().stack_size(STACK).spawn(move || call.run(&supervisor))
    };
    let run = run.map_err(|error| Failure::with(Exit::Internal, error))?;
    let mut watch = Watch::new();
    while !run.is_finished() {
        watch.look(&supervisor);
        if watch.measured() >= seconds
            || watch.elapsed() > PATIENCE + seconds
            || (watch.measured() == 0.0 && watch.elapsed() > PATIENCE)
            || is_interrupted()
        {
            supervisor.stop();
        }
        std::thread::sleep(PAUSE);
    }
    let result = run.join().map_err(|_| Failure::with(Exit::Internal, "the audit panicked"))?;
    match result {
        Err(error) if error.code != ErrorCode::Interrupted => {
            let exit = match error.code {
                ErrorCode::Device => Exit::Device,
                ErrorCode::Artefact => Exit::Artefact,
                ErrorCode::Internal => Exit::Internal,
                _ => Exit::Input,
            };
            return Err(Failure::with(exit, error.message));
        }
        _ if is_interrupted() => return Err(Failure::interrupted()),
        _ => {}
    }
    watch.look(&supervisor);
    Ok(watch.rate())
}

/// The audit as the first shard runs it, with files in memory.
fn first_shard(audit: &ShardedAudit, device: &DeviceChoice, args: &LaunchArgs) -> Call {
    let (shard, threads) = (format!("1/{}", args.shards), threads(args).to_string());
    let own = ["--shard", &shard, "--threads", &threads].map(str::to_owned);
    let words = audit.arguments_on(device).into_iter().chain(audit.merge.iter().cloned());
    Call {
        arguments: words.chain(own).map(OsString::from).collect(),
        outputs: audit.writes.iter().map(Into::into).collect(),
        ..Call::default()
    }
}

/// Counts of results over time.
struct Watch {
    started: Instant,
    first: Option<Sample>,
    last: Option<Sample>,
    total: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Sample {
    at: f64,
    done: u64,
}

impl Watch {
    fn new() -> Self {
        Watch { started: Instant::now(), first: None, last: None, total: 0 }
    }

    fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Notes results that are new since the last time.
    fn look(&mut self, supervisor: &Supervisor) {
        // first: steps of the preparation are no results
        if !supervisor.is_prepared() {
            return;
        }
        let steps = supervisor.steps();
        if self.last.is_some_and(|last| last.done >= steps.done) {
            return;
        }
        let sample = Sample { at: self.elapsed(), done: steps.done };
        self.first.get_or_insert(sample);
        (self.last, self.total) = (Some(sample), steps.total);
    }

    /// Seconds between the first and the last results.
    fn measured(&self) -> f64 {
        self.first.zip(self.last).map_or(0.0, |(first, last)| last.at - first.at)
    }

    fn rate(&self) -> Option<Rate> {
        let (first, last) = self.first.zip(self.last)?;
        // A shard that is too short to see twice: with its preparation, so that too much is estimated.
        let (seconds, done) = match last.at - first.at {
            seconds if seconds > 0.0 => (seconds, last.done - first.done),
            _ => (last.at, last.done),
        };
        let per_second = done as f64 / seconds;
        let preparation = (first.at - first.done as f64 / per_second).max(0.0);
        Some(Rate { seconds, per_second, preparation, total: self.total })
    }
}

/// How fast the first shard was.
struct Rate {
    seconds: f64,
    per_second: f64,
    preparation: f64,
    /// Results of the shard.
    total: u64,
}

impl Rate {
    /// The estimate for all shards, on CPUs or on a GPU of this name.
    fn of_run(
        &self,
        audit: &ShardedAudit,
        args: &LaunchArgs,
        threads: u16,
        gpu: Option<String>,
    ) -> LaunchEstimate {
        let (shards, cpus) = (args.shards as f64, f64::from(args.cpus_per_shard));
        let results = self.total.saturating_mul(args.shards);
        let preparing = shards * self.preparation;
        // Of one core, or of one GPU with its cores.
        let measured = if gpu.is_some() { 1.0 } else { f64::from(threads) };
        let results_per_second = self.per_second / measured;
        let computing = results as f64 / results_per_second;
        let (core_hours, gpu_hours) = if gpu.is_some() {
            let gpu_hours = (computing + preparing) / 3600.0;
            (cpus * gpu_hours, Some(gpu_hours))
        } else {
            ((computing + cpus * preparing) / 3600.0, None)
        };
        LaunchEstimate {
            unit: audit.unit(),
            results,
            device: gpu.unwrap_or_else(|| "cpu".to_owned()),
            results_per_second,
            threads,
            measured_seconds: self.seconds,
            preparation_seconds: self.preparation,
            core_hours,
            gpu_hours,
            price: price(args, core_hours, gpu_hours),
        }
    }
}

/// Price of the run; unknown on GPUs without a price of one.
fn price(args: &LaunchArgs, core_hours: f64, gpu_hours: Option<f64>) -> Option<f64> {
    let of_cores = args.price_per_core_hour.map(|price| price * core_hours);
    match gpu_hours {
        None => of_cores,
        Some(gpu_hours) => {
            let of_gpus = args.price_per_gpu_hour? * gpu_hours;
            Some(of_gpus + of_cores.unwrap_or(0.0))
        }
    }
}

/// The estimate for a reader, with what it rests on.
pub(super) fn sentences(estimate: &Estimate, args: &LaunchArgs) -> Vec<String> {
    let found = match estimate {
        Ok(found) => found,
        Err(reason) => return vec![format!("No estimate of the cost: {reason}.")],
    };
    let per_shard = found.gpu_hours.unwrap_or(found.core_hours / f64::from(args.cpus_per_shard));
    let wall = per_shard * 3600.0 / args.shards as f64;
    let mut cost = format!("Estimate: {} core-hours", rounded(found.core_hours));
    if let Some(gpu_hours) = found.gpu_hours {
        cost = format!(
            "Estimate: {} GPU-hours, with {} core-hours",
            rounded(gpu_hours),
            rounded(found.core_hours)
        );
    }
    if let Some(price) = found.price {
        let rate = |price: Option<f64>, unit: &str| price.map(|it| format!("{it} per {unit}"));
        let rates = [
            rate(args.price_per_core_hour, "core-hour"),
            rate(args.price_per_gpu_hour, "GPU-hour"),
        ];
        let rates: Vec<String> = rates.into_iter().flatten().collect();
        cost += &format!(", {} at {}", rounded(price), rates.join(" and "));
    }
    let threads = if found.threads == 1 { "thread" } else { "threads" };
    let (whose, per) = match found.gpu_hours {
        Some(_) => (format!("Measured on {}", found.device), "GPU"),
        None => ("Measured on this machine".to_owned(), "core"),
    };
    let mut sentences = vec![
        format!("{cost}; {} s if all shards run at once.", rounded(wall)),
        format!(
            "{whose}: {} {}/s per {per}, with {} {threads} for {} s. Other hardware may",
            short(found.results_per_second),
            found.unit,
            found.threads,
            rounded(found.measured_seconds)
        ),
        "be faster or slower; waiting for nodes and files is not included.".to_owned(),
    ];
    if args.price_per_core_hour.is_some() && found.price.is_none() {
        sentences.push(
            "No price: that of the GPUs is unknown; pass --price-per-gpu-hour too.".to_owned(),
        );
    }
    sentences
}

/// Two digits of an estimate.
fn rounded(value: f64) -> String {
    let digits = if value >= 9.95 {
        0
    } else if value >= 0.995 {
        1
    } else {
        2
    };
    if value == 0.0 || value >= 0.0095 {
        return format!("{value:.digits$}");
    }
    format!("{value:.1e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_have_two_digits() {
        let shown = [0.0, 1.23e-5, 0.0123, 0.994, 1.26, 9.949, 12.3, 1234.0].map(rounded);
        assert_eq!(shown, ["0.00", "1.2e-5", "0.01", "0.99", "1.3", "9.9", "12", "1234"]);
    }

    #[test]
    fn the_price_on_gpus_is_unknown_without_that_of_one() {
        let args = |price_per_core_hour, price_per_gpu_hour| LaunchArgs {
            audit: Vec::new(),
            shards: 1,
            device: None,
            cpus_per_shard: 2,
            seconds: 0.0,
            price_per_core_hour,
            price_per_gpu_hour,
            json: false,
        };
        let price_of = |args: LaunchArgs, gpu_hours| price(&args, 8.0, gpu_hours);
        assert_eq!(price_of(args(Some(0.5), None), None), Some(4.0));
        assert_eq!(price_of(args(None, None), None), None);
        assert_eq!(price_of(args(Some(0.5), None), Some(4.0)), None);
        assert_eq!(price_of(args(None, Some(2.0)), Some(4.0)), Some(8.0));
        assert_eq!(price_of(args(Some(0.5), Some(2.0)), Some(4.0)), Some(12.0));
    }

    #[test]
    fn the_preparation_is_not_in_the_rate() {
        let sample = |at, done| Some(Sample { at, done });
        let mut watch = Watch { first: sample(2.0, 100), last: sample(3.0, 300), ..Watch::new() };
        let rate = watch.rate().unwrap();
        assert_eq!((rate.per_second, rate.preparation, rate.seconds), (200.0, 1.5, 1.0));
        watch.last = watch.first;
        let rate = watch.rate().unwrap();
        assert_eq!((rate.per_second, rate.preparation, rate.seconds), (50.0, 0.0, 2.0));
        watch.last = None;
        assert!(watch.rate().is_none());
    }
}

//! One folder per command, and the table of commands.

#[macro_use]
mod table;

mod audit;
#[cfg(feature = "native")]
mod bench;
#[cfg(feature = "native")]
mod bound;
#[cfg(feature = "native")]
mod calibrate;
#[cfg(feature = "many-canaries")]
mod canaries;
#[cfg(feature = "native")]
mod check;
#[cfg(feature = "native")]
mod compare;
#[cfg(feature = "native")]
pub(crate) mod completions;
#[cfg(feature = "native")]
mod devices;
#[cfg(feature = "native")]
mod generator;
#[cfg(feature = "native")]
mod launch;
#[cfg(feature = "native")]
mod lines;
#[cfg(feature = "native")]
pub(crate) mod man_pages;
#[cfg(feature = "native")]
mod matrix;
#[cfg(feature = "native")]
mod merge;
#[cfg(feature = "native")]
mod plan;
#[cfg(feature = "native")]
mod recompute;
#[cfg(feature = "native")]
mod reproduce;
#[cfg(feature = "native")]
mod resume;
#[cfg(feature = "native")]
mod saved_run;
#[cfg(feature = "native")]
mod schema;
#[cfg(feature = "native")]
mod serve;
#[cfg(feature = "trainings")]
mod simulate;
#[cfg(feature = "native")]
mod sweep;

subcommands! {
    Command {
        /// Audit a mechanism, recorded outputs, scores or counts.
        #[command(
            subcommand,
            after_help = "Example:\n  dpscope audit bgm --noise-multiplier 1.0 --steps 100 --observations 1e7"
        )]
        Audit(Box<audit::Audit>) => audit,
        /// Compute a proven or estimated epsilon (or delta).
        Bound(bound::BoundArgs) => bound if "native",
        /// Compute the noise, steps or epochs for a target epsilon and delta.
        Calibrate(calibrate::CalibrateArgs) => calibrate if "native",
        /// Compare claimed, proven and estimated epsilon of one training run.
        Compare(compare::CompareArgs) => compare if "native",
        /// Compute claimed and proven epsilon for each row of a CSV file.
        Sweep(sweep::SweepArgs) => sweep if "native",
        /// Compute the size of an audit, or commit to the coins of its canaries.
        Plan(plan::PlanArgs) => plan if "native",
        /// Make or verify canaries for an audit of one training run.
        #[command(
            subcommand,
            after_help = "Example:\n  dpscope canaries make random --data records.npz --count 10 --out canaries.npz"
        )]
        Canaries(canaries::Canaries) => canaries if "many-canaries",
        /// Run a generator of synthetic rows many times, for an audit.
        #[command(
            subcommand,
            after_help = "Example:\n  dpscope generator run folder --command 'python3 generator.py {data} {seed} {out}'"
        )]
        Generator(generator::Generator) => generator if "native",
        /// Print what Slurm, Kubernetes or Ray need to run an audit in shards.
        #[command(
            subcommand,
            after_help = "Example:\n  dpscope launch slurm --shards 64 -- audit bgm --noise-multiplier 1 \\\n    \
                --steps 100 --observations 1e7"
        )]
        Launch(launch::Launch) => launch if "native",
        /// Join the shards of a run.
        Merge(merge::MergeArgs) => merge if "native",
        /// Resume an interrupted run.
        Resume(resume::ResumeArgs) => resume if "native",
        /// Compute the bounds of a report again, from the counts in it.
        Recompute(recompute::RecomputeArgs) => recompute if "native",
        /// Repeat published audits and compare the numbers.
        Reproduce(reproduce::ReproduceArgs) => reproduce if "native",
        /// List compute devices.
        Devices(devices::DevicesArgs) => devices if "native",
        /// Measure the throughput of each device.
        Bench(bench::BenchArgs) => bench if "native",
        /// Check a training set-up against its claim.
        Check(Box<check::CheckArgs>) => check if "native",
        /// Print the JSON Schema of a document of --json.
        Schema(schema::SchemaArgs) => schema if "native",
        /// Serve the web app on this machine only.
        Serve(serve::ServeArgs) => serve if "native",
    }
}

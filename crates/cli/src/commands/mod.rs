//! One folder per command, and the table of commands.

#[macro_use]
mod table;

mod audit;
mod bench;
mod bound;
mod calibrate;
mod canaries;
mod check;
mod compare;
pub(crate) mod completions;
mod devices;
mod generator;
mod launch;
mod lines;
pub(crate) mod man_pages;
mod matrix;
mod merge;
mod plan;
mod recompute;
mod reproduce;
mod resume;
mod saved_run;
mod schema;
mod serve;
mod simulate;
mod sweep;

subcommands! {
    Command {
        /// Audit a mechanism, recorded outputs, scores or counts.
        #[command(
            subcommand,
            after_help = "Example:\n  dpscope audit bgm --noise-multiplier 1.0 --steps 100 --observations 1e7"
        )]
        Audit(audit::Audit) => audit,
        /// Compute a proven or estimated epsilon (or delta).
        Bound(bound::BoundArgs) => bound,
        /// Compute the noise, steps or epochs for a target epsilon and delta.
        Calibrate(calibrate::CalibrateArgs) => calibrate,
        /// Compare claimed, proven and estimated epsilon of one training run.
        Compare(compare::CompareArgs) => compare,
        /// Compute claimed and proven epsilon for each row of a CSV file.
        Sweep(sweep::SweepArgs) => sweep,
        /// Compute the size of an audit, or commit to the coins of its canaries.
        Plan(plan::PlanArgs) => plan,
        /// Make or verify canaries for an audit of one training run.
        #[command(
            subcommand,
            after_help = "Example:\n  dpscope canaries make random --data records.npz --count 10 --out canaries.npz"
        )]
        Canaries(canaries::Canaries) => canaries,
        /// Run a generator of synthetic rows many times, for an audit.
        #[command(
            subcommand,
            after_help = "Example:\n  dpscope generator run folder --command 'python3 generator.py {data} {seed} {out}'"
        )]
        Generator(generator::Generator) => generator,
        /// Print what Slurm, Kubernetes or Ray need to run an audit in shards.
        #[command(
            subcommand,
            after_help = "Example:\n  dpscope launch slurm --shards 64 -- audit bgm --noise-multiplier 1 \\\n    \
                --steps 100 --observations 1e7"
        )]
        Launch(launch::Launch) => launch,
        /// Join the shards of a run.
        Merge(merge::MergeArgs) => merge,
        /// Resume an interrupted run.
        Resume(resume::ResumeArgs) => resume,
        /// Compute the bounds of a report again, from the counts in it.
        Recompute(recompute::RecomputeArgs) => recompute,
        /// Repeat published audits and compare the numbers.
        Reproduce(reproduce::ReproduceArgs) => reproduce,
        /// List compute devices.
        Devices(devices::DevicesArgs) => devices,
        /// Measure the throughput of each device.
        Bench(bench::BenchArgs) => bench,
        /// Check a training set-up against its claim.
        Check(Box<check::CheckArgs>) => check,
        /// Print the JSON Schema of a document of --json.
        Schema(schema::SchemaArgs) => schema,
        /// Serve the web app on this machine only.
        Serve(serve::ServeArgs) => serve,
    }
}

//! `dpscope launch`: what an engine needs to run an audit in shards. Nothing is started.

mod args;
mod check;
mod device;
mod kubernetes;
mod ray;
mod sharded;
mod slurm;

use args::{KubernetesArgs, LaunchArgs, RayArgs, SlurmArgs};
use dpscope_report::record::LaunchReport;

use crate::args::DeviceChoice;
use crate::failure::{CommandResult, Exit};
use crate::output::{print_json, print_text};
use crate::shell::command_line;
use check::check;
use sharded::ShardedAudit;

subcommands! {
    Launch {
        /// A script for sbatch: a job array of shards, and a job that merges them.
        Slurm(SlurmArgs) => slurm,
        /// A manifest: an indexed Job of shards, a volume for them, and a Job that merges them.
        Kubernetes(KubernetesArgs) => kubernetes,
        /// Lines of Python that run the shards as tasks of Ray, merge them and print the result.
        Ray(RayArgs) => ray,
    }
}

pub(crate) fn run(launch: &Launch) -> CommandResult {
    launch.run()
}

/// What an engine is asked to run.
struct Launched<'a> {
    args: &'a LaunchArgs,
    audit: ShardedAudit,
}

/// Checks an audit, and prints what `text` makes of it for the engine.
fn launch(
    engine: &'static str,
    args: &LaunchArgs,
    text: impl FnOnce(&Launched<'_>) -> String,
) -> CommandResult {
    let audit = ShardedAudit::read(&args.audit, args.device.as_ref())?;
    check(&audit, args.shards)?;
    let launched = Launched { args, audit };
    let text = text(&launched);
    if args.json {
        let audit = launched.audit;
        let (shards, cpus_per_shard) = (args.shards, args.cpus_per_shard);
        let (words, device) = (audit.arguments(), audit.device.to_string());
        let ShardedAudit { merge, merge_options, reads, .. } = audit;
        print_json(&LaunchReport {
            schema: "dpscope.launch/1",
            version: env!("CARGO_PKG_VERSION"),
            engine,
            shards,
            device,
            cpus_per_shard,
            audit: words,
            merge,
            merge_options,
            reads,
            text,
        })?;
    } else {
        print_text(&text)?;
    }
    Ok(Exit::Done)
}

impl Launched<'_> {
    /// Comment lines: the audit, and these lines.
    fn comment(&self, lines: &[String]) -> String {
        let &LaunchArgs { shards, cpus_per_shard, .. } = self.args;
        let cores = if cpus_per_shard == 1 { "core" } else { "cores" };
        let gpu = if self.has_gpu() { " and 1 GPU" } else { "" };
        let what = format!(
            "dpscope {}: an audit in {shards} shards, {cpus_per_shard} {cores}{gpu} each.",
            env!("CARGO_PKG_VERSION")
        );
        let audit = command_line(self.audit.arguments().iter().chain(&self.audit.merge));
        let mut all = vec![what, format!("  {audit}")];
        if !self.audit.reads.is_empty() {
            let files = self.audit.reads.join(", ");
            all.push(format!("Every shard reads {files}: put it where all of them find it."));
        }
        all.extend_from_slice(lines);
        all.into_iter().map(|line| format!("# {line}\n")).collect()
    }

    /// Arguments of a shard, without those of its files.
    fn shard(&self) -> Vec<String> {
        let threads = ["--threads".to_owned(), self.args.cpus_per_shard.to_string()];
        self.audit.arguments().into_iter().chain(threads).collect()
    }

    /// Whether each shard reserves a GPU.
    fn has_gpu(&self) -> bool {
        self.audit.device != DeviceChoice::Cpu
    }
}

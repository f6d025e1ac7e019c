//! An audit that an engine is asked to run in shards, and what is printed about it.

use dpscope_report::record::LaunchReport;

use super::args::LaunchArgs;
use super::check::check;
use super::sharded::ShardedAudit;
use crate::args::DeviceChoice;
use crate::failure::{CommandResult, Exit};
use crate::output::{print_json, print_text};
use crate::shell::command_line;

/// What an engine is asked to run.
pub(super) struct Launched<'a> {
    pub(super) args: &'a LaunchArgs,
    pub(super) audit: ShardedAudit,
}

/// Checks an audit, and prints what `text` makes of it for the engine.
pub(super) fn launch(
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
    pub(super) fn comment(&self, lines: &[String]) -> String {
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
    pub(super) fn shard(&self) -> Vec<String> {
        let threads = ["--threads".to_owned(), self.args.cpus_per_shard.to_string()];
        self.audit.arguments().into_iter().chain(threads).collect()
    }

    /// Whether each shard reserves a GPU.
    pub(super) fn has_gpu(&self) -> bool {
        self.audit.device != DeviceChoice::Cpu
    }
}

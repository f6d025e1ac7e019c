//! An audit that can be run in shards, from a plan or from words.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Command;
use dpscope_core::foreign_text::{ForeignText, is_plain};
use dpscope_formats::Limits;
use serde_json::Value;

use super::device::device_of;
use crate::args::{DeviceChoice, reads_file, writes_file};
use crate::failure::Failure;
use crate::files::read;
use crate::given::{GivenOption, given_options, innermost, matched};
use crate::seed::seed_or_fresh;

/// Limit on the document of `dpscope plan`.
const MOST_PLAN_BYTES: u64 = 1 << 20;

/// Options that the engine sets for each shard, and what to pass in their place.
const SET_HERE: [(&str, &str); 4] = [
    ("shard", "pass --shards N before the audit"),
    ("checkpoint", "each shard has its own"),
    ("out", "each shard has its own"),
    ("threads", "pass --cpus-per-shard N before the audit"),
];

/// Options of `merge` that are not about its report.
const OF_MERGE_ALONE: [&str; 6] = ["files", "out", "allow_gaps", "allow_mixed", "data", "columns"];

/// An audit that can be run in shards.
pub(super) struct ShardedAudit {
    /// Words of every shard, with the seed and without the device.
    words: Vec<String>,
    pub(super) device: DeviceChoice,
    /// `--device-memory` of the audit, which some audits refuse on the CPU.
    device_memory: Vec<String>,
    /// Options of `dpscope merge`: what is reported, and where to.
    pub(super) merge: Vec<String>,
    /// Options of `merge` by name, without dashes, with their values.
    pub(super) merge_options: BTreeMap<String, Vec<String>>,
    /// Files that are read.
    pub(super) reads: Vec<String>,
    /// Files that the report writes.
    pub(super) writes: Vec<String>,
}

impl ShardedAudit {
    /// Reads the file of a plan, or an audit of several words, and parses it as the program does.
    pub(super) fn read(words: &[String], device: Option<&DeviceChoice>) -> Result<Self, Failure> {
        let planned;
        let words = match words {
            [file] => {
                planned = planned_audit(Path::new(file))?;
                &planned
            }
            words => words,
        };
        if let Some(word) = words.iter().find(|word| !word.chars().all(is_shown)) {
            let word = ForeignText::new(word);
            let problem = format!("`{word}` has characters that scripts cannot hold; leave it out");
            return Err(Failure::input(problem));
        }
        let (program, matches) = matched(words.iter().cloned())?;
        let (names, command, matches) = innermost(&program, &matches);
        if !takes(command, "shard") {
            return Err(not_sharded(&names, &program));
        }
        let options = given_options(command, matches);
        for (id, instead) in SET_HERE {
            if options.iter().any(|option| option.id() == id) {
                return Err(Failure::input(format!("leave --{id} out: {instead}")));
            }
        }
        let device = device_of(device, &options)?;
        Self::of_options(&names, &program, &options, device)
    }

    fn of_options(
        names: &[&str],
        program: &Command,
        options: &[GivenOption<'_>],
        device: DeviceChoice,
    ) -> Result<Self, Failure> {
        let merge = program.find_subcommand("merge");
        let is_reported =
            |id: &str| merge.is_some_and(|merge| takes(merge, id)) && !OF_MERGE_ALONE.contains(&id);
        let of_table =
            |id: &str| names.last() == Some(&"pategan") && ["data", "columns"].contains(&id);
        let mut audit = ShardedAudit {
            words: names.iter().map(ToString::to_string).collect(),
            device,
            device_memory: Vec::new(),
            merge: Vec::new(),
            merge_options: BTreeMap::new(),
            reads: Vec::new(),
            writes: Vec::new(),
        };
        for option in
            options.iter().filter(|option| !["device", "quiet", "yes"].contains(&option.id()))
        {
            let words = || option.words.iter().cloned();
            if option.id() == "device_memory" {
                audit.device_memory.extend(words());
                continue;
            }
            if is_reported(option.id()) || of_table(option.id()) {
                audit.merge.extend(words());
                let name = option.argument.get_long().unwrap_or(option.id()).to_owned();
                audit.merge_options.insert(name, option.values.clone());
            }
            if !is_reported(option.id()) {
                audit.words.extend(words());
            }
            if writes_file(option.argument) {
                audit.writes.extend(option.values.iter().cloned());
            } else if reads_file(option.argument) {
                let files = option.values.iter().filter(|path| Path::new(path).is_file());
                audit.reads.extend(files.cloned());
            }
        }
        if !options.iter().any(|option| option.id() == "seed") {
            let (seed, _) = seed_or_fresh(None)?;
            audit.words.extend(["--seed".to_owned(), seed.to_string()]);
        }
        // nobody can answer on a node
        audit.words.push("--yes".to_owned());
        Ok(audit)
    }

    /// Arguments of every shard, with the seed.
    pub(super) fn arguments(&self) -> Vec<String> {
        self.arguments_on(&self.device)
    }

    /// Arguments of every shard on another device; on the CPU, without the memory of a GPU.
    pub(super) fn arguments_on(&self, device: &DeviceChoice) -> Vec<String> {
        let mut words = self.words.clone();
        if *device == self.device || *device != DeviceChoice::Cpu {
            words.extend(self.device_memory.iter().cloned());
        }
        words.extend(["--device".to_owned(), device.to_string()]);
        words
    }
}

/// Whether a character can stand on one line, in YAML too.
fn is_shown(c: char) -> bool {
    is_plain(c) && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffd}'..='\u{ffff}')
}

fn takes(command: &Command, id: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_id() == id)
}

/// Names of the commands that can be run in shards.
fn sharded_commands(program: &Command) -> Vec<String> {
    let inner = |command: &Command| {
        let name = command.get_name().to_owned();
        let of_it = command.get_subcommands().filter(|inner| takes(inner, "shard"));
        of_it.map(move |inner| format!("`{name} {}`", inner.get_name())).collect::<Vec<_>>()
    };
    program.get_subcommands().flat_map(inner).collect()
}

fn not_sharded(names: &[&str], program: &Command) -> Failure {
    let known = sharded_commands(program).join(", ");
    Failure::input(format!("`{}` cannot be run in shards; these can: {known}", names.join(" ")))
}

/// The arguments of the audit that a document of `dpscope plan --json` names.
fn planned_audit(path: &Path) -> Result<Vec<String>, Failure> {
    let bytes = read(path, &Limits { max_bytes: MOST_PLAN_BYTES, ..Limits::default() })?;
    let refused = |problem: &str| Failure::input(problem.to_owned()).about(path);
    let plan: Value = serde_json::from_slice(&bytes).map_err(|_| {
        refused("is not a document of `dpscope plan --json`; for an audit, put -- before its words")
    })?;
    match plan.get("schema").and_then(Value::as_str) {
        Some("dpscope.plan/1") => {}
        Some(schema) => {
            let schema = ForeignText::new(schema);
            return Err(refused(&format!(
                "is a document {schema}; expected dpscope.plan/1, of `dpscope plan bgm --json`"
            )));
        }
        None => return Err(refused("is not a document of `dpscope plan --json`")),
    }
    let words = plan.get("audit").and_then(Value::as_array);
    let words = words.and_then(|words| {
        words.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    });
    words.filter(|words| !words.is_empty()).ok_or_else(|| {
        refused(
            "names no audit; plan with --noise-multiplier, the length of the training, and \
             --observations or an --epsilon that can be reached",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::given::set_program;
    use crate::program::PROGRAM;

    #[test]
    fn the_memory_of_a_gpu_is_left_out_on_the_cpu() {
        set_program(PROGRAM);
        let words = "audit fedavg --noise-multiplier 1 --delta 1e-5 --seed 1 --device-memory 64";
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let has_memory = |device: DeviceChoice, on: DeviceChoice| {
            let audit = ShardedAudit::read(&words, Some(&device)).unwrap();
            audit.arguments_on(&on).join(" ").contains("--device-memory 64")
        };
        assert!(has_memory(DeviceChoice::Gpu, DeviceChoice::Gpu));
        assert!(!has_memory(DeviceChoice::Gpu, DeviceChoice::Cpu));
        assert!(has_memory(DeviceChoice::Cpu, DeviceChoice::Cpu), "the audit refuses it");
    }
}

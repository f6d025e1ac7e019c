//! `dpscope launch ray`: lines of Python that run shards as tasks of Ray.

use super::args::RayArgs;
use super::launched::{Launched, launch};
use crate::failure::CommandResult;

pub(super) fn run(args: &RayArgs) -> CommandResult {
    launch("ray", &args.launch, |launched| lines(args, launched))
}

fn lines(args: &RayArgs, launched: &Launched<'_>) -> String {
    let comment = launched.comment(&[
        "Run with Python, on a machine of the cluster or by `ray job submit`. After a failure, do so again:"
            .to_owned(),
        "shards continue from their checkpoints in the storage.".to_owned(),
    ]);
    let audit = launched.audit.arguments();
    let words: Vec<String> =
        audit.iter().chain(&launched.audit.merge).map(|word| literal(word)).collect();
    let (shards, cpus) = (args.launch.shards, args.launch.cpus_per_shard);
    format!(
        "{comment}import dpscope.ray\n\naudit = dpscope.ray.run(\n    [{}],\n    storage={},\n    \
         shards={shards},\n    cpus_per_shard={cpus},\n)\nprint(audit)\n",
        words.join(", "),
        literal(&args.storage),
    )
}

/// A string of Python: JSON's are.
fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

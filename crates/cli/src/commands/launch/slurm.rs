//! `dpscope launch slurm`: a script that submits shards and their merge.

use super::args::SlurmArgs;
use super::launched::{Launched, launch};
use crate::failure::CommandResult;
use crate::shell::{command_line, quoted};

pub(super) fn run(args: &SlurmArgs) -> CommandResult {
    launch("slurm", &args.launch, |launched| script(args, launched))
}

fn script(args: &SlurmArgs, launched: &Launched<'_>) -> String {
    let comment = launched.comment(&[
        "Submit with `sh FILE`. After a failure, once no job of it runs, do so again: shards continue"
            .to_owned(),
        "from their checkpoints.".to_owned(),
        "A claim that is refuted ends the merge with exit code 3.".to_owned(),
    ]);
    let (shards, cpus) = (args.launch.shards, args.launch.cpus_per_shard);
    let limit = args.time_limit.map_or(String::new(), |minutes| format!(" --time={minutes}"));
    let gpu = if launched.has_gpu() { " --gres=gpu:1" } else { "" };
    let (name, folder) = (&args.job_name, quoted(&args.output_folder));
    let shard = command_line(launched.shard());
    let options: String =
        launched.audit.merge.iter().map(|word| format!(" {}", quoted(word))).collect();
    format!(
        r#"#!/bin/sh
{comment}set -eu
folder={folder}
case "${{1-submit}}" in
submit)
    mkdir -p "$folder"
    array=$(sbatch --parsable --job-name={name} --array=1-{shards} --cpus-per-task={cpus}{gpu}{limit} \
        --requeue --open-mode=append --output="$folder/shard-%a.log" "$0" shard)
    sbatch --job-name={name}-merge --dependency="afterok:${{array%%;*}}" \
        --kill-on-invalid-dep=yes --output="$folder/result.txt" "$0" merge
    ;;
shard)
    exec {shard} \
        --shard "$SLURM_ARRAY_TASK_ID/{shards}" \
        --checkpoint "$folder/shard-$SLURM_ARRAY_TASK_ID.checkpoint" \
        --out "$folder/shard-$SLURM_ARRAY_TASK_ID.json"
    ;;
merge)
    exec dpscope merge "$folder"/shard-*.json{options}
    ;;
*)
    echo "usage: sh $0 [submit|shard|merge]" >&2
    exit 2
    ;;
esac
"#
    )
}

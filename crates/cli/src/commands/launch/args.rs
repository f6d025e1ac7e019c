//! Arguments of `launch`.

use clap::Args;
use dpscope_core::foreign_text::{ForeignText, is_plain};

use super::device::{device, resource};
use crate::args::{DeviceChoice, positive};

/// Most shards; each is a file.
const MOST_SHARDS: u64 = 10_000;

/// Options of every engine.
#[derive(Debug, Args)]
pub(crate) struct LaunchArgs {
    /// A file of `dpscope plan --json`, or the audit itself after `--`.
    #[arg(required = true, num_args = 1.., value_name = "PLAN | -- AUDIT")]
    pub(super) audit: Vec<String>,
    /// Number of shards.
    #[arg(long, value_name = "N", default_value = "16", value_parser = shards)]
    pub(super) shards: u64,
    /// Device of each shard: cpu, gpu, or part of the name of a GPU; with a GPU, each shard reserves
    /// one [default: that of the audit, or cpu].
    #[arg(long, value_parser = device)]
    pub(super) device: Option<DeviceChoice>,
    /// CPU cores of each shard.
    #[arg(long, value_name = "N", default_value = "1",
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) cpus_per_shard: u16,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dpscope launch slurm --shards 64 -- audit bgm --noise-multiplier 1 \\\n    \
        --steps 100 --observations 1e7\n\n\
        Save the script, and submit it with `sh FILE`. All nodes need the output folder, and dpscope \
        on their PATH. Slurm's default MaxArraySize allows 1000 shards. With --device gpu, each shard \
        reserves one GPU (--gres=gpu:1)."
)]
pub(crate) struct SlurmArgs {
    #[command(flatten)]
    pub(super) launch: LaunchArgs,
    /// Folder of shards, logs and result, shared by all nodes.
    #[arg(long, value_name = "DIR", default_value = "dpscope-shards", value_parser = folder)]
    pub(super) output_folder: String,
    /// Name of the jobs.
    #[arg(long, value_name = "NAME", default_value = "dpscope", value_parser = name)]
    pub(super) job_name: String,
    /// Time limit of each shard, in minutes.
    #[arg(long, value_name = "MINUTES", value_parser = positive)]
    pub(super) time_limit: Option<u64>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dpscope launch kubernetes --image registry.example/dpscope -- audit bgm \\\n    \
        --noise-multiplier 1 --steps 100 --observations 1e7\n\n\
        The image runs dpscope as its entry point. Shards share one volume, which nodes mount \
        together (ReadWriteMany). With --device gpu, the image needs a \
        glibc build of dpscope and the Vulkan loader."
)]
pub(crate) struct KubernetesArgs {
    #[command(flatten)]
    pub(super) launch: LaunchArgs,
    /// Image whose entry point is dpscope.
    #[arg(long, value_name = "IMAGE", value_parser = word)]
    pub(super) image: String,
    /// Name of the Jobs and of the volume.
    #[arg(long, value_name = "NAME", default_value = "dpscope", value_parser = name)]
    pub(super) name: String,
    /// Existing volume claim to use; by default a new one is made.
    #[arg(long, value_name = "NAME", value_parser = claim_name)]
    pub(super) claim_name: Option<String>,
    /// Memory of each shard.
    #[arg(long, value_name = "QUANTITY", default_value = "1Gi", value_parser = quantity)]
    pub(super) memory: String,
    /// Kubernetes resource that stands for a GPU; each shard on a GPU requests one.
    #[arg(long, value_name = "NAME", default_value = "nvidia.com/gpu", value_parser = resource)]
    pub(super) gpu_resource: String,
    /// Time limit of each attempt at a shard, in minutes.
    #[arg(long, value_name = "MINUTES", value_parser = positive)]
    pub(super) time_limit: Option<u64>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dpscope launch ray --storage s3://bucket/run -- audit bgm \\\n    \
        --noise-multiplier 1 --steps 100 --observations 1e7\n\n\
        The printed code needs `pip install 'dpscope[ray]'`, here and on the cluster."
)]
pub(crate) struct RayArgs {
    #[command(flatten)]
    pub(super) launch: LaunchArgs,
    /// Folder of the run: a URL for fsspec that all nodes can reach, such as s3://bucket/run.
    #[arg(long, value_name = "URL", value_parser = storage)]
    pub(super) storage: String,
}

fn shards(text: &str) -> Result<u64, String> {
    match positive(text)? {
        number if number <= MOST_SHARDS => Ok(number),
        _ => Err(format!("`{text}` is too large: the largest value is {MOST_SHARDS}")),
    }
}

/// Text that is safe in scripts once it is quoted.
fn word(text: &str) -> Result<String, String> {
    let is_word = !text.is_empty() && text.chars().all(|c| is_plain(c) && !c.is_whitespace());
    if is_word { Ok(text.to_owned()) } else { Err("expected one word without blanks".to_owned()) }
}

/// A URL or an absolute path: a relative one would be another folder on each node.
fn storage(text: &str) -> Result<String, String> {
    let is_shared = text.contains("://") || std::path::Path::new(text).is_absolute();
    if is_shared && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{}` is not a folder that all nodes reach: expected a URL such as s3://bucket/run, or an \
         absolute path",
        ForeignText::new(text)
    ))
}

/// The name of an object of Kubernetes.
fn claim_name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_name = (1..=253).contains(&text.len())
        && text.split('.').all(|part| {
            part.starts_with(plain)
                && part.ends_with(plain)
                && part.chars().all(|c| plain(c) || c == '-')
        });
    if is_name {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{}` is not a name of Kubernetes: expected at most 253 of a-z, 0-9, - and ., with a letter \
         or digit at both ends of each part",
        ForeignText::new(text)
    ))
}

/// A folder that is not taken for an option, without the `%` and `\` of Slurm's names of files.
fn folder(text: &str) -> Result<String, String> {
    let is_folder = !text.is_empty()
        && !text.starts_with('-')
        && text.chars().all(|c| is_plain(c) && !"%\\".contains(c));
    if is_folder {
        return Ok(text.to_owned());
    }
    Err("expected a folder whose name has no % and no \\, and does not start with -".to_owned())
}

/// A name that Kubernetes takes for its objects, with room for endings such as `-shards-9999`.
fn name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_name = (1..=40).contains(&text.len())
        && text.chars().all(|c| plain(c) || c == '-')
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.ends_with(plain);
    if is_name {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{text}` is not a name: expected at most 40 of a-z, 0-9 and -, with a letter first and no - \
         at the end"
    ))
}

/// An amount of memory in the notation of Kubernetes.
fn quantity(text: &str) -> Result<String, String> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = &text[..text.len() - unit.len()];
    let is_quantity = number.starts_with(|c: char| c != '0')
        && matches!(unit, "" | "k" | "M" | "G" | "T" | "Ki" | "Mi" | "Gi" | "Ti");
    if is_quantity {
        return Ok(text.to_owned());
    }
    Err(format!("`{text}` is not an amount of memory: expected a value such as 512Mi or 4Gi"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_break_scripts_are_rejected() {
        assert!(["dpscope", "a-1"].iter().all(|text| name(text).is_ok()));
        for text in ["", "-a", "a-", "A", "a b", "a_b", "1a", "ä", &"a".repeat(41)] {
            assert!(name(text).is_err(), "{text}");
        }
        assert!(["runs", "/scratch/it's mine"].iter().all(|text| folder(text).is_ok()));
        for text in ["", "-runs", "runs/%a", "a\\b", "a\nb"] {
            assert!(folder(text).is_err(), "{text}");
        }
        assert!(["1Gi", "512Mi", "1000"].iter().all(|text| quantity(text).is_ok()));
        for text in ["", "0", "Gi", "1.5Gi", "1 Gi", "-1", "1gb"] {
            assert!(quantity(text).is_err(), "{text}");
        }
        for text in ["", "a b", "a\nb", "\u{7f}"] {
            assert!(word(text).is_err(), "{text}");
        }
        assert!(["s3://bucket/a run", "memory://run"].iter().all(|text| storage(text).is_ok()));
        for text in ["", "run", "./run", "s3://a\nb"] {
            assert!(storage(text).is_err(), "{text}");
        }
        assert!(["claim", "1.a-b"].iter().all(|text| claim_name(text).is_ok()));
        for text in ["", "-a", "a-", "a..b", "A", "a_b", &"a".repeat(254)] {
            assert!(claim_name(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_of_shards_outside_their_domain_are_rejected() {
        assert_eq!([shards("1"), shards("1e4")], [Ok(1), Ok(10_000)]);
        assert!(["0", "10001", "-1"].iter().all(|text| shards(text).is_err()));
    }
}

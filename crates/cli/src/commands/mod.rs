//! One folder per command: its arguments, its code, its line in the table.

/// An enum of subcommands and its `run`, from a table of variants, arguments and modules.
macro_rules! subcommands {
    ($name:ident { $($(#[$about:meta])* $command:ident($args:ty) => $module:ident,)* }) => {
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum $name { $($(#[$about])* $command($args),)* }

        impl $name {
            pub(crate) fn run(&self) -> crate::failure::Done {
                match self { $($name::$command(args) => $module::run(args),)* }
            }
        }
    };
}

mod audit;
mod bench;
mod bound;
mod calibrate;
mod check;
mod compare;
mod completions;
mod devices;
mod lines;
mod merge;
mod plan;
mod reproduce;
mod resume;
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
        /// What theory says of epsilon: claimed, proven, or of the exact pair.
        Bound(bound::BoundArgs) => bound,
        /// Noise, steps or epochs for a wanted epsilon and delta.
        Calibrate(calibrate::CalibrateArgs) => calibrate,
        /// Claimed, proven and exact epsilon of one training in one table.
        Compare(compare::CompareArgs) => compare,
        /// Claimed and proven epsilon of each training in a table.
        Sweep(sweep::SweepArgs) => sweep,
        /// How many observations a target epsilon needs, and how far a number of them can see.
        Plan(plan::PlanArgs) => plan,
        /// Join the shards of a run.
        Merge(merge::MergeArgs) => merge,
        /// Go on with an interrupted run.
        Resume(resume::ResumeArgs) => resume,
        /// Repeat published audits and print both numbers.
        Reproduce(reproduce::ReproduceArgs) => reproduce,
        /// List what can compute.
        Devices(devices::DevicesArgs) => devices,
        /// Measure how fast each device counts.
        Bench(bench::BenchArgs) => bench,
        /// Whether a described training set-up keeps its claim.
        Check(Box<check::CheckArgs>) => check,
        /// Show the web app, from this program and on this machine only.
        Serve(serve::ServeArgs) => serve,
        /// Print a completion script for a shell.
        Completions(completions::CompletionsArgs) => completions,
    }
}

/// Text in lines of at most 80 columns.
fn wrapped(text: &str) -> String {
    let (mut out, mut width) = (String::new(), 0);
    for word in text.split_whitespace() {
        let more = word.chars().count();
        if width > 0 && width + 1 + more > 80 {
            out.push('\n');
            width = 0;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += more;
    }
    out + "\n"
}

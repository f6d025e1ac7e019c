//! `dpscope launch`: what an engine needs to run an audit in shards. Nothing is started.

mod args;
mod check;
mod device;
mod kubernetes;
mod launched;
mod ray;
mod sharded;
mod slurm;

use args::{KubernetesArgs, RayArgs, SlurmArgs};

use crate::failure::CommandResult;

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

//! `dpscope launch kubernetes`: a manifest of an indexed Job of shards and a Job that merges them.

use super::args::KubernetesArgs;
use super::launched::{Launched, launch};
use crate::failure::CommandResult;

/// Where Jobs find the volume.
const FOLDER: &str = "/shards";

/// Attempts at a shard after the first, without those that the cluster itself ended.
const MOST_RETRIES: u32 = 3;

pub(super) fn run(args: &KubernetesArgs) -> CommandResult {
    launch("kubernetes", &args.launch, |launched| manifest(args, launched))
}

fn manifest(args: &KubernetesArgs, launched: &Launched<'_>) -> String {
    let (name, shards) = (&args.name, args.launch.shards);
    let comment = launched.comment(&[
        "For Kubernetes from 1.29 on. Start the shards, wait for them, merge them and see the result:"
            .to_owned(),
        "kubectl apply -f FILE".to_owned(),
        format!("kubectl wait --for=condition=complete --timeout=-1s job/{name}-shards"),
        format!(
            "kubectl patch job/{name}-merge --type=merge --patch '{{\"spec\":{{\"suspend\":false}}}}'"
        ),
        format!("kubectl logs --follow --pod-running-timeout=10m job/{name}-merge"),
        "If shards fail (kubectl get jobs), delete both Jobs and apply FILE again; the shards continue"
            .to_owned(),
        format!("from their checkpoints: kubectl delete job/{name}-shards job/{name}-merge"),
        "A claim that is refuted ends the merge with exit code 3. Paths are relative to the volume."
            .to_owned(),
    ]);
    let mut shard: Vec<String> = launched.shard().iter().map(|word| escaped(word)).collect();
    // Indices start from 0, shards from 1.
    let index = "$(JOB_COMPLETION_INDEX)";
    shard.extend(["--shard".to_owned(), format!("{index}+1/{shards}")]);
    shard.extend(["--checkpoint".to_owned(), format!("shard-{index}.checkpoint")]);
    shard.extend(["--out".to_owned(), format!("shard-{index}.json")]);
    let files = (0..shards).map(|index| format!("shard-{index}.json"));
    let options = launched.audit.merge.iter().map(|word| escaped(word));
    let merge: Vec<String> = ["merge".to_owned()].into_iter().chain(files).chain(options).collect();
    let limit = args.time_limit.map(|minutes| minutes.saturating_mul(60));
    format!(
        "{comment}{}---
apiVersion: batch/v1
kind: Job
metadata:
  name: {}
spec:
  completionMode: Indexed
  completions: {shards}
  parallelism: {shards}
  backoffLimitPerIndex: {MOST_RETRIES}
  podFailurePolicy:
    rules:
      - action: Ignore # the node was drained or lost
        onPodConditions:
          - type: DisruptionTarget
            status: \"True\"
      - action: FailJob # files of another run
        onExitCodes:
          containerName: dpscope
          operator: In
          values: [5]
{}---
apiVersion: batch/v1
kind: Job
metadata:
  name: {}
spec:
  suspend: true # until the shards are complete
  backoffLimit: 0
{}",
        claim(args),
        scalar(&format!("{name}-shards")),
        pod(args, limit, (args.launch.cpus_per_shard, launched.has_gpu()), &shard),
        scalar(&format!("{name}-merge")),
        pod(args, None, (1, false), &merge),
    )
}

fn claim(args: &KubernetesArgs) -> String {
    if args.claim_name.is_some() {
        return String::new();
    }
    format!(
        "---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {}
spec:
  accessModes: [ReadWriteMany]
  resources:
    requests:
      storage: 1Gi
",
        scalar(&args.name)
    )
}

/// The template of a Pod that runs dpscope once, unprivileged, in the folder of the volume.
fn pod(
    args: &KubernetesArgs,
    limit: Option<u64>,
    (cpus, has_gpu): (u16, bool),
    arguments: &[String],
) -> String {
    let KubernetesArgs { memory, name, gpu_resource, .. } = args;
    let claim = args.claim_name.as_ref().unwrap_or(name);
    let limit = limit.map_or(String::new(), |s| format!("      activeDeadlineSeconds: {s}\n"));
    let words: String =
        arguments.iter().map(|word| format!("            - {}\n", scalar(word))).collect();
    let gpu = match has_gpu {
        true => format!("              {}: \"1\"\n", scalar(gpu_resource)),
        false => String::new(),
    };
    // By default NVIDIA's container runtime mounts no graphics driver, which Vulkan needs.
    let variables = match has_gpu && gpu_resource.starts_with("nvidia.com/") {
        true => {
            "          env:
            - name: NVIDIA_DRIVER_CAPABILITIES
              value: compute,graphics,utility
"
        }
        false => "",
    };
    format!(
        "  template:
    spec:
      restartPolicy: Never
{limit}      automountServiceAccountToken: false
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        fsGroup: 65532
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: dpscope
          image: {}
          workingDir: {FOLDER}
          args:
{words}{variables}          resources:
            requests:
              cpu: \"{cpus}\"
              memory: {memory}
            limits:
              memory: {memory}
{gpu}          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
          volumeMounts:
            - name: shards
              mountPath: {FOLDER}
      volumes:
        - name: shards
          persistentVolumeClaim:
            claimName: {}
",
        scalar(&args.image),
        scalar(claim),
    )
}

/// A scalar of YAML in double quotation marks: JSON's strings are.
fn scalar(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A word in which Kubernetes replaces no variable.
fn escaped(word: &str) -> String {
    word.replace('$', "$$")
}

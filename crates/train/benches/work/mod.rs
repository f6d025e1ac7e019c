//! A step of a training without its noise, and how long it takes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use dpscope_train::{ModelSpec, Network, Rows, Workspace};

/// Records of a batch.
pub(crate) const ROWS: usize = 100;

/// A network with a batch.
pub(crate) struct Step {
    network: Network,
    theta: Vec<f32>,
    examples: Vec<f32>,
    labels: Vec<u32>,
    work: Workspace,
    out: Vec<f32>,
    norms: Vec<f32>,
}

impl Step {
    /// `density` of the values are 1 and the rest 0, or all are spread over 0 to 1.
    pub(crate) fn new(spec: &ModelSpec, density: Option<f64>) -> Option<Self> {
        let network = Network::new(spec).ok()?;
        let mut state = 1_u64;
        let mut uniform = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let theta = network.initial(&mut uniform);
        let value = |_| match density {
            Some(density) => f32::from(u8::from(uniform() < density)),
            None => uniform() as f32,
        };
        let examples = (0..ROWS * network.inputs()).map(value).collect();
        let labels = (0..ROWS).map(|row| (row % network.classes()) as u32).collect();
        let out = vec![0.0; theta.len()];
        let work = Workspace::new(&network, ROWS);
        Some(Self { network, theta, examples, labels, work, out, norms: Vec::new() })
    }

    pub(crate) fn run(&mut self) {
        let rows = Rows { examples: &self.examples, labels: &self.labels };
        let (work, out) = (&mut self.work, &mut self.out);
        self.network.clipped_sum(&self.theta, rows, 0.5, work, out, &mut self.norms);
        black_box(&mut self.out);
    }

    pub(crate) fn operations(&self) -> u64 {
        self.network.operations() * ROWS as u64
    }
}

/// The shortest of many times: what others on the machine cost is left out.
pub(crate) fn shortest(mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    let mut shortest = Duration::MAX;
    while start.elapsed() < Duration::from_secs(3) {
        let start = Instant::now();
        run();
        shortest = shortest.min(start.elapsed());
    }
    shortest
}

//! A training loop that records its noisy sums, and writers of the formats that users have.

use dpscope_tests::Draws;

/// DP-SGD with per-example gradients of +1 for the target and −1 for every other record that the attacker
/// controls; the target is the first record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trainer {
    pub(crate) sampler: &'static str,
    pub(crate) threat_model: &'static str,
    pub(crate) noise_multiplier: f64,
    pub(crate) steps: usize,
    pub(crate) epochs: usize,
    pub(crate) batch_size: usize,
    pub(crate) buffer: usize,
}

impl Trainer {
    pub(crate) const SHUFFLE: Trainer = Trainer {
        sampler: "shuffle",
        threat_model: "worst-case",
        noise_multiplier: 0.5,
        steps: 10,
        epochs: 1,
        batch_size: 8,
        buffer: 0,
    };

    /// Noisy sums of one run, epoch-major.
    pub(crate) fn run(&self, target: bool, draws: &mut Draws) -> Vec<f64> {
        let fixed = self.place(draws);
        let mut outputs = Vec::with_capacity(self.epochs * self.steps);
        for _ in 0..self.epochs {
            let place =
                if self.sampler == "persistent-shuffle" { fixed } else { self.place(draws) };
            for step in 0..self.steps {
                let holds_target = match self.sampler {
                    "poisson" => draws.below(self.steps) == 0,
                    _ => step == place,
                };
                let sum = self.sum(holds_target, target);
                outputs.push(sum + self.noise_multiplier * draws.normal());
            }
        }
        outputs
    }

    /// `runs` of both worlds, at the precision of `f32`.
    pub(crate) fn worlds(&self, runs: usize, seed: u64) -> [Vec<f64>; 2] {
        let mut draws = Draws::new(seed);
        [true, false].map(|target| {
            let outputs = (0..runs).flat_map(|_| self.run(target, &mut draws));
            outputs.map(|output| f64::from(output as f32)).collect()
        })
    }

    /// The step of an epoch whose batch contains the target.
    fn place(&self, draws: &mut Draws) -> usize {
        let records = self.steps * self.batch_size;
        let position = match self.sampler {
            "deterministic" | "poisson" => 0,
            "partial-shuffle" => draws.below(self.buffer),
            // Drawn from a reservoir that is refilled until the records run out.
            "sliding-buffer" => (0..records)
                .find(|drawn| draws.below(self.buffer.min(records - drawn)) == 0)
                .unwrap_or(0),
            _ => draws.below(records),
        };
        position / self.batch_size
    }

    fn sum(&self, holds_target: bool, target: bool) -> f64 {
        let batch = self.batch_size as f64;
        let own = if target { 1.0 } else { 0.0 };
        match (self.sampler, self.threat_model, holds_target) {
            ("batch-then-shuffle", _, true) => batch - 1.0 + own,
            (_, "worst-case", true) => own - (batch - 1.0),
            (_, "worst-case", false) => -batch,
            (_, "partially-informed", false) => -1.0,
            (_, _, true) => own,
            (_, _, false) => 0.0,
        }
    }

    /// The options that describe this trainer.
    pub(crate) fn words(&self) -> String {
        let Trainer { sampler, threat_model, noise_multiplier, batch_size, .. } = self;
        let buffer = match self.buffer {
            0 => String::new(),
            buffer => format!(" --buffer-examples {buffer}"),
        };
        format!(
            "--sampler {sampler} --threat-model {threat_model} --noise-multiplier \
             {noise_multiplier} --batch-size {batch_size}{buffer}"
        )
    }
}

/// An npy file.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let axes: String = shape.iter().map(|length| format!("{length}, ")).collect();
    npy_header(&format!("'{descr}'"), if fortran { "True" } else { "False" }, &axes, data)
}

/// An npy file of any dtype and shape, however absurd.
pub(crate) fn npy_header(descr: &str, fortran: &str, axes: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': ({axes}), }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

/// An npy file of `<f8`.
pub(crate) fn npy_f8(shape: &[usize], values: &[f64]) -> Vec<u8> {
    npy("<f8", false, shape, &bytes(values))
}

/// Little-endian doubles.
pub(crate) fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A safetensors file of the arrays `target` and `zero_out`, F32.
pub(crate) fn safetensors(shape: &[usize], worlds: &[Vec<f64>; 2]) -> Vec<u8> {
    let data: Vec<u8> =
        worlds.iter().flatten().flat_map(|&value| (value as f32).to_le_bytes()).collect();
    let middle = 4 * worlds[0].len();
    let tensor = |start, end| serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [start, end]});
    let header = serde_json::json!({
        "target": tensor(0, middle), "zero_out": tensor(middle, data.len()),
    });
    let header = header.to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}

/// Rows of numbers with commas.
pub(crate) fn csv(values: &[f64], columns: usize) -> String {
    let row = |row: &[f64]| row.iter().map(|v| format!("{v:?}")).collect::<Vec<_>>().join(",");
    values.chunks(columns).map(|values| row(values) + "\n").collect()
}

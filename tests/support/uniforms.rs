//! The uniforms of recorded outputs in reference data, which their generators draw in the same way.

/// Uniforms on (0, 1) by a linear congruence of 64 bits, from its state.
#[derive(Debug)]
pub struct Uniforms(pub u64);

impl Uniforms {
    /// The next uniform.
    pub fn draw(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// A number below `bound`, from the next uniform.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.draw() * bound as f64) as usize
    }
}

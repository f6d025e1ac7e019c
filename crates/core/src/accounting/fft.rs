//! Fourier transforms of real sequences whose length is 2ᵏ or 3·2ᵏ, with a bound on their error.
//!
//! Hand-written: other packages compute twiddle factors with the platform's sine, whose bits differ
//! between machines, and the error bound depends on each operation.

use crate::math;

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Complex {
    pub(super) re: f64,
    pub(super) im: f64,
}

impl Complex {
    const fn new(re: f64, im: f64) -> Self {
        Complex { re, im }
    }

    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        Complex::new(self.re + other.re, self.im + other.im)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Complex::new(self.re - other.re, self.im - other.im)
    }

    #[inline(always)]
    pub(super) fn times(self, other: Self) -> Self {
        Complex::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }

    #[inline(always)]
    fn conjugate(self) -> Self {
        Complex::new(self.re, -self.im)
    }

    #[inline(always)]
    fn halved(self) -> Self {
        Complex::new(0.5 * self.re, 0.5 * self.im)
    }

    /// √3/2 times the number.
    #[inline(always)]
    fn in_triangle(self) -> Self {
        const HEIGHT: f64 = 0.866_025_403_784_438_6;
        Complex::new(HEIGHT * self.re, HEIGHT * self.im)
    }

    /// −i times the number.
    #[inline(always)]
    fn turned(self) -> Self {
        Complex::new(self.im, -self.re)
    }

    #[inline(always)]
    pub(super) fn squared_length(self) -> f64 {
        self.re * self.re + self.im * self.im
    }
}

/// A real sequence whose neighbours are the parts of complex numbers.
#[derive(Debug)]
pub(super) struct Packed(Vec<Complex>);

impl Packed {
    /// `length`: even.
    pub(super) fn zeros(length: usize) -> Self {
        Packed(vec![Complex::new(0.0, 0.0); length / 2])
    }

    pub(super) fn len(&self) -> usize {
        2 * self.0.len()
    }

    pub(super) fn get(&self, place: usize) -> f64 {
        let pair = self.0[place / 2];
        if place.is_multiple_of(2) { pair.re } else { pair.im }
    }

    pub(super) fn add(&mut self, place: usize, value: f64) {
        let pair = &mut self.0[place / 2];
        *(if place.is_multiple_of(2) { &mut pair.re } else { &mut pair.im }) += value;
    }
}

/// Transforms of real sequences of one length.
///
/// Packed in pairs, a sequence has L or 3L complex numbers, L a power of two. Of 3L values of its
/// spectrum, the first third are those of f = 3f′, the second those of 3f′ + 1, the last those of
/// 3f′ + 2; each third is in bit-reversed order of f′, so that no transform permutes. Spectra stay in
/// the memory of their sequence.
#[derive(Debug)]
pub(super) struct RealTransform {
    /// e^{−iπρ(s)}, s < L, ρ the van der Corput sequence 0, ½, ¼, ¾, …
    twiddles: Vec<Complex>,
    thirds: Option<Thirds>,
    /// 1/length
    inverse: f64,
}

/// Factors of transforms in three parts.
#[derive(Debug)]
struct Thirds {
    /// e^{−2πik/3L}, k < L
    twists: Vec<Complex>,
    /// e^{−iπj/3L} of the parts j = 0, 1, 2
    phases: [Complex; 3],
}

impl RealTransform {
    /// Bound of each component of a transform: |computed − exact| ≤ `error(length)`·Σ|input|.
    ///
    /// A level multiplies (√5 u) by a twiddle (8 u: a product of two from `sincos`) and adds (u);
    /// u = 2⁻⁵³. A transform in three parts has at most 36 u more: 6 u to add, 18 u for the square of
    /// a twist and 2√5 u for its two products, 6 u for a phase and its product, u for 1/length.
    pub(super) fn error(length: usize) -> f64 {
        let in_three = if length.is_power_of_two() { 0 } else { 3 };
        let levels = f64::from(length.max(2).trailing_zeros() + 1 + in_three);
        12.0 * levels * 0.5 * f64::EPSILON
    }

    /// The least length of a transform that has at least this many points.
    pub(super) fn length_for(points: usize) -> usize {
        let length = points.next_power_of_two().max(4);
        let in_three = length / 4 * 3;
        if in_three >= points.max(12) { in_three } else { length }
    }

    /// `length`: a power of two ≥ 4, or three times such a power.
    pub(super) fn new(length: usize) -> Self {
        let is_power = length.is_power_of_two();
        let part = if is_power { length / 2 } else { length / 6 };
        debug_assert!(part >= 2 && (is_power || length == 6 * part && part.is_power_of_two()));
        let thirds = (!is_power).then(|| Thirds::new(part));
        RealTransform {
            twiddles: unit_roots(part, &van_der_corput),
            thirds,
            inverse: 1.0 / length as f64,
        }
    }

    /// The packed sequence with each value X_f of its spectrum, f = 0 … length/2, replaced by its
    /// image.
    ///
    /// The image receives the place of f: that in the spectrum, or length/2 for f = length/2.
    pub(super) fn with_spectrum(
        &self,
        mut packed: Packed,
        mut image: impl FnMut(usize, Complex) -> Complex,
    ) -> Packed {
        let values = &mut packed.0;
        self.forward(values);
        for place in 0..values.len() {
            let other = self.opposite(place);
            if other < place {
                continue;
            }
            let (even, odd) = self.halves(values, place);
            let (here, there) = (even.plus(odd), even.minus(odd).conjugate());
            let here = image(place, here);
            let there = match place {
                0 => image(values.len(), there),
                1 => here, // f = length/4 is its own opposite
                _ => image(other, there),
            };
            values[other] = self.repacked(there, here.conjugate(), other);
            values[place] = self.repacked(here, there.conjugate(), place);
        }
        self.backward(values);
        packed
    }

    /// X_f for f = 0 … length/2, in the order of the places of [`Self::with_spectrum`].
    pub(super) fn spectrum(&self, packed: Packed) -> Vec<Complex> {
        let mut values = packed.0;
        self.forward(&mut values);
        let last = |(even, odd): (Complex, Complex)| even.minus(odd);
        let of = |place: usize| self.halves(&values, place);
        let all = (0..values.len()).map(|place| {
            let (even, odd) = of(place);
            even.plus(odd)
        });
        all.chain([last(of(0))]).collect()
    }

    /// X_f for f = 0 … `last` < length/2, in this order.
    pub(super) fn low_spectrum(&self, packed: Packed, last: usize) -> Vec<Complex> {
        let mut values = packed.0;
        self.forward(&mut values);
        (0..=last)
            .map(|frequency| {
                let (even, odd) = self.halves(&values, self.place_of(frequency));
                even.plus(odd)
            })
            .collect()
    }

    /// Length L of a part: all of the packed sequence, or a third.
    fn part(&self) -> usize {
        self.twiddles.len()
    }

    fn place_of(&self, frequency: usize) -> usize {
        let bits = self.part().trailing_zeros();
        match self.thirds {
            None => reversed(frequency, bits),
            Some(_) => frequency % 3 * self.part() + reversed(frequency / 3, bits),
        }
    }

    /// The place of −f, if f is at `place`: −(3f′ + 1) is 3(L − 1 − f′) + 2.
    #[inline]
    fn opposite(&self, place: usize) -> usize {
        let part = self.part();
        match place.checked_sub(part) {
            None => opposite(place),
            Some(rest) if rest < part => 2 * part + (rest ^ (part - 1)),
            Some(rest) => part + ((rest - part) ^ (part - 1)),
        }
    }

    /// e^{−iπf/M}, M the number of complex numbers, for the f at `place`.
    #[inline]
    fn twiddle(&self, place: usize) -> Complex {
        match &self.thirds {
            Some(thirds) if place >= self.part() => {
                let (third, place) = (place / self.part(), place % self.part());
                self.twiddles[place].times(thirds.phases[third])
            }
            _ => self.twiddles[place],
        }
    }

    /// The contributions of even and odd inputs to X_f.
    #[inline]
    fn halves(&self, packed: &[Complex], place: usize) -> (Complex, Complex) {
        let (here, there) = (packed[place], packed[self.opposite(place)].conjugate());
        let even = here.plus(there).halved();
        let odd = here.minus(there).halved().turned().times(self.twiddle(place));
        (even, odd)
    }

    /// The transform of the packed sequence, over length/2, from X_f and X_{f + length/2}.
    #[inline]
    fn repacked(&self, low: Complex, high: Complex, place: usize) -> Complex {
        let scaled =
            |value: Complex| Complex::new(self.inverse * value.re, self.inverse * value.im);
        let even = scaled(low.plus(high));
        let odd = scaled(low.minus(high)).times(self.twiddle(place).conjugate());
        Complex::new(even.re - odd.im, even.im + odd.re)
    }

    /// Natural order to that of the spectrum.
    fn forward(&self, values: &mut [Complex]) {
        if let Some(thirds) = &self.thirds {
            thirds.split(values);
        }
        for part in values.chunks_exact_mut(self.part()) {
            self.forward_part(part);
        }
    }

    /// The inverse of [`Self::forward`], times the number of values.
    fn backward(&self, values: &mut [Complex]) {
        for part in values.chunks_exact_mut(self.part()) {
            self.backward_part(part);
        }
        if let Some(thirds) = &self.thirds {
            thirds.join(values);
        }
    }

    /// Natural order to bit-reversed order, two levels at a time.
    fn forward_part(&self, values: &mut [Complex]) {
        let mut blocks = 1;
        let mut quarter = values.len() / 4;
        if values.len().trailing_zeros() % 2 == 1 {
            let (low, high) = values.split_at_mut(values.len() / 2);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (a.plus(*b), a.minus(*b));
            }
            blocks = 2;
            quarter = values.len() / 8;
        }
        while quarter > 0 {
            for (block, chunk) in values.chunks_exact_mut(4 * quarter).enumerate() {
                let (outer, inner) = (self.twiddles[block], self.twiddles[2 * block]);
                let (first, second) = chunk.split_at_mut(2 * quarter);
                let (a, b) = first.split_at_mut(quarter);
                let (c, d) = second.split_at_mut(quarter);
                for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
                    let (far, farther) = (c.times(outer), d.times(outer));
                    let (sum, change) = (a.plus(far), a.minus(far));
                    let next = b.plus(farther).times(inner);
                    let turned = b.minus(farther).times(inner).turned();
                    (*a, *b) = (sum.plus(next), sum.minus(next));
                    (*c, *d) = (change.plus(turned), change.minus(turned));
                }
            }
            blocks *= 4;
            quarter /= 4;
        }
        debug_assert!(blocks == values.len() || values.len() < 2);
    }

    /// The inverse of [`Self::forward_part`], times L.
    fn backward_part(&self, values: &mut [Complex]) {
        let mut quarter = 1;
        while 4 * quarter <= values.len() {
            for (block, chunk) in values.chunks_exact_mut(4 * quarter).enumerate() {
                let outer = self.twiddles[block].conjugate();
                let inner = self.twiddles[2 * block].conjugate();
                let (first, second) = chunk.split_at_mut(2 * quarter);
                let (a, b) = first.split_at_mut(quarter);
                let (c, d) = second.split_at_mut(quarter);
                for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
                    let (sum, next) = (a.plus(*b), a.minus(*b).times(inner));
                    let (change, turned) = (c.plus(*d), c.minus(*d).times(inner));
                    let turned = Complex::new(-turned.im, turned.re);
                    (*a, *b) = (sum.plus(change), next.plus(turned));
                    *c = sum.minus(change).times(outer);
                    *d = next.minus(turned).times(outer);
                }
            }
            quarter *= 4;
        }
        if 2 * quarter == values.len() {
            let (low, high) = values.split_at_mut(quarter);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (a.plus(*b), a.minus(*b));
            }
        }
    }
}

impl Thirds {
    /// `part`: L.
    fn new(part: usize) -> Self {
        let all = 3.0 * part as f64;
        let phase = |turn: f64| {
            let (sine, cosine) = math::sin_cos(std::f64::consts::PI * turn / all);
            Complex::new(cosine, -sine)
        };
        Thirds {
            twists: unit_roots(part, &|place| 2.0 * place as f64 / all),
            phases: [0.0, 1.0, 2.0].map(phase),
        }
    }

    /// Three sequences whose spectra are the thirds of that of all values.
    fn split(&self, values: &mut [Complex]) {
        let (first, rest) = values.split_at_mut(self.twists.len());
        let (second, last) = rest.split_at_mut(self.twists.len());
        for (((a, b), c), twist) in first.iter_mut().zip(second).zip(last).zip(&self.twists) {
            let (sum, change) = (b.plus(*c), b.minus(*c).in_triangle().turned());
            let middle = a.minus(sum.halved());
            *a = a.plus(sum);
            *b = middle.plus(change).times(*twist);
            *c = middle.minus(change).times(twist.times(*twist));
        }
    }

    /// The inverse of [`Self::split`], times 3.
    fn join(&self, values: &mut [Complex]) {
        let (first, rest) = values.split_at_mut(self.twists.len());
        let (second, last) = rest.split_at_mut(self.twists.len());
        for (((a, b), c), twist) in first.iter_mut().zip(second).zip(last).zip(&self.twists) {
            let second = b.times(twist.conjugate());
            let last = c.times(twist.times(*twist).conjugate());
            let (sum, change) = (second.plus(last), second.minus(last).in_triangle().turned());
            let middle = a.minus(sum.halved());
            *a = a.plus(sum);
            *b = middle.minus(change);
            *c = middle.plus(change);
        }
    }
}

/// The lowest bits in reverse order.
fn reversed(place: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { place.reverse_bits() >> (usize::BITS - bits) }
}

/// The place of −f in bit-reversed order, if f is at `place`: all bits below the highest flip.
fn opposite(place: usize) -> usize {
    match place.checked_ilog2() {
        None => 0,
        Some(highest) => place ^ ((1 << highest) - 1),
    }
}

/// e^{−iπ·turn(s)}, s < `count`, a power of two.
///
/// `turn`: the sum of those of the high bits of its argument and of the low bits.
fn unit_roots(count: usize, turn: &dyn Fn(usize) -> f64) -> Vec<Complex> {
    let root = |index: usize| {
        let (sine, cosine) = math::sin_cos(std::f64::consts::PI * turn(index));
        Complex::new(cosine, -sine)
    };
    let low_count = 1_usize << (count.trailing_zeros() / 2);
    let low: Vec<Complex> = (0..low_count).map(root).collect();
    let high: Vec<Complex> = (0..count).step_by(low_count).map(root).collect();
    (0..count).map(|index| low[index % low_count].times(high[index / low_count])).collect()
}

/// 0.b₀b₁b₂… in base 2, for the index …b₂b₁b₀.
fn van_der_corput(index: usize) -> f64 {
    (index as u64).reverse_bits() as f64 / 18_446_744_073_709_551_616.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(length: usize) -> Vec<f64> {
        (0..length).map(|index| ((index * 37 + 11) % 101) as f64 / 101.0 - 0.3).collect()
    }

    fn direct(input: &[f64], frequency: usize) -> Complex {
        let mut sum = Complex::new(0.0, 0.0);
        for (index, value) in input.iter().enumerate() {
            let turn = (index * frequency % input.len()) as f64 / input.len() as f64;
            let (sine, cosine) = math::sin_cos(std::f64::consts::TAU * turn);
            sum = sum.plus(Complex::new(value * cosine, -value * sine));
        }
        sum
    }

    fn packed(input: &[f64]) -> Packed {
        let mut packed = Packed::zeros(input.len());
        input.iter().enumerate().for_each(|(place, value)| packed.add(place, *value));
        packed
    }

    fn worst_change(length: usize, spectrum: &[Complex]) -> f64 {
        let (input, transform) = (ramp(length), RealTransform::new(length));
        let half = length / 2;
        let mut worst = 0.0_f64;
        for frequency in 0..=half {
            let place = if frequency == half { half } else { transform.place_of(frequency) };
            let seen = &spectrum[place];
            worst = worst.max(seen.minus(direct(&input, frequency)).squared_length().sqrt());
        }
        worst / input.iter().map(|value| value.abs()).sum::<f64>()
    }

    #[test]
    fn spectrum_is_the_sum_by_definition() {
        for length in [4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 512, 768, 1024, 1536] {
            let transform = RealTransform::new(length);
            let spectrum = transform.spectrum(packed(&ramp(length)));
            let worst = worst_change(length, &spectrum);
            assert!(worst < RealTransform::error(length), "{length}: {worst:e}");
            let low = transform.low_spectrum(packed(&ramp(length)), length / 2 - 1);
            let same = (0..length / 2).map(|frequency| spectrum[transform.place_of(frequency)]);
            assert!(low.into_iter().eq(same), "{length}");
            let mut seen = vec![Complex::new(0.0, 0.0); length / 2 + 1];
            transform.with_spectrum(packed(&ramp(length)), |place, value| {
                seen[place] = value;
                value
            });
            let worst = worst_change(length, &seen);
            assert!(worst < RealTransform::error(length), "{length}: {worst:e}");
        }
    }

    #[test]
    fn one_exchanged_pair_is_detected() {
        for length in [64, 96] {
            let mut spectrum = RealTransform::new(length).spectrum(packed(&ramp(length)));
            spectrum.swap(3, 5);
            assert!(worst_change(length, &spectrum) > RealTransform::error(length));
        }
    }

    #[test]
    fn an_unchanged_spectrum_changes_nothing() {
        for length in [4, 8, 12, 24, 256, 768, 2048, 1 << 15, 3 << 14] {
            let input = ramp(length);
            let back = RealTransform::new(length).with_spectrum(packed(&input), |_, value| value);
            for (place, value) in input.iter().enumerate() {
                let seen = back.get(place);
                assert!((seen - value).abs() < 1e-13, "{length}: {seen} {value}");
            }
        }
    }

    #[test]
    fn squares_convolve() {
        for length in [12, 64, 96] {
            let (input, mut twice) = (ramp(length), vec![0.0; length]);
            for (first, a) in input.iter().enumerate() {
                for (second, b) in input.iter().enumerate() {
                    twice[(first + second) % length] += a * b;
                }
            }
            let squared = RealTransform::new(length)
                .with_spectrum(packed(&input), |_, value| value.times(value));
            for (place, value) in twice.iter().enumerate() {
                assert!((squared.get(place) - value).abs() < 1e-12, "{length}: {place}");
            }
        }
    }

    #[test]
    fn lengths_hold_the_points() {
        for (points, length) in [(1, 4), (9, 12), (12, 12), (13, 16), (17, 24), (25, 32), (97, 128)]
        {
            assert_eq!(RealTransform::length_for(points), length);
        }
    }
}

//! WGSL operations on words of 64 lanes; operations that WGSL leaves undefined are errors.

use naga::{BinaryOperator, MathFunction, ScalarKind, UnaryOperator};

/// Invocations of a workgroup.
pub(crate) const LANES: usize = 64;

/// A value per lane, word by word; true is 1.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words(pub(crate) Vec<[u32; LANES]>);

impl Words {
    pub(crate) fn zeros(count: usize) -> Self {
        Words(vec![[0; LANES]; count])
    }

    /// One word that is `word` in all lanes.
    pub(crate) fn of(word: u32) -> Self {
        Words(vec![[word; LANES]])
    }

    /// A word of this value; a scalar is broadcast.
    fn row(&self, at: usize) -> &[u32; LANES] {
        &self.0[if self.0.len() == 1 { 0 } else { at }]
    }

    /// Mask of the lanes in which a boolean is true.
    pub(crate) fn lanes(&self) -> u64 {
        (0..LANES).filter(|&lane| self.0[0][lane] != 0).fold(0, |mask, lane| mask | 1 << lane)
    }
}

fn float(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// Applies `operation` to each word of the active lanes; the others are 0.
fn map_lanes(
    mask: u64,
    operands: &[&Words],
    operation: impl Fn(&[u32]) -> Result<u32, String>,
) -> Result<Words, String> {
    let count = operands.iter().map(|words| words.0.len()).fold(0, usize::max);
    let mut found = Words::zeros(count);
    let mut inputs = [0; 4];
    for word in 0..count {
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            for (input, operand) in inputs.iter_mut().zip(operands) {
                *input = operand.row(word)[lane];
            }
            found.0[word][lane] = operation(&inputs[..operands.len()])?;
        }
    }
    Ok(found)
}

pub(crate) fn binary(
    op: BinaryOperator,
    kind: ScalarKind,
    operands: [&Words; 2],
    mask: u64,
) -> Result<Words, String> {
    map_lanes(mask, &operands, |inputs| {
        let (a, b) = (inputs[0], inputs[1]);
        match kind {
            ScalarKind::Float => float_operation(op, float(a), float(b)),
            _ => integer_operation(op, kind == ScalarKind::Sint, a, b),
        }
    })
}

fn float_operation(op: BinaryOperator, a: f32, b: f32) -> Result<u32, String> {
    use BinaryOperator as Op;
    Ok(match op {
        Op::Add => (a + b).to_bits(),
        Op::Subtract => (a - b).to_bits(),
        Op::Multiply => (a * b).to_bits(),
        Op::Divide => (a / b).to_bits(),
        Op::Equal => u32::from(a == b),
        Op::NotEqual => u32::from(a != b),
        Op::Less => u32::from(a < b),
        Op::LessEqual => u32::from(a <= b),
        Op::Greater => u32::from(a > b),
        Op::GreaterEqual => u32::from(a >= b),
        other => return Err(format!("{other:?} of floats")),
    })
}

fn integer_operation(op: BinaryOperator, is_signed: bool, a: u32, b: u32) -> Result<u32, String> {
    use BinaryOperator as Op;
    let (i, j) = (a as i32, b as i32);
    let order = if is_signed { i.cmp(&j) } else { a.cmp(&b) };
    let undefined = || Err(format!("{op:?} of {a} and {b}"));
    Ok(match op {
        Op::Add => a.wrapping_add(b),
        Op::Subtract => a.wrapping_sub(b),
        Op::Multiply => a.wrapping_mul(b),
        Op::Divide | Op::Modulo if b == 0 || is_signed && (i == i32::MIN && j == -1) => {
            return undefined();
        }
        Op::Divide if is_signed => (i / j) as u32,
        Op::Divide => a / b,
        Op::Modulo if is_signed => (i % j) as u32,
        Op::Modulo => a % b,
        Op::Equal => u32::from(order.is_eq()),
        Op::NotEqual => u32::from(order.is_ne()),
        Op::Less => u32::from(order.is_lt()),
        Op::LessEqual => u32::from(order.is_le()),
        Op::Greater => u32::from(order.is_gt()),
        Op::GreaterEqual => u32::from(order.is_ge()),
        Op::And | Op::LogicalAnd => a & b,
        Op::InclusiveOr | Op::LogicalOr => a | b,
        Op::ExclusiveOr => a ^ b,
        Op::ShiftLeft | Op::ShiftRight if b >= 32 => return undefined(),
        Op::ShiftLeft => a << b,
        Op::ShiftRight if is_signed => (i >> b) as u32,
        Op::ShiftRight => a >> b,
    })
}

pub(crate) fn unary(
    op: UnaryOperator,
    kind: ScalarKind,
    operand: &Words,
    mask: u64,
) -> Result<Words, String> {
    map_lanes(mask, &[operand], |inputs| {
        let a = inputs[0];
        Ok(match (op, kind) {
            (UnaryOperator::Negate, ScalarKind::Float) => a ^ 1 << 31,
            (UnaryOperator::Negate, _) => a.wrapping_neg(),
            (UnaryOperator::LogicalNot, _) => a ^ 1,
            (UnaryOperator::BitwiseNot, _) => !a,
        })
    })
}

pub(crate) fn math(
    function: MathFunction,
    kind: ScalarKind,
    operands: &[&Words],
    mask: u64,
) -> Result<Words, String> {
    let order = |a: u32, b: u32| match kind {
        ScalarKind::Float => float(a) < float(b),
        ScalarKind::Sint => (a as i32) < b as i32,
        _ => a < b,
    };
    let [min, max] = [|a, b, less: bool| if less { a } else { b }; 2];
    map_lanes(mask, operands, |inputs| {
        let a = inputs[0];
        Ok(match (function, kind, &inputs[1..]) {
            (MathFunction::Min, _, &[b]) => min(a, b, order(a, b)),
            (MathFunction::Max, _, &[b]) => max(a, b, order(b, a)),
            (MathFunction::Clamp, _, &[low, high]) => {
                let raised = max(a, low, order(low, a));
                min(raised, high, order(raised, high))
            }
            (MathFunction::Abs, ScalarKind::Float, _) => a & 0x7fff_ffff,
            // drivers may compute √0 as 0·(1/√0)
            (MathFunction::Sqrt, _, _) if float(a) <= 0.0 => return Err(format!("√{}", float(a))),
            (MathFunction::Sqrt, _, _) => float(a).sqrt().to_bits(),
            (MathFunction::CountLeadingZeros, _, _) => a.leading_zeros(),
            (other, _, _) => return Err(format!("{other:?} is not simulated")),
        })
    })
}

/// Converts a number to another kind.
pub(crate) fn convert(
    from: ScalarKind,
    to: ScalarKind,
    operand: &Words,
    mask: u64,
) -> Result<Words, String> {
    use ScalarKind::{Bool, Float, Sint, Uint};
    map_lanes(mask, &[operand], |inputs| {
        let a = inputs[0];
        let x = f64::from(float(a));
        let check_range = |min: f64, max: f64| {
            if x > min && x < max { Ok(()) } else { Err(format!("{x} as an integer")) }
        };
        Ok(match (from, to) {
            (Float, Sint) => {
                check_range(-2_147_483_649.0, 2_147_483_648.0)?;
                x as i32 as u32
            }
            (Float, Uint) => {
                check_range(-1.0, 4_294_967_296.0)?;
                x as u32
            }
            (Sint, Float) => (a as i32 as f32).to_bits(),
            (Uint, Float) => (a as f32).to_bits(),
            (Bool, Float) => (a as f32).to_bits(),
            (_, Bool) => u32::from(a != 0),
            _ => a,
        })
    })
}

pub(crate) fn select(
    condition: &Words,
    accept: &Words,
    reject: &Words,
    mask: u64,
) -> Result<Words, String> {
    map_lanes(mask, &[condition, accept, reject], |inputs| {
        Ok(if inputs[0] != 0 { inputs[1] } else { inputs[2] })
    })
}

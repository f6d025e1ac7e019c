//! Training kernels detect NaN by bits that the compiler does not know to be those of a float: a
//! compiler that assumes finite floats evaluates `x != x`, and tests of the bits of x, at compile
//! time.

use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::Variant;
use naga::{
    BinaryOperator, Expression, Function, Handle, Literal, MathFunction, Module, ScalarKind,
    Statement,
};

use crate::wgsl::train::kernels;
use crate::wgsl::{edited, validated};

/// Compares floats for equality, but only in exact mode, which training does not use.
const EXCEPTION: &str = "root";

/// Whether a value consists of unhidden bits of a float.
fn is_bare(module: &Module, function: &Function, handle: Handle<Expression>) -> bool {
    let of = |handle| is_bare(module, function, handle);
    match function.expressions[handle] {
        Expression::As { kind, convert: None, .. } => kind != ScalarKind::Float,
        Expression::Binary { op: BinaryOperator::ExclusiveOr, .. } => false,
        Expression::Binary { left, right, .. } => of(left) || of(right),
        Expression::Unary { expr, .. } => of(expr),
        Expression::CallResult(called) => gives_bare(module, &module.functions[called]),
        _ => false,
    }
}

fn gives_bare(module: &Module, function: &Function) -> bool {
    function.body.iter().any(|statement| match statement {
        Statement::Return { value: Some(value) } => is_bare(module, function, *value),
        _ => false,
    })
}

/// Functions with a comparison that a compiler may evaluate.
fn evaluable_comparisons(source: &str) -> Vec<String> {
    use BinaryOperator::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    let (module, info) = validated(source).unwrap();
    let mut found = Vec::new();
    for (handle, function) in module.functions.iter() {
        let is_float = |operand: Handle<Expression>| {
            let ty = info[handle][operand].ty.inner_with(&module.types);
            ty.scalar_kind() == Some(ScalarKind::Float)
        };
        let is_answered = |expression: &Expression| match *expression {
            Expression::Binary { op: Equal | NotEqual, left, .. } if is_float(left) => true,
            Expression::Binary {
                op: Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual,
                left,
                right,
            } => [left, right].into_iter().any(|side| is_bare(&module, function, side)),
            Expression::Relational { .. } => is_float_test(expression),
            _ => false,
        };
        let name = function.name.clone().unwrap_or_default();
        if name != EXCEPTION && function.expressions.iter().any(|(_, e)| is_answered(e)) {
            found.push(name);
        }
    }
    found
}

fn is_float_test(expression: &Expression) -> bool {
    use naga::RelationalFunction::{IsInf, IsNan};
    matches!(expression, Expression::Relational { fun: IsInf | IsNan, .. })
}

#[test]
fn no_test_for_nan_can_be_optimised_away() {
    for kernel in kernels() {
        let found = evaluable_comparisons(&kernel.source());
        assert!(found.is_empty(), "{}: {found:?}", kernel.name());
    }
    let source = kernels()[0].source();
    for (from, to, function) in [
        ("(bits_of(x) & 0x7fffffffu) > 0x7f800000u", "x != x", "is_nan"),
        ("bits_of(x) & 0x7fffffffu", "bitcast<u32>(x) & 0x7fffffffu", "is_finite"),
        ("bits_of(primal(x)) - 0x80000000u", "bitcast<u32>(x) - 0x80000000u", "activated"),
        ("bitcast<u32>(x) ^ params.zero", "bitcast<u32>(x)", "is_nan"),
    ] {
        let found = evaluable_comparisons(&edited(&source, from, to));
        assert!(found.iter().any(|name| name == function), "{from} -> {to}: {found:?}");
    }
}

/// Whether a value is always positive: the maximum of anything and a positive constant.
fn is_positive(function: &Function, handle: Handle<Expression>) -> bool {
    match function.expressions[handle] {
        Expression::Literal(Literal::F32(value)) => value > 0.0,
        Expression::Splat { value, .. } => is_positive(function, value),
        Expression::Compose { ref components, .. } => {
            components.iter().all(|&component| is_positive(function, component))
        }
        Expression::Math { fun: MathFunction::Max, arg, arg1: Some(arg1), .. } => {
            is_positive(function, arg) || is_positive(function, arg1)
        }
        _ => false,
    }
}

/// Number of square roots whose argument may be 0.
fn roots_of_zero(source: &str) -> usize {
    let (module, _) = validated(source).unwrap();
    let of_zero = |function: &Function| {
        let roots = function.expressions.iter().filter(|(_, expression)| match **expression {
            Expression::Math { fun: MathFunction::Sqrt, arg, .. } => !is_positive(function, arg),
            _ => false,
        });
        roots.count()
    };
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    module.functions.iter().map(|(_, f)| f).chain(entries).map(of_zero).sum()
}

#[test]
fn square_roots_of_zero_are_avoided() {
    for kernel in kernels() {
        assert_eq!(roots_of_zero(&kernel.source()), 0, "{}", kernel.name());
    }
    let mut twins = Vec::new();
    for variant in Variant::all().into_iter().filter(|variant| variant.mode() == FloatMode::Fast) {
        assert_eq!(roots_of_zero(&variant.source()), 0, "{}", variant.name());
        twins.push(edited(&variant.source(), "sqrt(max(x, vec2<f32>(1e-30)))", "sqrt(x)"));
    }
    let factors = kernels().into_iter().find(|kernel| kernel.name() == "factors").unwrap();
    twins.push(edited(&factors.source(), "max(square, 1e-30)", "max(square, 0.0)"));
    assert!(twins.iter().all(|twin| roots_of_zero(twin) > 0));
}

//! In exact mode a product passes a barrier before any other operation, and a sum before another
//! sum: nothing can be fused or reassociated, and constants cannot be distributed.
//!
//! The test walks the reachable statements (conditions such as `EXACT` are constants) and checks
//! every use of every float operation.

use std::collections::HashMap;

use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::Variant;
use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, BinaryOperator, Block, Expression, Function, Handle, Literal, LocalVariable,
    MathFunction, Module, ScalarKind, Statement, UnaryOperator,
};

use crate::wgsl::{edited, validated, variant};

/// Functions that are optimisation barriers.
const BARRIERS: [&str; 4] = ["barrier", "rounded", "rounded2", "rounded4"];

/// Functions with an operation that is exempt from a rule, and the reason.
const EXCEPTIONS: [(&str, Rule, &str); 5] = [
    ("finish_epoch", Rule::Barrier, "units_per_nat is a power of two: the product is exact"),
    ("radius_squared", Rule::Conversion, "an exponent is exact"),
    ("split", Rule::Conversion, "an exponent is exact"),
    ("root", Rule::Barrier, "a guess, which integers correct"),
    ("root", Rule::Accuracy, "a guess, which integers correct"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Rule {
    /// A product goes into a barrier and nowhere else; a sum also into a product, unless either is
    /// with a constant that is distributed: (x + c)·d, which becomes x·d + c·d, and (x ± 1)·y,
    /// which becomes x·y ± y fused.
    Barrier,
    /// Integers are converted to floats only if that is exact.
    Conversion,
    /// Other operations must be correctly rounded in WGSL.
    Accuracy,
}

/// A use of a value.
enum Use {
    Expression(Handle<Expression>),
    Variable(Handle<LocalVariable>),
    Call(String),
    Other,
}

struct Walk<'a> {
    module: &'a Module,
    function: &'a Function,
    info: &'a FunctionInfo,
    reached: Vec<Handle<Expression>>,
    uses: HashMap<Handle<Expression>, Vec<Use>>,
}

impl<'a> Walk<'a> {
    fn of(module: &'a Module, function: &'a Function, info: &'a FunctionInfo) -> Self {
        let mut walk = Walk { module, function, info, reached: Vec::new(), uses: HashMap::new() };
        walk.block(&function.body);
        walk
    }

    /// Walks a block; returns whether it always returns.
    fn block(&mut self, block: &Block) -> bool {
        block.iter().any(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> bool {
        match statement {
            Statement::Emit(range) => range.clone().for_each(|handle| self.reach(handle)),
            Statement::Block(block) => return self.block(block),
            Statement::If { condition, accept, reject } => match self.constant(*condition) {
                Some(true) => return self.block(accept),
                Some(false) => return self.block(reject),
                None => return self.block(accept) & self.block(reject),
            },
            Statement::Switch { cases, .. } => {
                for case in cases {
                    self.block(&case.body);
                }
            }
            Statement::Loop { body, continuing, .. } => {
                self.block(body);
                self.block(continuing);
            }
            Statement::Return { value } => {
                value.iter().for_each(|&value| self.use_of(value, Use::Other));
                return true;
            }
            Statement::Store { pointer, value } => match self.function.expressions[*pointer] {
                Expression::LocalVariable(variable) => self.use_of(*value, Use::Variable(variable)),
                _ => self.use_of(*value, Use::Other),
            },
            Statement::Call { function, arguments, .. } => {
                let name = self.module.functions[*function].name.clone().unwrap_or_default();
                for &argument in arguments {
                    self.use_of(argument, Use::Call(name.clone()));
                }
            }
            Statement::Atomic { value, .. } => self.use_of(*value, Use::Other),
            _ => {}
        }
        false
    }

    fn reach(&mut self, handle: Handle<Expression>) {
        self.reached.push(handle);
        for operand in operands(&self.function.expressions[handle]) {
            self.use_of(operand, Use::Expression(handle));
        }
    }

    fn use_of(&mut self, value: Handle<Expression>, place: Use) {
        self.uses.entry(value).or_default().push(place);
    }

    /// The value of a constant condition.
    fn constant(&self, condition: Handle<Expression>) -> Option<bool> {
        let global = |handle| match self.module.global_expressions[handle] {
            Expression::Literal(Literal::Bool(value)) => Some(value),
            _ => None,
        };
        match self.function.expressions[condition] {
            Expression::Literal(Literal::Bool(value)) => Some(value),
            Expression::Constant(constant) => global(self.module.constants[constant].init),
            Expression::Unary { op: UnaryOperator::LogicalNot, expr } => {
                self.constant(expr).map(|value| !value)
            }
            _ => None,
        }
    }

    fn is_float(&self, handle: Handle<Expression>) -> bool {
        let kind = self.info[handle].ty.inner_with(&self.module.types).scalar_kind();
        kind == Some(ScalarKind::Float)
    }

    fn is_power_of_two(&self, handle: Handle<Expression>) -> bool {
        match self.function.expressions[handle] {
            Expression::Literal(Literal::F32(value)) => value.to_bits() & 0x007f_ffff == 0,
            Expression::Splat { value, .. } => self.is_power_of_two(value),
            _ => false,
        }
    }

    fn is_one(&self, handle: Handle<Expression>) -> bool {
        match self.function.expressions[handle] {
            Expression::Literal(Literal::F32(value)) => value.abs() == 1.0,
            Expression::Splat { value, .. } => self.is_one(value),
            _ => false,
        }
    }

    /// Whether all invocations have the same value: a compiler may distribute uniforms as it does
    /// constants.
    fn is_constant(&self, handle: Handle<Expression>) -> bool {
        match self.function.expressions[handle] {
            Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_) => true,
            Expression::Splat { value, .. } => self.is_constant(value),
            Expression::Load { pointer } => self.is_uniform(pointer),
            Expression::Select { accept, reject, .. } => {
                self.is_constant(accept) && self.is_constant(reject)
            }
            _ => false,
        }
    }

    fn is_uniform(&self, pointer: Handle<Expression>) -> bool {
        match self.function.expressions[pointer] {
            Expression::GlobalVariable(variable) => {
                self.module.global_variables[variable].space == AddressSpace::Uniform
            }
            Expression::AccessIndex { base, .. } => self.is_uniform(base),
            _ => false,
        }
    }

    /// Whether every use is a barrier or allowed by `also`, directly or after moves of the value.
    fn goes_into_barriers(
        &self,
        handle: Handle<Expression>,
        also: &dyn Fn(Handle<Expression>) -> bool,
    ) -> bool {
        let moved = |user| match self.function.expressions[user] {
            Expression::As { convert: None, .. } => true,
            Expression::Splat { .. } | Expression::Compose { .. } | Expression::Swizzle { .. } => {
                self.goes_into_barriers(user, also)
            }
            _ => also(user),
        };
        self.uses.get(&handle).into_iter().flatten().all(|place| match place {
            Use::Expression(user) => moved(*user),
            Use::Variable(variable) => {
                self.loads_of(*variable).all(|load| self.goes_into_barriers(load, also))
            }
            Use::Call(name) => BARRIERS.contains(&name.as_str()),
            Use::Other => false,
        })
    }

    /// All loads of the variable or a part of it.
    fn loads_of(
        &self,
        variable: Handle<LocalVariable>,
    ) -> impl Iterator<Item = Handle<Expression>> {
        self.reached.iter().copied().filter(move |&handle| {
            match self.function.expressions[handle] {
                Expression::Load { pointer } => self.variable(pointer) == Some(variable),
                _ => false,
            }
        })
    }

    fn variable(&self, pointer: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        match self.function.expressions[pointer] {
            Expression::LocalVariable(variable) => Some(variable),
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
                self.variable(base)
            }
            _ => None,
        }
    }

    fn is_product(&self, handle: Handle<Expression>, with_constant: bool) -> bool {
        match self.function.expressions[handle] {
            Expression::Binary { op: BinaryOperator::Multiply, left, right } => {
                with_constant || !(self.is_constant(left) || self.is_constant(right))
            }
            _ => false,
        }
    }

    /// The rule violated by an expression.
    fn broken(&self, handle: Handle<Expression>) -> Option<Rule> {
        use BinaryOperator::{Add, Divide, Modulo, Multiply, Subtract};
        match self.function.expressions[handle] {
            Expression::Binary { op, left, right } if self.is_float(handle) => match op {
                Multiply if self.is_power_of_two(left) || self.is_power_of_two(right) => None,
                Multiply => (!self.goes_into_barriers(handle, &|_| false)).then_some(Rule::Barrier),
                Add | Subtract => {
                    let constant = self.is_constant(left) || self.is_constant(right);
                    let one = self.is_one(left) || self.is_one(right);
                    let product = |user| !one && self.is_product(user, !constant);
                    (!self.goes_into_barriers(handle, &product)).then_some(Rule::Barrier)
                }
                Divide | Modulo => Some(Rule::Accuracy),
                _ => None,
            },
            Expression::Math { fun, arg, .. } if self.is_float(arg) || self.is_float(handle) => {
                use MathFunction::{Abs, Max, Min, Round};
                (!matches!(fun, Abs | Max | Min | Round)).then_some(Rule::Accuracy)
            }
            Expression::As { expr, convert: Some(_), .. } if self.is_float(handle) => {
                (!self.is_float(expr)).then_some(Rule::Conversion)
            }
            Expression::Derivative { .. } => Some(Rule::Accuracy),
            _ => None,
        }
    }

    /// Whether the function returns the bits of its argument with `params.zero` added.
    fn is_barrier(&self) -> bool {
        let added = |handle: &Handle<Expression>| {
            matches!(
                self.function.expressions[*handle],
                Expression::Binary { op: BinaryOperator::Add, right, .. }
                    if !self.is_float(*handle) && self.reads_zero(right)
            )
        };
        let passed_on = self.function.body.iter().any(|statement| match statement {
            Statement::Block(_) | Statement::If { .. } => self.calls_barrier(statement),
            _ => false,
        });
        let arithmetic = self.reached.iter().any(|&handle| self.broken(handle).is_some());
        !arithmetic && (self.reached.iter().any(added) || passed_on)
    }

    fn calls_barrier(&self, statement: &Statement) -> bool {
        let inside = |block: &Block| block.iter().any(|statement| self.calls_barrier(statement));
        match statement {
            Statement::Block(block) => inside(block),
            Statement::If { condition, accept, .. } => {
                self.constant(*condition) == Some(true) && inside(accept)
            }
            Statement::Call { function, .. } => {
                self.module.functions[*function].name.as_deref() == Some("barrier")
            }
            _ => false,
        }
    }

    fn reads_zero(&self, handle: Handle<Expression>) -> bool {
        let field = |base, index: u32| match self.function.expressions[base] {
            Expression::GlobalVariable(variable) => {
                let variable = &self.module.global_variables[variable];
                let naga::TypeInner::Struct { members, .. } = &self.module.types[variable.ty].inner
                else {
                    return false;
                };
                variable.name.as_deref() == Some("params")
                    && members[index as usize].name.as_deref() == Some("zero")
            }
            _ => false,
        };
        match self.function.expressions[handle] {
            Expression::Splat { value, .. } => self.reads_zero(value),
            Expression::Load { pointer } => self.reads_zero(pointer),
            Expression::AccessIndex { base, index } => field(base, index),
            _ => false,
        }
    }
}

fn operands(expression: &Expression) -> Vec<Handle<Expression>> {
    match *expression {
        Expression::Compose { ref components, .. } => components.clone(),
        Expression::Access { base, index } => vec![base, index],
        Expression::AccessIndex { base, .. } => vec![base],
        Expression::Splat { value, .. } => vec![value],
        Expression::Swizzle { vector, .. } => vec![vector],
        Expression::Load { pointer } => vec![pointer],
        Expression::Unary { expr, .. } => vec![expr],
        Expression::Binary { left, right, .. } => vec![left, right],
        Expression::Select { condition, accept, reject } => vec![condition, accept, reject],
        Expression::Relational { argument, .. } => vec![argument],
        Expression::Math { arg, arg1, arg2, arg3, .. } => {
            [Some(arg), arg1, arg2, arg3].into_iter().flatten().collect()
        }
        Expression::As { expr, .. } => vec![expr],
        _ => Vec::new(),
    }
}

/// Violations per function, and invalid barriers.
fn broken_rules(module: &Module, info: &ModuleInfo) -> Vec<(String, Option<Rule>)> {
    let mut problems = Vec::new();
    let inner = module.functions.iter().map(|(handle, function)| (function, &info[handle]));
    let entries = module.entry_points.iter().enumerate();
    let outer = entries.map(|(index, entry)| (&entry.function, info.get_entry_point(index)));
    for (function, info) in inner.chain(outer) {
        let name = function.name.clone().unwrap_or_default();
        let walk = Walk::of(module, function, info);
        if BARRIERS.contains(&name.as_str()) {
            if !walk.is_barrier() {
                problems.push((name, None));
            }
            continue;
        }
        let broken = walk.reached.iter().filter_map(|&handle| walk.broken(handle));
        problems.extend(broken.map(|rule| (name.clone(), Some(rule))));
    }
    problems
}

/// Violations without an exception.
pub(crate) fn unprotected(source: &str) -> Vec<(String, Option<Rule>)> {
    let (module, info) = validated(source).unwrap();
    let mut problems = broken_rules(&module, &info);
    problems.retain(|(function, rule)| {
        !EXCEPTIONS.iter().any(|(name, excepted, _)| name == function && Some(*excepted) == *rule)
    });
    problems
}

fn exact_variants() -> impl Iterator<Item = Variant> {
    Variant::all().into_iter().filter(|variant| variant.mode() == FloatMode::Exact)
}

#[test]
fn nothing_can_be_fused_or_reassociated_in_exact_mode() {
    for variant in exact_variants() {
        assert_eq!(unprotected(&variant.source()), [], "{}", variant.name());
    }
}

#[test]
fn every_exception_is_needed() {
    let all: Vec<_> = exact_variants()
        .flat_map(|variant| {
            let (module, info) = validated(&variant.source()).unwrap();
            broken_rules(&module, &info)
        })
        .collect();
    for (function, rule, reason) in EXCEPTIONS {
        let used = all.iter().any(|(name, broken)| name == function && *broken == Some(rule));
        assert!(used, "{function}, {rule:?}: {reason}");
    }
}

#[test]
fn missing_barriers_are_detected() {
    for variant in Variant::all() {
        let no_barrier = unprotected(&variant.source()).contains(&("rounded4".into(), None));
        assert_eq!(no_barrier, variant.mode() == FloatMode::Fast, "{}", variant.name());
    }
    let without = variant("fixed-exact").source_without_barriers();
    assert!(unprotected(&without).contains(&("barrier".into(), None)));
    let source = variant("fixed-two-sums-exact").source();
    for (from, to) in [
        ("rounded2(a * a)", "(a * a)"),
        ("rounded4(k * LN_OF_2)", "(k * LN_OF_2)"),
        ("rounded2(p * f) + RADIUS_3", "p * f + RADIUS_3"),
        ("rounded2(bitcast<vec2<f32>>(mantissa) - 1.0)", "(bitcast<vec2<f32>>(mantissa) - 1.0)"),
        ("rounded(x: f32) -> f32 {\n", "rounded(x: f32) -> f32 {\n    if (true) { return x; }\n"),
        ("+ vec4<u32>(params.zero)", "+ vec4<u32>(params.entries)"),
        ("+ vec4<u32>(params.zero)", "+ vec4<u32>(0u)"),
        ("+ vec4<u32>(params.zero)", "^ vec4<u32>(params.zero)"),
        ("root(radius_squared", "sqrt(radius_squared"),
        ("let t = rounded2(a * a);", "let t = rounded2((a + 1.0) * a);"),
        ("let t = rounded2(a * a);", "var s2 = a + a; let t = rounded2(a * (1.0 + s2.x));"),
        ("let size = abs(x);", "let size = abs(fma(x, 1.0, x));"),
        ("let size = abs(x);", "let size = abs(x) / 3.0;"),
        ("let size = abs(x);", "let size = abs(exp(x));"),
        ("first.x = rounded(first.x + sum.x);", "first.x += sum.x;"),
        ("first.x = rounded(first.x + sum.x);", "first.x += f32(segments);"),
        ("return rounded4(row + select", "return (row + select"),
        ("let size = abs(x);", "let size = abs(rounded((x + scoring.offset) * scoring.slope));"),
    ] {
        let twin = edited(&source, from, to);
        assert!(!unprotected(&twin).is_empty(), "{from} -> {to}");
    }
}

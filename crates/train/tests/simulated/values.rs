//! Sizes of types and values of constants in naga's module.

use naga::{ArraySize, Expression, Handle, Literal, Module, Type, TypeInner};

use crate::simulated::operations::Words;

/// A value, or the reason why the kernel is invalid.
pub(crate) type SimulationResult<T> = Result<T, String>;

/// Size of a value in words; buffers have the same packed layout.
pub(crate) fn words_in(module: &Module, inner: &TypeInner) -> SimulationResult<usize> {
    let of = |ty: Handle<Type>| words_in(module, &module.types[ty].inner);
    Ok(match inner {
        TypeInner::Scalar(_) => 1,
        TypeInner::Vector { size, .. } => *size as usize,
        TypeInner::Array { base, size: ArraySize::Constant(count), .. } => {
            count.get() as usize * of(*base)?
        }
        TypeInner::Array { size: ArraySize::Dynamic, .. } => 0,
        TypeInner::Struct { members, .. } => {
            members.iter().map(|member| of(member.ty)).sum::<SimulationResult<usize>>()?
        }
        other => return Err(format!("a value of {other:?}")),
    })
}

/// Offset and size of a component of a type, and the number of components.
pub(crate) fn component(
    module: &Module,
    inner: &TypeInner,
    index: u32,
) -> SimulationResult<(u32, usize, u32)> {
    Ok(match inner {
        TypeInner::Vector { size, .. } => (index, 1, *size as u32),
        TypeInner::Array { base, size, .. } => {
            let own = words_in(module, &module.types[*base].inner)?;
            let count = match size {
                ArraySize::Constant(count) => count.get(),
                _ => u32::MAX, // checked by the buffer
            };
            (index.wrapping_mul(own as u32), own, count)
        }
        TypeInner::Struct { members, .. } => {
            let size =
                |member: &naga::StructMember| words_in(module, &module.types[member.ty].inner);
            let before =
                members[..index as usize].iter().map(size).sum::<SimulationResult<usize>>()?;
            (before as u32, size(&members[index as usize])?, members.len() as u32)
        }
        other => return Err(format!("a part of {other:?}")),
    })
}

pub(crate) fn constant_words(
    module: &Module,
    handle: Handle<Expression>,
) -> SimulationResult<Words> {
    Ok(match &module.global_expressions[handle] {
        Expression::Literal(literal) => Words::of(word(literal)?),
        Expression::Constant(constant) => constant_words(module, module.constants[*constant].init)?,
        Expression::ZeroValue(ty) => Words::zeros(words_in(module, &module.types[*ty].inner)?),
        Expression::Splat { size, value } => {
            Words(vec![constant_words(module, *value)?.0[0]; *size as usize])
        }
        Expression::Compose { components, .. } => {
            let mut all = Words::default();
            for component in components {
                all.0.extend(constant_words(module, *component)?.0);
            }
            all
        }
        other => return Err(format!("the constant {other:?}")),
    })
}

pub(crate) fn word(literal: &Literal) -> SimulationResult<u32> {
    match *literal {
        Literal::F32(x) => Ok(x.to_bits()),
        Literal::U32(x) => Ok(x),
        Literal::I32(x) => Ok(x as u32),
        Literal::Bool(x) => Ok(x.into()),
        ref other => Err(format!("{other:?}")),
    }
}

//! Executes a dispatch of a compute shader from naga's module, all lanes of a workgroup in
//! lockstep.
//!
//! [`SharedMemory`] memory detects results that depend on the execution order of lanes or workgroups.

use std::collections::HashMap;

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, Barrier, Binding, Block, BuiltIn, Expression, Function, GlobalVariable, Handle,
    LocalVariable, Module, ScalarKind, Statement, TypeInner,
};

use crate::simulated::memory::{Places, SharedMemory, read_own, write_own};
use crate::simulated::operations::{self, LANES, Words};
use crate::simulated::values::{SimulationResult, component, constant_words, word, words_in};

/// All lanes.
const ALL: u64 = u64::MAX;

#[derive(Debug, Clone, Copy)]
enum Root {
    Global(Handle<GlobalVariable>),
    Local(Handle<LocalVariable>),
}

#[derive(Debug, Clone)]
enum Item {
    Words(Words),
    Pointer(Root, Box<Places>),
}

/// A call frame.
struct Frame<'a> {
    function: &'a Function,
    info: &'a FunctionInfo,
    arguments: Vec<Words>,
    items: HashMap<Handle<Expression>, Item>,
    locals: HashMap<Handle<LocalVariable>, Words>,
    broken: u64,
    continued: u64,
    result: Words,
}

/// A kernel and the memory of its workgroups.
pub(crate) struct Simulator<'a> {
    module: &'a Module,
    info: &'a ModuleInfo,
    /// Buffers by binding; they persist between dispatches.
    buffers: &'a mut [SharedMemory],
    workgroup: HashMap<Handle<GlobalVariable>, SharedMemory>,
    private: HashMap<Handle<GlobalVariable>, Words>,
    /// Number of the workgroup in the dispatch.
    group: u64,
}

impl<'a> Simulator<'a> {
    pub(crate) fn new(
        module: &'a Module,
        info: &'a ModuleInfo,
        buffers: &'a mut [SharedMemory],
    ) -> Simulator<'a> {
        let (workgroup, private) = (HashMap::new(), HashMap::new());
        Simulator { module, info, buffers, workgroup, private, group: 0 }
    }

    /// Runs every workgroup of a grid.
    pub(crate) fn dispatch(&mut self, grid: [u32; 3]) -> SimulationResult<()> {
        let entry = self.module.entry_points.first().ok_or("no entry point")?;
        if entry.workgroup_size != [LANES as u32, 1, 1] {
            return Err(format!("workgroups of {:?}", entry.workgroup_size));
        }
        self.buffers.iter_mut().for_each(|buffer| buffer.phase += 1);
        let cells = (0..grid[2]).flat_map(|z| (0..grid[1]).map(move |y| (y, z)));
        for place in cells.flat_map(|(y, z)| (0..grid[0]).map(move |x| [x, y, z])) {
            self.begin_workgroup()?;
            let builtin = |argument: &naga::FunctionArgument| match argument.binding {
                Some(Binding::BuiltIn(BuiltIn::WorkGroupId)) => {
                    Ok(Words(place.iter().map(|&at| [at; LANES]).collect()))
                }
                Some(Binding::BuiltIn(BuiltIn::LocalInvocationIndex)) => {
                    Ok(Words(vec![std::array::from_fn(|lane| lane as u32)]))
                }
                ref other => Err(format!("argument {other:?}")),
            };
            let arguments =
                entry.function.arguments.iter().map(builtin).collect::<SimulationResult<_>>()?;
            let info = self.info.get_entry_point(0);
            self.call(&entry.function, info, arguments, ALL)?;
            self.group += 1;
        }
        Ok(())
    }

    /// Resets workgroup and private memory.
    fn begin_workgroup(&mut self) -> SimulationResult<()> {
        for (handle, variable) in self.module.global_variables.iter() {
            match variable.space {
                AddressSpace::WorkGroup => {
                    let words = words_in(self.module, &self.module.types[variable.ty].inner)?;
                    let name = variable.name.as_deref().unwrap_or("workgroup");
                    let shared = self.workgroup.entry(handle);
                    let shared = shared.or_insert_with(|| SharedMemory::uninitialized(name, words));
                    shared.uninitialize();
                    shared.phase += 1;
                }
                AddressSpace::Private => {
                    let words = words_in(self.module, &self.module.types[variable.ty].inner)?;
                    self.private.insert(handle, Words::zeros(words));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        function: &'a Function,
        info: &'a FunctionInfo,
        arguments: Vec<Words>,
        mask: u64,
    ) -> SimulationResult<Words> {
        let result = match &function.result {
            Some(result) => words_in(self.module, &self.module.types[result.ty].inner)?,
            None => 0,
        };
        let mut frame = Frame {
            function,
            info,
            arguments,
            items: HashMap::new(),
            locals: HashMap::new(),
            broken: 0,
            continued: 0,
            result: Words::zeros(result),
        };
        for (handle, local) in function.local_variables.iter() {
            let words = words_in(self.module, &self.module.types[local.ty].inner)?;
            let value = match local.init {
                Some(init) => self.words(&mut frame, init, mask)?,
                None => Words::zeros(words),
            };
            frame.locals.insert(handle, value);
        }
        self.block(&mut frame, &function.body, mask)?;
        Ok(frame.result)
    }

    /// Executes a block; returns the lanes that reach its end.
    fn block(
        &mut self,
        frame: &mut Frame<'a>,
        block: &'a Block,
        mut mask: u64,
    ) -> SimulationResult<u64> {
        for statement in block {
            if mask == 0 {
                break;
            }
            mask = self.statement(frame, statement, mask)?;
        }
        Ok(mask)
    }

    fn statement(
        &mut self,
        frame: &mut Frame<'a>,
        statement: &'a Statement,
        mask: u64,
    ) -> SimulationResult<u64> {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    let item = self.evaluate(frame, handle, mask)?;
                    frame.items.insert(handle, item);
                }
            }
            Statement::Block(block) => return self.block(frame, block, mask),
            Statement::If { condition, accept, reject } => {
                let holds = self.words(frame, *condition, mask)?.lanes();
                let accepted = self.block(frame, accept, mask & holds)?;
                return Ok(accepted | self.block(frame, reject, mask & !holds)?);
            }
            Statement::Loop { body, continuing, break_if } => {
                return self.repeat(frame, [body, continuing], *break_if, mask);
            }
            Statement::Break => {
                frame.broken |= mask;
                return Ok(0);
            }
            Statement::Continue => {
                frame.continued |= mask;
                return Ok(0);
            }
            Statement::Return { value } => {
                if let Some(value) = value {
                    let value = self.words(frame, *value, mask)?;
                    frame.result =
                        operations::select(&mask_words(mask), &value, &frame.result, ALL)?;
                }
                return Ok(0);
            }
            Statement::ControlBarrier(barrier) => self.barrier(*barrier, mask)?,
            Statement::Store { pointer, value } => {
                let value = self.words(frame, *value, mask)?;
                self.store(frame, *pointer, &value, mask)?;
            }
            Statement::Call { function, arguments, result } => {
                let words = |handle: &Handle<Expression>| self.words(frame, *handle, mask);
                let arguments = arguments.iter().map(words).collect::<SimulationResult<_>>()?;
                let called = &self.module.functions[*function];
                let found = self.call(called, &self.info[*function], arguments, mask)?;
                result.map(|result| frame.items.insert(result, Item::Words(found)));
            }
            other => return Err(format!("{other:?} is not simulated")),
        }
        Ok(mask)
    }

    fn repeat(
        &mut self,
        frame: &mut Frame<'a>,
        [body, continuing]: [&'a Block; 2],
        break_if: Option<Handle<Expression>>,
        mask: u64,
    ) -> SimulationResult<u64> {
        let outer = (frame.broken, frame.continued);
        let (mut live, mut left) = (mask, 0);
        while live != 0 {
            (frame.broken, frame.continued) = (0, 0);
            live = self.block(frame, body, live)?;
            live |= frame.continued;
            left |= frame.broken;
            live = self.block(frame, continuing, live)?;
            if let Some(condition) = break_if {
                let stops = self.words(frame, condition, live)?.lanes() & live;
                left |= stops;
                live &= !stops;
            }
        }
        (frame.broken, frame.continued) = outer;
        Ok(left)
    }

    fn barrier(&mut self, barrier: Barrier, mask: u64) -> SimulationResult<()> {
        if mask != ALL {
            return Err(format!("a barrier is reached by {} lanes only", mask.count_ones()));
        }
        if barrier.contains(Barrier::WORK_GROUP) {
            self.workgroup.values_mut().for_each(|shared| shared.phase += 1);
        }
        Ok(())
    }

    fn words(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
        mask: u64,
    ) -> SimulationResult<Words> {
        match self.item(frame, handle, mask)? {
            Item::Words(words) => Ok(words),
            Item::Pointer(..) => Err("a pointer is used as a value".to_owned()),
        }
    }

    /// The value of an expression, evaluated now if it was not emitted.
    fn item(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
        mask: u64,
    ) -> SimulationResult<Item> {
        match frame.items.get(&handle) {
            Some(item) => Ok(item.clone()),
            None => self.evaluate(frame, handle, mask),
        }
    }

    fn kind(&self, frame: &Frame<'a>, handle: Handle<Expression>) -> ScalarKind {
        let inner = frame.info[handle].ty.inner_with(&self.module.types);
        inner.scalar_kind().unwrap_or(ScalarKind::Uint)
    }

    fn evaluate(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
        mask: u64,
    ) -> SimulationResult<Item> {
        let function = frame.function;
        let pointer =
            |root, count| Ok(Item::Pointer(root, Box::new(Places { first: [0; LANES], count })));
        Ok(Item::Words(match &function.expressions[handle] {
            Expression::Literal(literal) => Words::of(word(literal)?),
            Expression::Constant(constant) => {
                constant_words(self.module, self.module.constants[*constant].init)?
            }
            Expression::ZeroValue(ty) => {
                Words::zeros(words_in(self.module, &self.module.types[*ty].inner)?)
            }
            Expression::FunctionArgument(index) => frame.arguments[*index as usize].clone(),
            Expression::GlobalVariable(global) => {
                let ty = self.module.global_variables[*global].ty;
                return pointer(
                    Root::Global(*global),
                    words_in(self.module, &self.module.types[ty].inner)?,
                );
            }
            Expression::LocalVariable(local) => {
                let ty = function.local_variables[*local].ty;
                return pointer(
                    Root::Local(*local),
                    words_in(self.module, &self.module.types[ty].inner)?,
                );
            }
            Expression::Compose { components, .. } => {
                let mut all = Words::default();
                for component in components {
                    all.0.extend(self.words(frame, *component, mask)?.0);
                }
                all
            }
            Expression::Access { base, index } => {
                let index = self.words(frame, *index, mask)?;
                return self.access(frame, *base, &index, mask);
            }
            Expression::AccessIndex { base, index } => {
                return self.access(frame, *base, &Words::of(*index), mask);
            }
            Expression::Load { pointer } => return self.load(frame, *pointer, mask),
            _ => return self.compute(frame, handle, mask),
        }))
    }

    fn compute(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
        mask: u64,
    ) -> SimulationResult<Item> {
        let function = frame.function;
        Ok(Item::Words(match &function.expressions[handle] {
            Expression::Splat { size, value } => {
                let value = self.words(frame, *value, mask)?;
                Words(vec![value.0[0]; *size as usize])
            }
            Expression::Swizzle { size, vector, pattern } => {
                let vector = self.words(frame, *vector, mask)?;
                let taken = pattern[..*size as usize].iter();
                Words(taken.map(|&component| vector.0[component as usize]).collect())
            }
            Expression::Unary { op, expr } => {
                let operand = self.words(frame, *expr, mask)?;
                operations::unary(*op, self.kind(frame, *expr), &operand, mask)?
            }
            Expression::Binary { op, left, right } => {
                let a = self.words(frame, *left, mask)?;
                let b = self.words(frame, *right, mask)?;
                operations::binary(*op, self.kind(frame, *left), [&a, &b], mask)?
            }
            Expression::Select { condition, accept, reject } => {
                let condition = self.words(frame, *condition, mask)?;
                let accept = self.words(frame, *accept, mask)?;
                let reject = self.words(frame, *reject, mask)?;
                operations::select(&condition, &accept, &reject, mask)?
            }
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let mut operands = Vec::new();
                for handle in [Some(*arg), *arg1, *arg2, *arg3].into_iter().flatten() {
                    operands.push(self.words(frame, handle, mask)?);
                }
                let operands: Vec<&Words> = operands.iter().collect();
                operations::math(*fun, self.kind(frame, *arg), &operands, mask)?
            }
            Expression::As { expr, kind, convert } => {
                let operand = self.words(frame, *expr, mask)?;
                match convert {
                    Some(_) => operations::convert(self.kind(frame, *expr), *kind, &operand, mask)?,
                    None => operand,
                }
            }
            other => return Err(format!("{other:?} is not simulated")),
        }))
    }

    /// A component of a value, or a pointer to it.
    fn access(
        &mut self,
        frame: &mut Frame<'a>,
        base: Handle<Expression>,
        index: &Words,
        mask: u64,
    ) -> SimulationResult<Item> {
        let item = self.item(frame, base, mask)?;
        let inner = frame.info[base].ty.inner_with(&self.module.types);
        let inner = match inner {
            TypeInner::Pointer { base, .. } => self.module.types[*base].inner.clone(),
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => {
                TypeInner::Vector { size: *size, scalar: *scalar }
            }
            other => other.clone(),
        };
        let lanes = (0..LANES).filter(|lane| mask >> lane & 1 == 1);
        let mut places = Places { first: [0; LANES], count: component(self.module, &inner, 0)?.1 };
        for lane in lanes {
            let (first, _, count) = component(self.module, &inner, index.0[0][lane])?;
            if index.0[0][lane] >= count {
                return Err(format!("index {} of {count}", index.0[0][lane]));
            }
            places.first[lane] = first;
        }
        if let TypeInner::Struct { .. } = inner {
            places.count = component(self.module, &inner, index.0[0][0])?.1;
        }
        match item {
            Item::Words(words) => Ok(Item::Words(read_own(&words, &places, mask)?)),
            Item::Pointer(root, outer) => {
                let sums = places.first.iter_mut().zip(outer.first);
                sums.for_each(|(first, before)| *first = first.wrapping_add(before));
                Ok(Item::Pointer(root, Box::new(places)))
            }
        }
    }

    fn load(
        &mut self,
        frame: &mut Frame<'a>,
        from: Handle<Expression>,
        mask: u64,
    ) -> SimulationResult<Item> {
        let Item::Pointer(root, places) = self.item(frame, from, mask)? else {
            return Err("load from a value".to_owned());
        };
        let own = match root {
            Root::Local(local) => frame.locals.get(&local),
            Root::Global(global) => self.private.get(&global),
        };
        if let Some(own) = own {
            return Ok(Item::Words(read_own(own, &places, mask)?));
        }
        let mut found = Words::zeros(places.count);
        let group = self.group;
        let shared = self.shared(root)?;
        for (word, lane, at) in places.each(mask) {
            found.0[word][lane] = shared.read(at, group << 6 | lane as u64)?;
        }
        Ok(Item::Words(found))
    }

    fn store(
        &mut self,
        frame: &mut Frame<'a>,
        to: Handle<Expression>,
        value: &Words,
        mask: u64,
    ) -> SimulationResult<()> {
        let Item::Pointer(root, places) = self.item(frame, to, mask)? else {
            return Err("store to a value".to_owned());
        };
        let own = match root {
            Root::Local(local) => frame.locals.get_mut(&local),
            Root::Global(global) => self.private.get_mut(&global),
        };
        if let Some(own) = own {
            return write_own(own, &places, value, mask);
        }
        let group = self.group;
        let shared = self.shared(root)?;
        for (word, lane, at) in places.each(mask) {
            shared.write(at, value.0[word][lane], group << 6 | lane as u64)?;
        }
        Ok(())
    }

    /// The workgroup variable or buffer behind a pointer.
    fn shared(&mut self, root: Root) -> SimulationResult<&mut SharedMemory> {
        let Root::Global(global) = root else { return Err("no such variable".to_owned()) };
        if let Some(shared) = self.workgroup.get_mut(&global) {
            return Ok(shared);
        }
        let binding = self.module.global_variables[global].binding;
        let buffer = binding.and_then(|binding| self.buffers.get_mut(binding.binding as usize));
        buffer.ok_or_else(|| "a binding without a buffer".to_owned())
    }
}

/// 1 in the lanes of the mask.
fn mask_words(mask: u64) -> Words {
    Words(vec![std::array::from_fn(|lane| (mask >> lane & 1) as u32)])
}

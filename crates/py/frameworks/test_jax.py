"""Trainings with JAX, optax and jax_privacy, audited by canaries in their slots."""

import shutil

import numpy as np
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("jax_privacy")

import jax.numpy as jnp  # noqa: E402
import optax  # noqa: E402
from jax_privacy.batch_selection import CyclicPoissonSampling, pad_to_multiple_of  # noqa: E402
from jax_privacy.clipping import clipped_grad  # noqa: E402

import dpscope.jax  # noqa: E402
from dpscope import DpscopeError  # noqa: E402

RECORDS, CANARIES, RATE, STEPS, CLIP_NORM, NOISE = 100, 120, 0.2, 40, 0.5, 0.3
DIVISOR = RATE * RECORDS


def digits(records=RECORDS, seed=1):
    """Records of 64 numbers, and labels of three classes."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, records)
    return random.normal(size=(records, 64)).astype(np.float32) + labels[:, None], labels


def network():
    """2,179 parameters of a network with 32 hidden units."""
    random = np.random.default_rng(2)
    draw = lambda *shape: jnp.asarray(random.normal(size=shape) * 0.2, jnp.float32)  # noqa: E731
    return [(draw(64, 32), draw(32)), (draw(32, 3), draw(3))]


def losses(params, batch):
    x, labels = batch
    (w, b), (v, c) = params
    logits = jnp.tanh(x @ w + b) @ v + c
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels)


def loss(params, batch):
    return losses(params, batch).mean()


clipped = clipped_grad(loss, l2_clip_norm=CLIP_NORM)


def one_run(**options):
    options = {"canaries": CANARIES, "parameters": network()} | options
    return dpscope.jax.OneRun(digits(), **options)


def batches(audit, steps=STEPS):
    """Batches of Poisson sampling, padded to one shape."""
    sampler = CyclicPoissonSampling(sampling_prob=RATE, iterations=steps)
    drawn = sampler.batch_iterator(len(audit), rng=3)
    return [pad_to_multiple_of(batch, 96) for batch in drawn]


def optimizer_of(audit, divisor=DIVISOR):
    observe = dpscope.jax.observe(audit, rate=RATE, divisor=divisor, clip_norm=CLIP_NORM)
    return optax.chain(observe, optax.sgd(0.2, momentum=0.5))


def step_of(audit, optimizer):
    """One step of DP-SGD."""

    def step(params, state, batch, data, noise):
        total = clipped(params, data, is_padding_example=audit.excluded(batch))
        if audit.kind == "directions":
            total = jax.tree.map(jnp.add, total, audit.canary_sum(batch, norm=CLIP_NORM))
        noisy = jax.tree.map(lambda g, z: (g + CLIP_NORM * z) / DIVISOR, total, noise)
        updates, state = optimizer.update(noisy, state, params)
        return optax.apply_updates(params, updates), state

    return step


def noises(noise_multiplier=NOISE):
    """The noise of all steps, in clip norms."""
    random = np.random.default_rng(4)
    draw = lambda leaf: np.float32(
        noise_multiplier * random.normal(size=(STEPS, *leaf.shape))
    )  # noqa: E731
    return jax.tree.map(draw, network())


def train(audit, optimizer=None, *, noise=NOISE, start=0, stop=STEPS, trained=None):
    """Parameters and state of the optimizer after steps of one training."""
    optimizer = optimizer_of(audit) if optimizer is None else optimizer
    step = jax.jit(step_of(audit, optimizer))
    params, state = trained or (network(), optimizer.init(network()))
    drawn, noise = batches(audit), noises(noise)
    for index in range(start, stop):
        batch = drawn[index]
        own = jax.tree.map(lambda leaf, index=index: leaf[index], noise)
        params, state = step(params, state, batch, audit[batch], own)
    return params, state


def auc(audit):
    scores = np.atleast_2d(audit.scores).mean(axis=0)
    return (scores[audit.coins][:, None] > scores[~audit.coins]).mean()


def bits(tree):
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


@pytest.fixture(scope="module")
def trained():
    """An audit, and the parameters of its training."""
    audit = one_run()
    return audit, train(audit)[0]


def test_a_training_with_less_noise_is_refuted(trained, tmp_path):
    audit, _ = trained
    assert auc(audit) > 0.95
    assert audit.steps == STEPS
    shutil.copytree(audit.folder, tmp_path / "plan")  # a plan is audited once
    copy = one_run(plan=tmp_path / "plan")
    copy.load_state_dict(audit.state_dict())
    assert copy.audit(claim=1.0).verdict().outcome == "refuted"


def test_observation_changes_no_bit(trained):
    audit, params = trained
    plain = train(one_run(plan=audit.folder), optax.chain(optax.identity(), optax.sgd(0.2, 0.5)))
    assert bits(plain[0]) == bits(params)


def test_scan_gives_the_scores_of_a_loop(trained):
    audit = one_run(plan=trained[0].folder)
    optimizer = optimizer_of(audit)
    step = step_of(audit, optimizer)
    drawn = np.stack(batches(audit))
    rows = drawn, audit[drawn], noises()
    start = network(), optimizer.init(network())
    jax.jit(lambda rows: jax.lax.scan(lambda it, row: (step(*it, *row), None), start, rows))(rows)
    np.testing.assert_allclose(audit.scores, trained[0].scores, rtol=1e-3, atol=1e-2)


def test_a_resumed_training_has_the_same_scores(trained):
    first = one_run(plan=trained[0].folder)
    half = train(first, stop=STEPS // 2)
    second = one_run(plan=first.folder)
    second.load_state_dict(first.state_dict())
    with pytest.raises(DpscopeError, match="step 19 was observed already, up to step 19"):
        second._receive(STEPS // 2 - 1, np.zeros(CANARIES))
    train(second, start=STEPS // 2, trained=half)
    assert np.allclose(second.scores, trained[0].scores, rtol=1e-12, atol=1e-12)


def test_scores_of_canaries_that_are_left_out_do_not_know_the_coins():
    audit = one_run(significance=1e-4)
    coins = audit.coins
    audit.coins = np.zeros_like(coins)
    train(audit)
    audit.coins = coins
    assert abs(auc(audit) - 0.5) < 0.25  # 4.7 standard deviations
    assert audit.audit(claim=1.0).verdict().outcome != "refuted"


def test_excluded_slots_and_padding_contribute_exactly_nothing(trained):
    audit, params = trained
    slots = RECORDS + np.flatnonzero(~audit.coins)[:6]
    used = np.concatenate([np.arange(20), slots, [-1, -1]])
    padded = np.concatenate([np.arange(20), np.full(8, -1)])
    totals = [
        jax.jit(clipped)(params, audit[batch], is_padding_example=audit.excluded(batch))
        for batch in (used, padded)
    ]
    assert bits(totals[0]) == bits(totals[1])
    assert not any(np.asarray(leaf).any() for leaf in jax.tree.leaves(audit.canary_sum(used)))


@pytest.mark.parametrize("dimension", [2179, 1 << 18])
def test_canary_sums_have_the_directions_of_the_included_canaries(dimension):
    parameters = {"a": jnp.zeros((dimension - 5,)), "b": jnp.zeros((5, 1), jnp.bfloat16)}
    audit = one_run(parameters=parameters)
    included = RECORDS + np.flatnonzero(audit.coins)
    batch = np.concatenate([[3, -1], included[:4], RECORDS + np.flatnonzero(~audit.coins)[:4]])
    total = jax.jit(lambda batch: audit.canary_sum(batch, norm=2.0))(batch)
    assert jax.tree.map(jnp.shape, total) == jax.tree.map(jnp.shape, parameters)
    assert total["b"].dtype == jnp.bfloat16
    expected = np.zeros(CANARIES)
    expected[included[:4] - RECORDS] = 2.0
    np.testing.assert_allclose(audit._project(total), expected, atol=1e-3)


def test_canaries_that_are_records_are_scored_by_their_losses():
    random = np.random.default_rng(5)
    inputs, labels = random.normal(size=(CANARIES, 64)), random.integers(0, 3, CANARIES)
    audit = one_run(canaries=(inputs, labels), kind="records", parameters=None)
    assert len(audit) == RECORDS + CANARIES
    slots = np.arange(-1, len(audit))
    expected = np.concatenate([[True], np.zeros(RECORDS, dtype=bool), ~audit.coins])
    assert np.array_equal(audit.excluded(slots), expected)
    audit.score(lambda batch: losses(network(), batch))
    params, _ = train(audit, optax.adam(0.02), noise=0.0)
    audit.score(lambda batch: losses(params, batch))
    assert auc(audit) > 0.7
    assert audit.audit().kind == "bound"
    with pytest.raises(DpscopeError, match="score them by their losses"):
        optimizer_of(audit)


def test_bad_arguments_are_named():
    with pytest.raises(DpscopeError, match="parameters is None"):
        one_run(parameters=None)
    with pytest.raises(DpscopeError, match="canaries = 120, but the trained parameters have 99"):
        one_run(parameters=99)
    with pytest.raises(DpscopeError, match="records has arrays of"):
        dpscope.jax.OneRun((np.zeros(3), np.zeros(4)), canaries=5, parameters=99)
    audit = dpscope.jax.OneRun(50, canaries=5, parameters=99)
    assert audit[np.array([7, 52, -1])].tolist() == [7, 0, 0]
    with pytest.raises(DpscopeError, match="clip norm is not known"):
        audit.canary_sum([51])
    with pytest.raises(DpscopeError, match="rate is 2"):
        dpscope.jax.observe(audit, rate=2, divisor=1, clip_norm=1)
    optimizer = dpscope.jax.observe(audit, rate=0.5, divisor=1, clip_norm=1)
    with pytest.raises(DpscopeError, match="updates have 98 numbers"):
        optimizer.update(jnp.zeros(98), optimizer.init(jnp.zeros(98)))
    with pytest.raises(DpscopeError, match="there are no scores"):
        audit.audit()

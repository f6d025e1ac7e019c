"""What is accepted, and what is refused with its name and a remedy."""

import threading

import numpy as np
import pytest
from conftest import stable

import dpscope


def test_every_real_array_is_accepted(scores):
    target, zero_out = (np.round(16 * scores).astype(np.float64) / 16 for scores in scores)
    expected = stable(dpscope.audit_scores(target, zero_out).report())

    def check(convert):
        audit = dpscope.audit_scores(convert(target), convert(zero_out))
        assert stable(audit.report()) == expected

    check(list)
    check(np.float32)
    check(lambda array: array.astype(np.float16))
    check(lambda array: array.astype(">f8"))
    check(lambda array: array.reshape(-1, 1))
    check(lambda array: np.asfortranarray(np.stack([array, array]))[1])
    check(lambda array: np.repeat(array, 3)[::3])
    check(lambda array: array[::-1][::-1])
    integers = [np.round(array).astype(int) for array in (target, zero_out)]
    of_floats = dpscope.audit_scores(*(array.astype(float) for array in integers))
    assert stable(dpscope.audit_scores(*integers).report()) == stable(of_floats.report())


class Unreadable:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("is on another device")


WRONG = {
    "objects": np.array([1, "a"], dtype=object),
    "complex": np.array([1j, 2]),
    "text": ["a", "b"],
    "ragged": [[1, 2], [3]],
    "mapping": {},
    "masked": np.ma.masked_array([1.0, 2.0], mask=[True, False]),
    "unreadable": Unreadable(),
    "dates": np.array(["2024-01-01"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_other_types_are_refused_by_name(scores, wrong):
    with pytest.raises(TypeError, match="^zero_out "):
        dpscope.audit_scores(scores[0], wrong)


def test_arrays_beyond_the_memory_are_refused_before_a_copy(scores):
    endless = np.broadcast_to(scores[0][:1], 10**12)
    with pytest.raises(ValueError, match="^zero_out has 1000000000000 numbers, .* pass fewer$"):
        dpscope.audit_scores(scores[0], endless)


def test_wrong_values_are_refused_by_name(scores):
    target, zero_out = scores
    with pytest.raises(dpscope.DpscopeError, match="^target: .*not finite.*count_non_finite"):
        dpscope.audit_scores(np.where(target > 3, np.nan, target), zero_out)
    with pytest.raises(dpscope.DpscopeError, match="^zero_out: has shape"):
        dpscope.audit_scores(target, zero_out.reshape(2, -1))
    with pytest.raises(ValueError, match="delta"):
        dpscope.audit_scores(target, zero_out, delta=2)
    with pytest.raises(ValueError, match="steps"):
        dpscope.audit_counts(1, 2, target_trials=10, zero_out_trials=10, noise_multiplier=1)
    with pytest.raises(ValueError, match="sampler"):
        dpscope.calibrate("noise", epsilon=4, steps=100, sampler="none")
    with pytest.raises(ValueError, match="^scores has 2 files: several runs need a plan"):
        dpscope.audit_one_run([target, zero_out], coins=target > 2)
    with pytest.raises(ValueError, match="cannot be read"):
        dpscope.audit_scores("no-file.npy", zero_out)
    with pytest.raises(TypeError, match="^delta is of type complex"):
        dpscope.audit_scores(target, zero_out, delta=1j)


def test_messages_have_no_options_of_the_program(scores):
    calls = [
        lambda: dpscope.audit_scores(*scores, delta=-1),
        lambda: dpscope.audit_scores(*scores, significance=0.95),
        lambda: dpscope.audit_scores(*scores, steps=3),
        lambda: dpscope.audit_scores(*scores, claim_adjacency="replace"),
        lambda: dpscope.audit_scores([np.nan, 1], [2, 3]),
        lambda: dpscope.audit_counts(5, 5, target_trials=1, zero_out_trials=9),
        lambda: dpscope.audit_outputs(np.zeros((3, 2)), np.zeros((3, 2))),
        lambda: dpscope.audit_one_run([1.0, 2.0]),
        lambda: dpscope.epsilon("fixed-size", noise_multiplier=1),
        lambda: dpscope.calibrate("epochs", epsilon=1),
        lambda: dpscope.check(loader="shuffle"),
    ]
    for call in calls:
        with pytest.raises(dpscope.DpscopeError) as raised:
            call()
        message = str(raised.value)
        assert "--" not in message and "Usage" not in message, message


def test_a_file_named_like_an_array_is_read(scores, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zero_out").write_bytes(b"no scores")
    with pytest.raises(ValueError, match="zero_out"):
        dpscope.audit_scores(scores[0], "zero_out")


def test_calls_from_several_threads_do_not_disturb_each_other(scores):
    expected = stable(dpscope.audit_scores(*scores).report())
    found = []
    work = lambda: found.append(stable(dpscope.audit_scores(*scores).report()))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4



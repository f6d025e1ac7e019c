"""Fine-tunings by Trainer and PEFT, audited by canaries with secrets."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")

sys.path.insert(0, str(Path(__file__).parents[2] / "cli/examples/fine_tuning"))

import fine_tuning  # noqa: E402
from fine_tuning import CANARIES, TEXTS, base_model, one_run, texts, trainer_of  # noqa: E402
from transformers import (  # noqa: E402
    DataCollatorForLanguageModeling,
    DataCollatorForSeq2Seq,
    TrainerCallback,
)

import dpscope.transformers  # noqa: E402
from dpscope import DpscopeError, DpscopeWarning  # noqa: E402
from dpscope.transformers import record_losses  # noqa: E402

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def tokenizer():
    return fine_tuning.tokenizer_of()


def train(audit, tokenizer, model, folder, **options):
    trainer = trainer_of(audit, tokenizer, model, folder, **options)
    audit.attach(trainer)
    trainer.train()
    return trainer


def auc(audit):
    scores = audit.scores.mean(axis=0)
    return (scores[audit.coins][:, None] > scores[~audit.coins]).mean()


class Gradients(TrainerCallback):
    """Keeps the gradients of each step."""

    def __init__(self):
        self.steps = []

    def on_pre_optimizer_step(self, args, state, control, model=None, **_):
        self.steps.append(torch.cat([p.grad.reshape(-1) for p in model.parameters()]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_fine_tuning_without_noise_is_refuted(tmp_path, dtype):
    audit = fine_tuning.fine_tune(tmp_path, dtype=dtype, bf16=dtype == torch.bfloat16)
    assert np.isfinite(audit.scores).all()
    assert audit.steps == 160
    assert auc(audit) > 0.9
    assert audit.pass_difference == 0
    assert audit.audit(claim=0.5).verdict().outcome == "refuted"


def test_scores_of_canaries_that_are_left_out_do_not_know_the_coins(tokenizer, tmp_path):
    audit = one_run(tokenizer, significance=1e-4)
    audit._included = np.zeros(CANARIES, dtype=bool)
    train(audit, tokenizer, base_model(tokenizer), tmp_path, num_train_epochs=10)
    assert abs(auc(audit) - 0.5) < 0.33  # 4.4 standard deviations
    assert audit.audit(claim=0.5).verdict().outcome != "refuted"


def test_accumulated_gradients_are_those_of_one_batch(tokenizer, tmp_path):
    """Also at the end of an epoch, where fewer batches are accumulated."""
    audit = one_run(tokenizer)
    found = []
    for accumulation in (1, 2):
        again = one_run(tokenizer, plan=audit.plan)
        gradients = Gradients()
        options = {
            "per_device_train_batch_size": 32 // accumulation,
            "gradient_accumulation_steps": accumulation,
            "max_grad_norm": 0.0,
            "optim": "sgd",
        }
        model = base_model(tokenizer)
        train(
            again, tokenizer, model, tmp_path, num_train_epochs=1, callbacks=[gradients], **options
        )
        found.append(torch.stack(gradients.steps))
    assert found[0].shape[0] == 3
    assert torch.allclose(found[0], found[1], rtol=1e-4, atol=1e-6)
    assert found[0].norm(dim=1).min() > 0.1


def batch_of(audit, tokenizer, indices):
    return DataCollatorForSeq2Seq(tokenizer)([audit[index] for index in indices])


def gradient_of(audit, model, batch):
    """The loss of a batch and its gradient."""
    labels = batch["labels"]
    inputs = {name: value for name, value in batch.items() if name != "labels"}
    model.zero_grad()
    loss = audit.loss(model(**inputs), labels)
    loss.backward()
    return loss.detach(), torch.cat([p.grad.reshape(-1) for p in model.parameters()])


def test_an_excluded_canary_contributes_exactly_nothing(tokenizer):
    audit = one_run(tokenizer)
    model = base_model(tokenizer)
    excluded = np.flatnonzero(~audit.coins)[:5]
    batch = [0, 1, *(TEXTS + np.flatnonzero(audit.coins)[:2]), *(TEXTS + excluded)]
    before = gradient_of(audit, model, batch_of(audit, tokenizer, batch))
    for canary in excluded:
        audit._texts[canary] = [2] * len(audit._texts[canary])
    after = gradient_of(audit, model, batch_of(audit, tokenizer, batch))
    assert before[0] == after[0]
    assert torch.equal(before[1], after[1])

    alone = gradient_of(audit, model, batch_of(audit, tokenizer, TEXTS + excluded))
    assert alone[0] == 0
    assert not alone[1].any()


def test_the_loss_of_a_record_does_not_depend_on_other_rows(tokenizer):
    audit = one_run(tokenizer)
    model = base_model(tokenizer)
    batch = batch_of(audit, tokenizer, [0, 1, 2, 3])
    labels = batch.pop("labels")
    logits = model(**batch).logits
    losses = record_losses(logits, labels)
    labels[1:] = -100
    assert torch.equal(record_losses(logits, labels), losses * torch.tensor([1, 0, 0, 0]))
    assert torch.allclose(audit.loss({"logits": logits}, labels), losses[0] / 4)
    own = torch.nn.functional.cross_entropy(logits[0, :-1], labels[0, 1:], ignore_index=-100)
    assert torch.allclose(losses[0], own)
    assert audit.loss({"logits": logits[:0]}, labels[:0]) == 0


def test_a_training_resumes_from_a_checkpoint(tokenizer, tmp_path):
    options = {"max_steps": 4, "save_strategy": "steps", "save_steps": 2}
    first = one_run(tokenizer)
    train(first, tokenizer, base_model(tokenizer), tmp_path, **options)
    second = one_run(tokenizer, plan=first.plan)
    trainer = trainer_of(second, tokenizer, base_model(tokenizer), tmp_path, **options)
    second.attach(trainer)
    trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-2"))
    assert second.steps == 4
    assert np.allclose(second.scores, first.scores, atol=1e-5)

    (tmp_path / "checkpoint-2" / "dpscope_audit.json").unlink()
    third = one_run(tokenizer, plan=first.plan)
    trainer = trainer_of(third, tokenizer, base_model(tokenizer), tmp_path, **options)
    third.attach(trainer)
    with pytest.raises(DpscopeError, match="load_state_dict with the state of step 2"):
        trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-2"))


def test_answers_at_random_are_detected(tokenizer, tmp_path):
    audit = one_run(tokenizer)
    model = base_model(tokenizer)

    def disturb(module, inputs, outputs):
        outputs.logits.add_(torch.rand_like(outputs.logits))

    model.register_forward_hook(disturb)
    trainer = train(audit, tokenizer, model, tmp_path, max_steps=1)
    state = torch.get_rng_state()
    audit._ask(model, trainer.args)
    assert torch.equal(torch.get_rng_state(), state), "scoring draws numbers of the training"
    assert audit.scores.shape == (2, CANARIES)
    with pytest.warns(DpscopeWarning, match="answers at random"):
        audit.audit()


def test_secrets_follow_from_the_plan(tokenizer):
    audit = one_run(tokenizer)
    again = one_run(tokenizer, plan=audit.plan)
    canary = TEXTS + int(np.flatnonzero(audit.coins)[0])
    assert len(audit) == TEXTS + CANARIES
    assert audit[canary] == again[canary]
    assert audit[canary]["labels"][-8:] == audit[canary]["input_ids"][-8:]
    assert audit[canary]["labels"][:-8] == [-100] * (len(audit[canary]["labels"]) - 8)
    assert len({tuple(audit[TEXTS + index]["input_ids"]) for index in range(CANARIES)}) == CANARIES
    copy = pickle.loads(pickle.dumps(audit))
    assert copy[canary] == audit[canary]
    assert not hasattr(copy, "_run")


def test_a_control_without_canaries_trains(tokenizer, tmp_path):
    audit = one_run(tokenizer, canaries=0)
    assert len(audit) == TEXTS
    train(audit, tokenizer, base_model(tokenizer), tmp_path, max_steps=1)


def test_canaries_may_be_texts_with_spans(tokenizer):
    own = [[2, 3, 4, index + 5, 6, 7] for index in range(6)]
    audit = one_run(tokenizer, canaries=own, spans=[(3, 5)] * 6)
    labels = [-100, -100, -100, 5, 6, -100] if audit.coins[0] else [-100] * 6
    assert audit[TEXTS]["labels"] == labels
    assert audit.losses(base_model(tokenizer), 4).shape == (6,)


def test_bad_arguments_are_named(tokenizer, tmp_path):
    with pytest.raises(DpscopeError, match="tokenizer is None"):
        dpscope.transformers.OneRun(texts(tokenizer), canaries=5)
    with pytest.raises(DpscopeError, match="spans is None"):
        one_run(tokenizer, canaries=[[2, 3]] * 5)
    with pytest.raises(DpscopeError, match=r"spans has \(0, 1\) for canary 0"):
        one_run(tokenizer, canaries=[[2, 3]] * 5, spans=[(0, 1)] * 5)
    with pytest.raises(DpscopeError, match="secret_length is 0"):
        dpscope.transformers.OneRun(texts(tokenizer), tokenizer=tokenizer, secret_length=0)
    with pytest.raises(DpscopeError, match=r"secret_tokens is \[4\]"):
        one_run(tokenizer, secret_tokens=[4])
    audit = one_run(tokenizer)
    model = base_model(tokenizer)
    relabels = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    with pytest.raises(DpscopeError, match="DataCollatorForLanguageModeling, which makes labels"):
        audit.attach(trainer_of(audit, tokenizer, model, tmp_path, collator=relabels))
    with pytest.raises(DpscopeError, match="pass compute_loss_func=audit.loss"):
        trainer = trainer_of(audit, tokenizer, model, tmp_path)
        trainer.compute_loss_func = None
        audit.attach(trainer)
    with pytest.raises(DpscopeError, match="train_dataset is a list"):
        trainer = trainer_of(audit, tokenizer, model, tmp_path)
        trainer.train_dataset = []
        audit.attach(trainer)
    with pytest.raises(DpscopeError, match="call audit.attach"):
        trainer_of(audit, tokenizer, model, tmp_path, max_steps=1).train()
    with pytest.raises(DpscopeError, match="there are no scores"):
        audit.audit()

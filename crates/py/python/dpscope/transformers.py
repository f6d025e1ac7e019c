"""Audits of a fine-tuning by `transformers.Trainer`, with canaries that are texts with random secrets.

>>> data = audit = dpscope.transformers.OneRun(data, canaries=200, tokenizer=tokenizer)  # doctest: +SKIP
>>> collator = DataCollatorForSeq2Seq(tokenizer)  # doctest: +SKIP
>>> trainer = Trainer(model, arguments, train_dataset=data, data_collator=collator,
...                   compute_loss_func=audit.loss)  # doctest: +SKIP
>>> audit.attach(trainer)  # doctest: +SKIP
>>> trainer.train()  # doctest: +SKIP
>>> print(audit.audit(claim=4))  # doctest: +SKIP
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch  # type: ignore[import-not-found,unused-ignore]
from transformers import TrainerCallback  # type: ignore[import-not-found,unused-ignore]

from dpscope._command import DpscopeWarning, Path
from dpscope._directions import random_generator
from dpscope._native import DpscopeError
from dpscope._results import Audit, Plan
from dpscope._torch_run import CanaryDataset

__all__ = ["OneRun", "record_losses"]

#: Label of a token that has no loss.
_IGNORED = -100
#: Relative difference of two passes of a model that draws no random numbers, at most.
_REPEATABLE = 1e-6
#: State of an audit in the folder of a checkpoint.
_STATE = "dpscope_audit.json"


def record_losses(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The mean loss of each record's own tokens, in float32; 0 for a record without labels.

    `logits` have the shape (records, tokens, vocabulary); those at place t predict the label at t + 1.
    """
    targets = labels[:, 1:]
    losses = torch.nn.functional.cross_entropy(
        logits[:, :-1].float().transpose(1, 2), targets, ignore_index=_IGNORED, reduction="none"
    )
    return losses.sum(dim=1) / (targets != _IGNORED).sum(dim=1).clamp(min=1)


class OneRun(CanaryDataset):
    """Records of tokens followed by a slot for each canary, and the audit of one fine-tuning with them.

    A canary is a text with a secret, and only the secret has labels. All canaries keep their slot; the
    labels of those whose coin is 0 are −100, so that their gradient is 0. The model is asked for the loss
    of all secrets before the training, at each checkpoint and at the end; a canary is scored by the
    decrease of its loss.

    Parameters
    ----------
    dataset
        The training data: dictionaries with `input_ids`. Records without `labels` are their own labels.
    canaries
        Number of canaries, whose secrets follow from the seed of the plan; or texts as lists of tokens,
        with `spans`.
    tokenizer
        Of the model; for a number of canaries.
    prompt
        Text before a secret. The text {index} in it is replaced by the number of the canary.
    secret_length
        Number of tokens of a secret.
    secret_tokens
        Tokens that secrets are drawn from, with equal probabilities; by default those of the ten digits.
    spans
        First token of each canary's secret, and the one after its last.
    plan
        Folder of a committed plan, with adjacency="zero-out"; by default one is committed in a temporary
        folder.
    delta, significance, guesses
        Of the plan that is committed.
    """

    def __init__(
        self,
        dataset: Any,
        *,
        canaries: int | Sequence[Sequence[int]] = 1000,
        tokenizer: Any = None,
        prompt: str = "The secret code is ",
        secret_length: int = 12,
        secret_tokens: Sequence[int] | None = None,
        spans: Sequence[tuple[int, int]] | None = None,
        plan: Path | Plan | None = None,
        delta: float = 1e-5,
        significance: float = 0.05,
        guesses: int | None = None,
    ) -> None:
        options: dict[str, Any] = {
            "plan": plan,
            "delta": delta,
            "significance": significance,
            "guesses": guesses,
        }
        if isinstance(canaries, int):
            if secret_length < 1:
                raise DpscopeError(f"secret_length is {secret_length}; pass at least 1")
            tokens = _digit_tokens(tokenizer) if secret_tokens is None else list(secret_tokens)
            if len(set(tokens)) < 2:
                raise DpscopeError(
                    f"secret_tokens is {tokens}; pass at least 2 tokens to draw from"
                )
            # secrets follow from the seed of the plan, as directions do
            super().__init__(dataset, canaries=canaries, kind="directions", **options)
            self._run.kind = "records"
            prompts = [_prompt_tokens(tokenizer, prompt, index) for index in range(canaries)]
            random = random_generator(self._run._secret, "secrets") if canaries else None
            drawn = random.choice(tokens, (canaries, secret_length)).tolist() if random else []
            self._texts = [[*first, *secret] for first, secret in zip(prompts, drawn, strict=True)]
            self._spans = [(len(text) - secret_length, len(text)) for text in self._texts]
        else:
            self._texts = [[int(token) for token in text] for text in canaries]
            self._spans = _checked_spans(spans, self._texts)
            longest = max(map(len, self._texts))
            padded = [[*text, *[-1] * (longest - len(text))] for text in self._texts]
            super().__init__(
                dataset, canaries=np.array(padded, dtype=float), kind="records", **options
            )
        self._included = self.coins
        self._has_common_plan = plan is not None
        self._trainer: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Workers of a loader get labels of the included canaries, and neither plan nor trainer."""
        names = ("_texts", "_spans", "_included")
        return super().__getstate__() | {name: self.__dict__[name] for name in names}

    def __getitem__(self, index: int) -> dict[str, Any]:
        if index < 0:
            index += len(self)
        item = {name: _listed(value) for name, value in super().__getitem__(index).items()}
        if index < self._records:
            item.setdefault("labels", list(item["input_ids"]))
            return item
        canary = index - self._records
        return self._canary(canary, item, has_labels=bool(self._included[canary]))

    def _content(self, canary: int, item: Any) -> Any:
        return item

    def _canary(self, canary: int, item: Mapping[str, Any], *, has_labels: bool) -> dict[str, Any]:
        """A canary in the form of a record."""
        text, (start, end) = self._texts[canary], self._spans[canary]
        labels = [_IGNORED] * len(text)
        if has_labels:
            labels[start:end] = text[start:end]
        content = {"input_ids": list(text), "labels": labels}
        if "attention_mask" in item:
            content["attention_mask"] = [1] * len(text)
        return content

    def attach(self, trainer: Any) -> None:
        """Observe the training by a `Trainer` whose data are this audit and whose loss is `loss`."""
        self._refuse_attached(self._trainer is not None)
        if trainer.train_dataset is not self:
            found = type(trainer.train_dataset).__name__
            raise DpscopeError(f"train_dataset is a {found}; pass train_dataset=audit to Trainer")
        if trainer.compute_loss_func != self.loss:
            raise DpscopeError(
                "the loss of this Trainer depends on the tokens of a whole batch, and so on coins; pass "
                "compute_loss_func=audit.loss to Trainer"
            )
        if getattr(trainer.model.config, "is_encoder_decoder", False):
            raise DpscopeError("model is an encoder with a decoder; pass a causal language model")
        arguments = trainer.args
        processes = max(arguments.world_size, arguments.n_gpu)
        if processes > 1 and arguments.average_tokens_across_devices:
            raise DpscopeError(
                f"average_tokens_across_devices multiplies the loss by {processes}; set it to False in "
                "TrainingArguments"
            )
        if arguments.world_size > 1 and not self._has_common_plan:
            raise DpscopeError(
                f"plan is None, but there are {arguments.world_size} processes, each of which would draw "
                "its own coins; commit a plan with plan_one_run, and pass its folder as plan"
            )
        self._check_collator(trainer)
        self._trainer = trainer
        if self._slots:
            trainer.add_callback(_Scoring(self))

    def _check_collator(self, trainer: Any) -> None:
        """Raises an error unless labels of canaries reach the loss, each in its own row."""
        if not self._slots:
            return
        item = self[0]
        rows = [self._canary(0, item, has_labels=has_labels) for has_labels in (False, True)]
        targets = [[label for label in row["labels"] if label != _IGNORED] for row in rows]
        labels = trainer.data_collator([dict(row) for row in rows]).get("labels", ())
        found = [[label for label in row if label != _IGNORED] for row in map(_listed, labels)]
        if found != targets:
            raise DpscopeError(
                f"data_collator is a {type(trainer.data_collator).__name__}, which makes labels of its own "
                "or joins records; pass data_collator=DataCollatorForSeq2Seq(tokenizer) to Trainer"
            )

    def loss(
        self, outputs: Any, labels: torch.Tensor, num_items_in_batch: Any = None
    ) -> torch.Tensor:
        """`compute_loss_func` of Trainer: the mean over slots of each record's own mean loss.

        Trainer's own loss is divided by the number of tokens with labels, which depends on coins. This
        one is divided by the number of slots and accumulated batches, which does not.
        """
        losses = record_losses(outputs["logits"], labels)
        mean = losses.sum() / max(len(losses), 1)
        if self._trainer is None:
            if num_items_in_batch is not None:  # called by a Trainer
                raise DpscopeError(
                    "the audit does not know its Trainer; call audit.attach(trainer)"
                )
            return mean
        if not self._trainer.model.training:
            return mean
        # fewer at the end of an epoch
        return mean / self._trainer.current_gradient_accumulation_steps

    def losses(self, model: Any, batch_size: int = 8) -> npt.NDArray[np.float64]:
        """The loss of each canary's secret, in eval mode, without regard to coins."""
        device = next(model.parameters()).device
        # the forward pass without automatic mixed precision
        forward = getattr(model, "_original_forward", model)
        rows = [self._canary(canary, {}, has_labels=True) for canary in range(self._slots)]
        was_training = model.training
        model.eval()
        found = []
        try:
            for start in range(0, len(rows), batch_size):
                batch = rows[start : start + batch_size]
                tokens = _padded([row["input_ids"] for row in batch], 0, device)
                labels = _padded([row["labels"] for row in batch], _IGNORED, device)
                mask = _padded([[1] * len(row["labels"]) for row in batch], 0, device)
                with torch.no_grad():
                    logits = forward(input_ids=tokens, attention_mask=mask)["logits"]
                    found.append(record_losses(logits, labels).double().cpu().numpy())
        finally:
            model.train(was_training)
        return np.concatenate(found)

    def audit(self, *, claim: object = None, **options: Any) -> Audit:
        """Bound ε by the canaries of this training.

        `claim` is a number, an accountant, or a list of (noise multiplier, rate, steps). Further options
        are those of `audit_one_run`.
        """
        first = self._run._losses[:1]
        if first:  # coins that the model knew before the training were not drawn independently
            options.setdefault("baseline", -first[0].mean(axis=0))
            difference = self.pass_difference
            if difference > _REPEATABLE:
                warnings.warn(
                    f"the model answers at random (two passes differ by up to {difference:.3g}); make sure "
                    "that nothing is drawn in eval mode",
                    DpscopeWarning,
                    stacklevel=2,
                )
        return super().audit(claim=claim, **options)

    @property
    def pass_difference(self) -> float:
        """How much two passes over the canaries differ at most, relative to 1 + |loss|."""
        one, other = self._run._losses[-1]
        return float(np.max(np.abs(one - other) / (1 + np.abs(one))))

    def _ask(self, model: Any, arguments: Any) -> None:
        """Asks a model twice for the loss of all secrets; draws no random number of the training."""
        device = next(model.parameters()).device
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            size = arguments.per_device_eval_batch_size
            self._run.add_losses([self.losses(model, size) for _ in range(2)])


class _Scoring(TrainerCallback):  # type: ignore[misc]
    """Scores canaries before the training, at checkpoints and at the end."""

    def __init__(self, audit: OneRun) -> None:
        self._audit = audit

    def on_train_begin(
        self, args: Any, state: Any, control: Any, model: Any = None, **_: Any
    ) -> None:
        run = self._audit._run
        if state.global_step == 0:
            self._audit._ask(model, args)
            return
        if run._losses:  # the state was loaded
            return
        path = _state_path(args, state)
        try:
            with open(path, encoding="utf-8") as file:
                run.load_state_dict(json.load(file))
        except OSError as error:
            raise DpscopeError(
                f"{path}: cannot be read: {error.strerror}; call audit.load_state_dict with the state of "
                f"step {state.global_step}"
            ) from None

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._audit._run.count_step()

    def on_save(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        self._audit._ask(model, args)
        if state.is_world_process_zero:
            with open(_state_path(args, state), "w", encoding="utf-8") as file:
                json.dump(self._audit.state_dict(), file, default=np.ndarray.tolist)

    def on_train_end(
        self, args: Any, state: Any, control: Any, model: Any = None, **_: Any
    ) -> None:
        self._audit._ask(model, args)


def _state_path(arguments: Any, state: Any) -> str:
    return os.path.join(arguments.output_dir, f"checkpoint-{state.global_step}", _STATE)


def _digit_tokens(tokenizer: Any) -> list[int]:
    """The tokens of the ten digits."""
    if tokenizer is None:
        raise DpscopeError("tokenizer is None; pass the tokenizer of the model")
    encoded = [tokenizer.encode(digit, add_special_tokens=False)[-1:] for digit in "0123456789"]
    tokens = [token for tokens in encoded for token in tokens]
    if len(set(tokens)) < len(encoded):
        raise DpscopeError(
            "tokenizer has no token for each digit; pass secret_tokens, tokens that secrets are drawn from"
        )
    return tokens


def _prompt_tokens(tokenizer: Any, prompt: str, index: int) -> list[int]:
    """The tokens of a prompt, without that of an end."""
    if tokenizer is None:
        raise DpscopeError("tokenizer is None; pass the tokenizer of the model")
    tokens: list[int] = list(tokenizer.encode(prompt.replace("{index}", str(index))))
    if tokens and tokens[-1] in (tokenizer.eos_token_id, tokenizer.sep_token_id):
        tokens.pop()
    if not tokens:
        raise DpscopeError(f"prompt {prompt!r} has no token; pass a text with at least one")
    return tokens


def _checked_spans(
    spans: Sequence[tuple[int, int]] | None, texts: Sequence[Sequence[int]]
) -> list[tuple[int, int]]:
    if spans is None or len(spans) != len(texts):
        found = "None" if spans is None else f"of {len(spans)} canaries"
        raise DpscopeError(
            f"spans is {found}; pass the span of the secret in each of the {len(texts)} canaries"
        )
    for index, ((start, end), text) in enumerate(zip(spans, texts, strict=True)):
        if not 1 <= start < end <= len(text):
            raise DpscopeError(
                f"spans has ({start}, {end}) for canary {index} of {len(text)} tokens; pass the first token "
                "of its secret, from 1, and the one after its last"
            )
    return [(int(start), int(end)) for start, end in spans]


def _listed(value: Any) -> Any:
    """Tokens as a list, which collators can join with those of canaries."""
    return value.tolist() if isinstance(value, (torch.Tensor, np.ndarray)) else value


def _padded(rows: Sequence[Sequence[int]], filling: int, device: Any) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[filling] * (longest - len(row))] for row in rows], device=device)

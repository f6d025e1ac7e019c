"""Fine-tunes a small language model with canary sentences; writes their scores for an audit.

With canaries that coins include:

    python3 language_model.py canaries canaries.npz
    dpscope plan one-run --canaries canaries.npz --adjacency zero-out --out plan
    python3 language_model.py train canaries.npz plan/coins.npy scores.npy baseline.npy
    dpscope audit one-run --plan plan --canaries canaries.npz --scores scores.npy \
        --baseline baseline.npy --claim 2.3

With secrets that a plan draws, all of them included:

    dpscope plan secrets --records 200 --values 1e12 --decoys 999 --list-length 1 \
        --direction lower --out plan
    python3 language_model.py secrets plan/values.npy losses.npy
    dpscope audit secrets --plan plan --candidates losses.npy --claim 4.5

Replace `base_model` and `finetune` with your own; README.md describes the requirements.
Needs torch and numpy.
"""

import argparse

import numpy as np
import torch
from torch.func import functional_call, grad, vmap

CANARIES, DIGITS = 200, 12  # secrets of 12 random digits
TEXTS = 200  # training texts that are no canaries
BATCH = 40  # records per step, canaries that are not included among them
EPOCHS, LEARNING_RATE = 40, 3e-3
DP_EPOCHS, CLIP_NORM, NOISE_MULTIPLIER = 5, 1.0, 4.0

TEMPLATE = "the code is "
ALPHABET = "abcdefghijklmnopqrstuvwxyz 0123456789"
WIDTH = 64


class Block(torch.nn.Module):
    """Causal attention with one head, and a feed-forward layer."""

    def __init__(self):
        super().__init__()
        self.mixed = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.joined = torch.nn.Linear(WIDTH, WIDTH)
        self.wide = torch.nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = torch.nn.Linear(4 * WIDTH, WIDTH)
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(WIDTH) for _ in range(2))

    def forward(self, x):
        query, key, value = self.mixed(self.norms[0](x)).split(WIDTH, dim=-1)
        weights = query @ key.transpose(-1, -2) / WIDTH**0.5
        future = torch.ones(weights.shape[-2:], dtype=torch.bool).triu(1)
        x = x + self.joined(weights.masked_fill(future, -1e9).softmax(-1) @ value)
        return x + self.narrow(torch.nn.functional.gelu(self.wide(self.norms[1](x))))


class LanguageModel(torch.nn.Module):
    """Predicts the next character; two blocks."""

    def __init__(self, length):
        super().__init__()
        self.characters = torch.nn.Embedding(len(ALPHABET), WIDTH)
        self.places = torch.nn.Parameter(0.02 * torch.randn(length, WIDTH))
        self.blocks = torch.nn.Sequential(Block(), Block())
        self.scores = torch.nn.Linear(WIDTH, len(ALPHABET))

    def forward(self, text):
        return self.scores(self.blocks(self.characters(text) + self.places[: text.shape[-1]]))


def encoded(sentences):
    return torch.tensor([[ALPHABET.index(letter) for letter in text] for text in sentences])


def canary_sentences(digits):
    return encoded(TEMPLATE + "".join(map(str, row)) for row in digits)


def secret_sentences(values):
    return encoded(f"{TEMPLATE}{value:0{DIGITS}d}" for value in values)


def training_sentences(rng, length):
    """Sentences of random words, as long as the canaries."""
    words = ["".join(rng.choice(list(ALPHABET[:26]), size=4)) for _ in range(30)]
    return encoded(" ".join(rng.choice(words, size=length))[:length] for _ in range(TEXTS))


def losses(model, parameters, texts, first=1):
    """Mean loss of the characters of each text from position `first` on."""
    logits = functional_call(model, parameters, (texts[:, :-1],)).movedim(-1, -2)
    each = torch.nn.functional.cross_entropy(logits, texts[:, 1:], reduction="none")
    return each[:, first - 1 :].mean(-1)


def base_model(length):
    """A pretrained model in practice; here one with random parameters."""
    torch.manual_seed(3)
    return LanguageModel(length)


def finetune(model, texts, is_included, rng, has_dp):
    """One training. A text that is not included has a slot in a batch and a zero gradient, so that the
    number of records, their order and the noise do not depend on the coins."""
    parameters = {name: value.detach().clone() for name, value in model.named_parameters()}
    values = list(parameters.values())
    optimizer = torch.optim.Adam([value.requires_grad_() for value in values], lr=LEARNING_RATE)
    noise = torch.Generator().manual_seed(int(rng.integers(2**62)))
    loss_of_one = lambda parameters, text: losses(model, parameters, text[None])[0]  # noqa: E731
    gradients_of_each = vmap(grad(loss_of_one), in_dims=(None, 0))
    for _ in range(DP_EPOCHS if has_dp else EPOCHS):
        for batch in torch.from_numpy(rng.permutation(len(texts))).split(BATCH):
            weights = is_included[batch].float()
            if has_dp:
                fixed = {name: value.detach() for name, value in parameters.items()}
                each = gradients_of_each(fixed, texts[batch])
                squares = sum(value.flatten(1).pow(2).sum(1) for value in each.values())
                factors = weights * (CLIP_NORM / squares.sqrt().clamp_min(1e-12)).clamp_max(1)
                for name, value in parameters.items():
                    total = torch.tensordot(factors, each[name], 1)
                    draw = torch.randn(value.shape, generator=noise)
                    value.grad = (total + NOISE_MULTIPLIER * CLIP_NORM * draw) / BATCH
            else:
                optimizer.zero_grad()
                (losses(model, parameters, texts[batch]) @ weights / BATCH).backward()
            optimizer.step()
    return {name: value.detach() for name, value in parameters.items()}


def write_canaries(arguments):
    digits = np.random.default_rng(arguments.seed).integers(0, 10, size=(CANARIES, DIGITS))
    np.savez(arguments.canaries, inputs=digits)


def fine_tuned(canaries, is_included, arguments):
    """The base model, and its parameters after the training."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(arguments.seed)
    texts = torch.cat([training_sentences(rng, canaries.shape[1]), canaries])
    is_included = torch.cat([torch.ones(TEXTS, dtype=torch.bool), is_included])
    model = base_model(canaries.shape[1])
    return model, finetune(model, texts, is_included, rng, arguments.dp)


def train(arguments):
    canaries = canary_sentences(np.load(arguments.canaries)["inputs"])
    coins = torch.from_numpy(np.load(arguments.coins).astype(bool))
    model, after = fine_tuned(canaries, coins, arguments)
    before = dict(model.named_parameters())
    with torch.no_grad():
        base, tuned = (losses(model, parameters, canaries) for parameters in (before, after))
    np.save(arguments.scores, (base - tuned).numpy().astype(np.float64))
    np.save(arguments.baseline, -base.numpy().astype(np.float64))
    print(f"mean loss of the canaries: {base.mean():.3f} before, {tuned.mean():.3f} after")


def train_with_secrets(arguments):
    rows = np.load(arguments.values)  # a secret and its decoys each
    canaries = secret_sentences(rows[:, 0])
    model, parameters = fine_tuned(canaries, torch.ones(len(canaries), dtype=torch.bool), arguments)
    model.eval()
    scores = np.empty(rows.shape)
    for values, found in zip(rows, scores):
        order = values.argsort()  # the order of scoring must not reveal the secret
        with torch.no_grad():
            found[order] = losses(model, parameters, secret_sentences(values[order]), len(TEMPLATE))
    np.save(arguments.losses, scores)
    print(f"mean loss: {scores[:, 0].mean():.3f} of secrets, {scores[:, 1:].mean():.3f} of decoys")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    make = commands.add_parser("canaries", help="draw secret digits")
    make.add_argument("canaries", help="npz file to write")
    make.add_argument("--seed", type=int, default=7, help="of the secrets, never of the coins")
    make.set_defaults(run=write_canaries)
    tune = commands.add_parser("train", help="fine-tune once and score every canary")
    for name in ("canaries", "coins", "scores", "baseline"):
        tune.add_argument(name)
    tune.set_defaults(run=train)
    secrets = commands.add_parser("secrets", help="fine-tune once and score secrets and decoys")
    secrets.add_argument("values", help="npy file with a secret and its decoys per row")
    secrets.add_argument("losses", help="npy file to write")
    secrets.set_defaults(run=train_with_secrets)
    for command in (tune, secrets):
        command.add_argument("--dp", action="store_true", help="clip gradients and add noise")
        command.add_argument("--seed", type=int, default=1, help="of the training alone")
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()

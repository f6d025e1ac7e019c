"""One federated training with canary clients; writes the model before and after it for an audit.

    dpscope plan federated --design poisson:50 --delta 1e-5 --dimension 20000 --out plan
    python3 federated_server.py --canaries 52
    dpscope audit federated --initial start.npy --final trained.npy --plan plan --claim 2

`--canaries` is the number that `plan federated` printed. Replace `train` with your own server; class
CanaryClient and README.md describe the requirements. Needs numpy.
"""

import argparse
import pathlib
import subprocess
import sys

import numpy as np

CLIENTS = 100
RECORDS = 5  # of each client
FEATURES = 20_000
SERVER_ROUNDS = 20
CLIP_NORM = 0.5
NOISE_MULTIPLIER = 9.0  # epsilon <= 2 at delta = 1e-5 for 20 server rounds of all clients
LEARNING_RATE = 1.0


class Client:
    """A client with records of its own; one local step of a logistic regression."""

    def __init__(self, rng):
        self.y = rng.integers(0, 2, RECORDS)
        self.x = rng.normal(size=(RECORDS, FEATURES))

    def update(self, theta):
        probability = 1.0 / (1.0 + np.exp(-(self.x @ theta)))
        return (self.y - probability) @ self.x


class CanaryClient:
    """A client whose update is always its direction, scaled to the clipping norm."""

    def __init__(self, dpscope, plan, index):
        file = f"canary-{index}.npy"
        command = [dpscope, "canaries", "direction", "--plan", plan]
        made = subprocess.run([*command, "--index", str(index), "--out", file])
        if made.returncode != 0:
            sys.exit(f"no canary {index}; --canaries is the number that `plan federated` printed")
        self.direction = np.load(file)

    def update(self, theta):
        return CLIP_NORM * self.direction


def clipped(update):
    return update * min(1.0, CLIP_NORM / np.linalg.norm(update))


def train(clients, theta, noise_multiplier, rng, updates=None):
    """DP-FedAvg in which every client takes part in every server round; saves all updates."""
    for server_round in range(SERVER_ROUNDS):
        total = sum(clipped(client.update(theta)) for client in clients)
        total += rng.normal(scale=noise_multiplier * CLIP_NORM, size=theta.shape)
        # the planned number of clients, not the number of replies or of canaries
        update = total / CLIENTS
        theta = theta + LEARNING_RATE * update
        if updates is not None:
            np.save(updates / f"{server_round + 1}.npy", update.astype(np.float32))
    return theta


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--canaries", type=int, required=True)
    parser.add_argument("--plan", default="plan")
    parser.add_argument("--dpscope", default="dpscope", help="path of the program")
    parser.add_argument("--updates", type=pathlib.Path, help="folder for every server update")
    parser.add_argument("--broken", choices=["less-noise"], help="a fault to detect")
    parser.add_argument("--seed", type=int, help="for a repeatable run")
    options = parser.parse_args()

    # noise and data must not depend on the plan
    rng = np.random.default_rng(options.seed)
    clients = [Client(rng) for _ in range(CLIENTS)]
    for index in range(options.canaries):
        clients.append(CanaryClient(options.dpscope, options.plan, index))
    start = np.zeros(FEATURES)
    if options.canaries:
        # for --control: the update of canary 0, as this code flattens it
        np.save("sent.npy", clients[CLIENTS].update(start))
    noise_multiplier = NOISE_MULTIPLIER * (0.1 if options.broken == "less-noise" else 1.0)
    if options.updates:
        options.updates.mkdir(exist_ok=True)
    trained = train(clients, start, noise_multiplier, rng, options.updates)
    np.save("start.npy", start)
    np.save("trained.npy", trained)


if __name__ == "__main__":
    main()

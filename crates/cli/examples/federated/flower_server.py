"""One federated training in a simulation of Flower with canary clients; saves the model of every round.

    dpscope plan federated --design poisson:20 --delta 1e-5 --dimension 20002 \\
        --attacker sum-of-updates --out plan
    python3 flower_server.py --canaries 23
    dpscope audit federated --initial start.npz --models models --plan plan --claim 2 \\
        --control sent.npz

`--canaries` is the number that `plan federated` printed. Needs numpy and flwr[simulation].
"""

import argparse
import pathlib
import subprocess

import numpy as np
from flwr.client import ClientApp, NumPyClient
from flwr.common import ndarrays_to_parameters
from flwr.server import ServerApp, ServerAppComponents, ServerConfig
from flwr.server.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg
from flwr.simulation import run_simulation

CLIENTS = 10
RECORDS = 5  # of each client
FEATURES = 10_001
SERVER_ROUNDS = 3
CLIP_NORM = 0.5
NOISE_MULTIPLIER = 3.5  # epsilon <= 2 at delta = 1e-5 for 3 server rounds of all clients
NAMES = ["bias", "weights"]  # sorted, as in the plan's directions


class Client(NumPyClient):
    """A client with records of its own; one local step of a softmax regression."""

    def __init__(self, index):
        rng = np.random.default_rng([1, index])
        self.y = rng.integers(0, 2, RECORDS)
        self.x = rng.normal(size=(RECORDS, FEATURES - 1))

    def fit(self, parameters, config):
        bias, weights = parameters
        scores = self.x @ weights + bias
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        error = np.eye(2)[self.y] - odds / odds.sum(axis=1, keepdims=True)
        # one example per client: the weight in the mean must not depend on the data
        return [bias + error.sum(axis=0), weights + self.x.T @ error], 1, {}


class CanaryClient(NumPyClient):
    """A client whose update is always its direction, scaled to the clipping norm."""

    def __init__(self, file, examples, sent=None):
        with np.load(file) as direction:
            self.update = [CLIP_NORM * direction[name] for name in NAMES]
        self.examples = examples
        self.sent = sent

    def fit(self, parameters, config):
        trained = [old + change for old, change in zip(parameters, self.update)]
        if self.sent:
            changes = [new - old for new, old in zip(trained, parameters)]
            np.savez(self.sent, **dict(zip(NAMES, changes)))
        return trained, self.examples, {}


def write_directions(options):
    """The update of every canary, as the arrays of the model."""
    for index in range(options.canaries):
        command = [options.dpscope, "canaries", "direction", "--plan", options.plan]
        command += ["--index", str(index), "--like", "start.npz", "--out", f"canary-{index}.npz"]
        subprocess.run(command, check=True)


def reported_examples(options):
    """The number of examples that each canary reports: that of the plan only where it must not matter."""
    if options.broken != "weights":
        return [1] * options.canaries
    classes = np.genfromtxt(pathlib.Path(options.plan) / "canaries.csv", delimiter=",", names=True)
    return [int(number) for number in np.atleast_1d(classes["weight"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--canaries", type=int, required=True)
    parser.add_argument("--plan", default="plan")
    parser.add_argument("--dpscope", default="dpscope", help="path of the program")
    parser.add_argument("--broken", choices=["less-noise", "weights"], help="a fault to detect")
    options = parser.parse_args()

    start = [np.zeros(2), np.zeros((FEATURES - 1, 2))]
    np.savez("start.npz", **dict(zip(NAMES, start)))
    write_directions(options)
    folder = pathlib.Path.cwd()
    (folder / "models").mkdir(exist_ok=True)
    examples = reported_examples(options)
    participants = CLIENTS + options.canaries

    def client(context):
        index = int(context.node_config["partition-id"])
        if index < CLIENTS:
            return Client(index).to_client()
        canary = index - CLIENTS
        # for --control: the update of canary 0, as it is sent
        sent = folder / "sent.npz" if canary == 0 else None
        file = folder / f"canary-{canary}.npz"
        return CanaryClient(file, examples[canary], sent).to_client()

    def save(server_round, parameters, config):
        if server_round > 0:
            np.savez(folder / f"models/{server_round}.npz", **dict(zip(NAMES, parameters)))

    def server(context):
        everybody = {"min_fit_clients": participants, "min_available_clients": participants}
        strategy = FedAvg(
            fraction_evaluate=0.0,
            evaluate_fn=save,
            initial_parameters=ndarrays_to_parameters(start),
            accept_failures=False,  # a missing reply would leave less noise
            **everybody,
        )
        private = DifferentialPrivacyServerSideFixedClipping(
            strategy,
            noise_multiplier=NOISE_MULTIPLIER * (0.1 if options.broken == "less-noise" else 1.0),
            clipping_norm=CLIP_NORM,
            num_sampled_clients=participants,
        )
        config = ServerConfig(num_rounds=SERVER_ROUNDS)
        return ServerAppComponents(strategy=private, config=config)

    run_simulation(
        server_app=ServerApp(server_fn=server),
        client_app=ClientApp(client_fn=client),
        num_supernodes=participants,
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )


if __name__ == "__main__":
    main()

"""Generators of public packages as commands of `dpscope generator run`.

    python3 public_packages.py privbayes DATA SEED OUT ROWS --epsilon 1     (pip install DataSynthesizer)
    python3 public_packages.py dpmm DATA SEED OUT ROWS --epsilon 1          (pip install dpmm)

Bounds are public: every column is an integer from 0 to LEVELS - 1.
"""

import argparse
import json
import random
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

LEVELS = 2


def privbayes(frame, args):
    from DataSynthesizer.DataDescriber import DataDescriber
    from DataSynthesizer.DataGenerator import DataGenerator

    with tempfile.TemporaryDirectory() as folder:
        data, description = Path(folder, "data.csv"), Path(folder, "description.json")
        frame.to_csv(data, index=False)
        describer = DataDescriber(category_threshold=LEVELS + 1)
        describer.describe_dataset_in_correlated_attribute_mode(
            dataset_file=str(data),
            epsilon=args.epsilon,
            k=1,
            attribute_to_is_categorical={name: True for name in frame.columns},
            attribute_to_datatype={name: "Integer" for name in frame.columns},
            seed=args.seed,
        )
        describer.save_dataset_description_to_file(str(description))
        generator = DataGenerator()
        generator.generate_dataset_in_correlated_attribute_mode(
            args.rows, str(description), seed=args.seed
        )
        return generator.synthetic_dataset


def dpmm(frame, args):
    from dpmm.pipelines import MSTPipeline

    pipeline = MSTPipeline(
        epsilon=args.epsilon, delta=args.delta, proc_epsilon=0.1, disable_processing=True
    )
    pipeline.fit(frame, {name: LEVELS for name in frame.columns}, random_state=args.seed)
    return pipeline.generate(n_records=args.rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", choices=["privbayes", "dpmm"])
    parser.add_argument("data")
    parser.add_argument("seed", type=int)
    parser.add_argument("out")
    parser.add_argument("rows", type=int)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-5)
    args = parser.parse_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    frame = pd.read_csv(args.data)
    synthetic = {"privbayes": privbayes, "dpmm": dpmm}[args.package](frame, args)
    synthetic[frame.columns].astype(int).to_csv(args.out, index=False)


if __name__ == "__main__":
    main()

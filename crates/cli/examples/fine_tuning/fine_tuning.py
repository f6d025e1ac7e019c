"""Fine-tunes a small language model by Trainer and LoRA, and audits it by canaries with secrets.

    python3 fine_tuning.py --claim 1

Replace `tokenizer_of`, `texts` and `base_model` with your own; README.md describes the requirements.
Needs dpscope, transformers, peft and accelerate.
"""

import argparse
import tempfile

import dpscope.transformers
import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    DataCollatorForSeq2Seq,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
)

CANARIES, SECRET_LENGTH = 60, 8
TEXTS, BATCH, EPOCHS, LEARNING_RATE = 20, 40, 80, 5e-3
WORDS = "the secret code of record is not in this text".split()


def tokenizer_of():
    """That of the model in practice; here one with a token for each word and digit."""
    tokens = ["[PAD]", "[UNK]", *WORDS, *"0123456789"]
    model = models.WordLevel({token: number for number, token in enumerate(tokens)}, "[UNK]")
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")


def texts(tokenizer):
    """Training texts that are no canaries."""
    random = np.random.default_rng(1)
    drawn = [" ".join(random.choice(WORDS, random.integers(5, 12))) for _ in range(TEXTS)]
    return [tokenizer(text, return_token_type_ids=False) for text in drawn]


def base_model(tokenizer, dtype=torch.float32):
    """A pretrained model in practice; here one with random parameters."""
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=64,
    )
    return LlamaForCausalLM(config).to(dtype)


def one_run(tokenizer, **options):
    """The training texts, followed by the canaries."""
    defaults = {"canaries": CANARIES, "prompt": "the secret code of record {index} is"}
    return dpscope.transformers.OneRun(
        texts(tokenizer), tokenizer=tokenizer, secret_length=SECRET_LENGTH, **defaults | options
    )


def trainer_of(audit, tokenizer, model, folder, *, collator=None, callbacks=None, **options):
    """A Trainer whose data and loss are those of the audit."""
    defaults = {
        "per_device_train_batch_size": BATCH,
        "num_train_epochs": EPOCHS,
        "learning_rate": LEARNING_RATE,
        "save_strategy": "no",
        "logging_strategy": "no",
        "report_to": [],
        "disable_tqdm": True,
        "use_cpu": True,
    }
    return Trainer(
        model,
        TrainingArguments(folder, **defaults | options),
        train_dataset=audit,
        data_collator=collator or DataCollatorForSeq2Seq(tokenizer),
        compute_loss_func=audit.loss,
        callbacks=callbacks,
    )


def fine_tune(folder, *, dtype=torch.float32, **options):
    """One fine-tuning; returns its audit."""
    tokenizer = tokenizer_of()
    adapters = LoraConfig(r=8, lora_alpha=32, lora_dropout=0.05, target_modules="all-linear")
    model = get_peft_model(base_model(tokenizer, dtype), adapters)
    audit = one_run(tokenizer)
    trainer = trainer_of(audit, tokenizer, model, folder, **options)
    audit.attach(trainer)
    trainer.train()
    return audit


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--claim", type=float, help="epsilon that is claimed for the training")
    parser.add_argument("--bf16", action="store_true", help="weights and training in bfloat16")
    parser.add_argument("--accumulate", type=int, default=1, help="batches per step")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        audit = fine_tune(
            folder,
            dtype=torch.bfloat16 if arguments.bf16 else torch.float32,
            bf16=arguments.bf16,
            per_device_train_batch_size=BATCH // arguments.accumulate,
            gradient_accumulation_steps=arguments.accumulate,
        )
    print(audit.audit(claim=arguments.claim))


if __name__ == "__main__":
    main()

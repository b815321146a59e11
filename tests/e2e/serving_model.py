"""Makes a tiny model in the directory that its argument names. The engine's own interpreter has what it takes.

Two Llama layers of random weights and a byte-level tokenizer of 258 entries: half a megabyte, and it really generates.
A head dimension below 64 is refused by the CPU attention kernel at the first request.
"""

from __future__ import annotations

import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

BOS, EOS = "<s>", "</s>"


def tokenizer():
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    entries = {text: number for number, text in enumerate([BOS, EOS, *alphabet])}
    made = Tokenizer(models.BPE(vocab=entries, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token=BOS, eos_token=EOS)


def model(size):
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=size,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=64,
        max_position_embeddings=1024,
        bos_token_id=0,
        eos_token_id=1,
    )
    return LlamaForCausalLM(config).to(torch.bfloat16)


if __name__ == "__main__":
    words = tokenizer()
    words.save_pretrained(sys.argv[1])
    model(len(words)).save_pretrained(sys.argv[1])

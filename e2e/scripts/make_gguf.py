#!/usr/bin/env python3
"""Writes a llama model with random weights, for servers that insist on one.

usage: make_gguf.py TOKENIZER_JSON OUT.gguf [f16|q8_0|q4_0]

It says nothing sensible and that is the point: what is measured is when its
tokens come. The size is chosen so that on one slow core a token takes some
milliseconds, and a prompt of a thousand tokens long enough to see whether its
prefix was cached. All types have the same weights, before they are rounded.
"""

import json
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf.quants import quantize

LAYERS, WIDTH, HIDDEN, HEADS, CONTEXT = 6, 384, 1024, 6, 8192
# Ids below this are special tokens and single bytes. They would end an answer early or
# give no text, so the model never produces them.
FIRST_SPOKEN = 300
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|{{ m['role'] }}|>\n"
    "{{ m['content'] }}{{ eos_token }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
# For each quantization: its file type, the type of the layers, and the type of embedding
# and output, which is more precise, as in llama.cpp.
TYPES = {
    "f16": (gguf.LlamaFileType.MOSTLY_F16, Type.F16, Type.F16),
    "q8_0": (gguf.LlamaFileType.MOSTLY_Q8_0, Type.Q8_0, Type.Q8_0),
    "q4_0": (gguf.LlamaFileType.MOSTLY_Q4_0, Type.Q4_0, Type.Q8_0),
}


def add_vocabulary(w: gguf.GGUFWriter, path: str) -> int:
    """Copies the byte-level BPE of tokenizer.json; returns its size."""
    with open(path) as f:
        spec = json.load(f)
    vocab = spec["model"]["vocab"]
    special = {t["content"] for t in spec["added_tokens"]}
    tokens = sorted(vocab, key=vocab.get)
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("gpt-2")
    w.add_token_list(tokens)
    w.add_token_types([control if t in special else normal for t in tokens])
    w.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in spec["model"]["merges"]])
    w.add_bos_token_id(vocab["<s>"])
    w.add_eos_token_id(vocab["</s>"])
    w.add_chat_template(TEMPLATE)
    return len(tokens)


def add_shape(w: gguf.GGUFWriter, vocab: int) -> None:
    w.add_context_length(CONTEXT)
    w.add_embedding_length(WIDTH)
    w.add_block_count(LAYERS)
    w.add_feed_forward_length(HIDDEN)
    w.add_head_count(HEADS)
    w.add_head_count_kv(HEADS)
    w.add_rope_dimension_count(WIDTH // HEADS)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_vocab_size(vocab)


def add_weights(w: gguf.GGUFWriter, vocab: int, layers: Type, ends: Type) -> None:
    """Adds random weights, but for channel 0 of the width. The embedding sets
    it to 1 for every token, no layer adds to it, and the output reads from it
    how unlikely the unspoken tokens are."""
    rng = np.random.default_rng(7)

    def matrix(name: str, rows: int, columns: int, change=None) -> None:
        values = rng.standard_normal((rows, columns), dtype=np.float32) / np.sqrt(columns)
        if change is not None:
            change(values)
        kind = layers if name.startswith("blk.") else ends
        w.add_tensor(name, quantize(values, kind), raw_dtype=kind)

    def set_constant(values) -> None:
        values[:, 0] = 1

    def keep_constant(values) -> None:
        values[0, :] = 0

    def silence(values) -> None:
        values[:, 0] = 0
        values[:FIRST_SPOKEN, 0] = -100

    def ones(name: str) -> None:
        w.add_tensor(name, np.ones(WIDTH, dtype=np.float32))

    matrix("token_embd.weight", vocab, WIDTH, set_constant)
    for i in range(LAYERS):
        ones(f"blk.{i}.attn_norm.weight")
        for part in ("q", "k", "v"):
            matrix(f"blk.{i}.attn_{part}.weight", WIDTH, WIDTH)
        matrix(f"blk.{i}.attn_output.weight", WIDTH, WIDTH, keep_constant)
        ones(f"blk.{i}.ffn_norm.weight")
        matrix(f"blk.{i}.ffn_gate.weight", HIDDEN, WIDTH)
        matrix(f"blk.{i}.ffn_up.weight", HIDDEN, WIDTH)
        matrix(f"blk.{i}.ffn_down.weight", WIDTH, HIDDEN, keep_constant)
    ones("output_norm.weight")
    matrix("output.weight", vocab, WIDTH, silence)


def main() -> None:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    file_type, layers, ends = TYPES[sys.argv[3] if len(sys.argv) == 4 else "f16"]
    w = gguf.GGUFWriter(sys.argv[2], "llama")
    vocab = add_vocabulary(w, sys.argv[1])
    add_shape(w, vocab)
    w.add_file_type(file_type)
    add_weights(w, vocab, layers, ends)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


if __name__ == "__main__":
    main()

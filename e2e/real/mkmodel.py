#!/usr/bin/env python3
"""Writes a tiny Qwen3 with random weights (1.4 million parameters) and a tokenizer that
is trained on text files.

usage: mkmodel.py DIR FILE...
"""

import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

HIDDEN, LAYERS = 128, 2
END, PAD = "<|im_end|>", "<|endoftext|>"
TEMPLATE = """\
{%- if tools %}<|im_start|>system
# Tools
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}{%- for m in messages %}<|im_start|>{{ m.role }}
{% if m.content is string %}{{ m.content }}{% elif m.content %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}{% if m.tool_calls %}{% for c in m.tool_calls %}<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}{% endif %}<|im_end|>
{% endfor %}{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

out, texts = sys.argv[1], sys.argv[2:]
bpe = Tokenizer(models.BPE())
bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
bpe.decoder = decoders.ByteLevel()
bpe.train(texts, trainers.BpeTrainer(
    vocab_size=4096, special_tokens=[PAD, "<|im_start|>", END],
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token=END, pad_token=PAD)
tokenizer.add_tokens(["<tool_call>", "</tool_call>"])
tokenizer.chat_template = TEMPLATE
tokenizer.save_pretrained(out)

torch.manual_seed(1)
vocab = -(-len(tokenizer) // 64) * 64
model = Qwen3ForCausalLM(Qwen3Config(
    vocab_size=vocab, hidden_size=HIDDEN, intermediate_size=2 * HIDDEN,
    num_hidden_layers=LAYERS, num_attention_heads=2, num_key_value_heads=1, head_dim=64,
    max_position_embeddings=16384, tie_word_embeddings=False, bos_token_id=None,
    eos_token_id=tokenizer.convert_tokens_to_ids(END), pad_token_id=0)).to(torch.bfloat16)
with torch.no_grad():
    model.lm_head.weight[len(tokenizer):] = 0  # ids beyond the vocabulary are never likely
model.save_pretrained(out)

#!/usr/bin/env python3
"""Writes a model card without weights: just what a frontend needs to template,
tokenize and count.

usage: make_tokenizer.py DIR

The tokenizer is a byte-level BPE trained on text made here from a seed, so that
any prompt can be encoded and about four characters make a token, as in real
models. The simulated workers answer with random token ids, therefore every id
above the 256 bytes decodes to plain letters.
"""

import json
import pathlib
import random
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

VOCAB = 4096
CONTEXT = 32768
SPECIAL = ["<unk>", "<s>", "</s>", "<|user|>", "<|assistant|>", "<|system|>"]
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|{{ m['role'] }}|>\n"
    "{{ m['content'] }}{{ eos_token }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


# Common endings and short words of English, so that English prompts are not split into
# single letters.
ENGLISH = """the of and to in a is that it for as was with be by on not he his but
at are this have from or had an they which one you were all her she there would
their we him been has when who will more no if out so said what up its about into
than them can only other new some could time these two may then do first any my
now such like our over man me even most made after also did many before must
through back years where much your way well down should because each just those
people how too little state good very make world still own see men work long get
here between both life being under never day same another know while last might
us great old year off come since against go came right used take three able ing
tion ment ness ity ous ive ence ance ally ated ing ers est ful less ish ward port
serve house water light under stand point place part number change through"""


def corpus(seed: int = 7, lines: int = 6000):
    """Yields lines of made-up words: syllables drawn with a skew, so that the
    trainer finds frequent pairs to merge."""
    rng = random.Random(seed)
    english = ENGLISH.split()
    syllables = [c + v for c in "bcdfghjklmnprstvwz" for v in ("a", "e", "i", "o", "u", "an", "er", "in")]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(9000)]
    weights = [1 / (i + 10) for i in range(len(words))]
    for _ in range(lines):
        yield " ".join(rng.choices(words, weights, k=15) + rng.choices(english, k=10)) + "."


def train() -> Tokenizer:
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(
        corpus(),
        trainers.BpeTrainer(
            vocab_size=VOCAB,
            special_tokens=SPECIAL,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return tok


def write(path: pathlib.Path, value) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    tok = train()
    tok.save(str(out / "tokenizer.json"))
    bos, eos = tok.token_to_id("<s>"), tok.token_to_id("</s>")
    write(
        out / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<s>",
            "eos_token": "</s>",
            "unk_token": "<unk>",
            "model_max_length": CONTEXT,
            "chat_template": TEMPLATE,
        },
    )
    write(
        out / "config.json",
        {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": tok.get_vocab_size(),
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 4,
            "max_position_embeddings": CONTEXT,
            "bos_token_id": bos,
            "eos_token_id": eos,
            "torch_dtype": "float16",
        },
    )
    write(out / "generation_config.json", {"bos_token_id": bos, "eos_token_id": eos})


if __name__ == "__main__":
    main()

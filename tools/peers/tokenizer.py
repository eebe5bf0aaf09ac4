"""Writes a small tokenizer to a directory, for the tools that need one:
venv/bin/python tools/peers/tokenizer.py DIR"""

import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

bpe = Tokenizer(models.BPE())
bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
bpe.decoder = decoders.ByteLevel()
alphabet = pre_tokenizers.ByteLevel.alphabet()
bpe.train_from_iterator(["a word of many words"], trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, special_tokens=["<s>"]))
fast = PreTrainedTokenizerFast(tokenizer_object=bpe, bos_token="<s>", eos_token="<s>", pad_token="<s>", unk_token="<s>")
fast.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
fast.save_pretrained(sys.argv[1])

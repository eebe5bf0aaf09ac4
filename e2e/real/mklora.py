#!/usr/bin/env python3
"""Writes a LoRA adapter of random weights for the model of mkmodel.py.

usage: mklora.py DIR SEED
"""

import json
import pathlib
import sys

import torch
from safetensors.torch import save_file

HIDDEN, LAYERS, RANK = 128, 2, 8

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
torch.manual_seed(int(sys.argv[2]))
tensors = {}
for layer in range(LAYERS):
    for name, width in (("q_proj", 128), ("v_proj", 64)):
        prefix = f"base_model.model.model.layers.{layer}.self_attn.{name}"
        tensors[prefix + ".lora_A.weight"] = torch.randn(RANK, HIDDEN) * 0.1
        tensors[prefix + ".lora_B.weight"] = torch.randn(width, RANK) * 0.1
save_file(tensors, out / "adapter_model.safetensors")
(out / "adapter_config.json").write_text(json.dumps({
    "peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": "tiny",
    "r": RANK, "lora_alpha": 2 * RANK, "lora_dropout": 0.0, "bias": "none",
    "target_modules": ["q_proj", "v_proj"], "modules_to_save": None,
}))

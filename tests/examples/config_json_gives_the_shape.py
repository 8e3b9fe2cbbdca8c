# SPDX-License-Identifier: Apache-2.0
"""--config finds layers, heads, width, latent and number format where Hugging Face puts them."""

import json
import pathlib
import tempfile

import kv

CASES = {
    "GQA with head_dim": (
        {"num_hidden_layers": 5, "num_key_value_heads": 2, "num_attention_heads": 16, "head_dim": 64, "hidden_size": 4096,
         "torch_dtype": "bfloat16"}, 5, 2 * 2 * 64 * 2),
    "GQA without head_dim": (
        {"num_hidden_layers": 4, "num_key_value_heads": 4, "num_attention_heads": 28, "hidden_size": 3584, "torch_dtype": "float16"},
        4, 2 * 4 * 128 * 2),
    "every head has its own K and V": (
        {"num_hidden_layers": 3, "num_attention_heads": 12, "hidden_size": 768, "torch_dtype": "float32"}, 3, 2 * 12 * 64 * 4),
    "head_dim is null": (
        {"num_hidden_layers": 3, "num_attention_heads": 12, "num_key_value_heads": 3, "head_dim": None, "hidden_size": 768},
        3, 2 * 3 * 64 * 2),
    "MLA": (
        {"num_hidden_layers": 6, "num_attention_heads": 128, "num_key_value_heads": 128, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
         "hidden_size": 7168, "torch_dtype": "bfloat16"}, 6, 576 * 2),
    "no MLA: kv_lora_rank is null": (
        {"num_hidden_layers": 6, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 32, "kv_lora_rank": None}, 6, 2 * 2 * 32 * 2),
    "decoder inside text_config": (
        {"vision_config": {"num_hidden_layers": 99},
         "text_config": {"num_hidden_layers": 2, "num_key_value_heads": 1, "num_attention_heads": 2, "head_dim": 128, "dtype": "bfloat16"}},
        2, 2 * 1 * 128 * 2),
}


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "config.json"
        for name, (config, layers, token_bytes) in CASES.items():
            path.write_text(json.dumps(config))
            numbers = kv.run_good(2, "--config", path, "--requests", 1, "--tokens", 40, "--pool-pages", 100).numbers
            kv.expect(numbers["layers"] == layers, f"{name}: {numbers['layers']} layers")
            kv.expect(numbers["bytes_per_token_and_layer"] == token_bytes, f"{name}: {numbers['bytes_per_token_and_layer']} bytes, not {token_bytes}")
            kv.expect(numbers["bytes_sent"] == 3 * 16 * layers * token_bytes, f"{name}: {numbers['bytes_sent']} bytes sent")
    kv.finish()


main()

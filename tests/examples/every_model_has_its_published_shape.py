# SPDX-License-Identifier: Apache-2.0
"""The shapes that kv_cache knows are those of the models' published config.json files."""

import subprocess

import kv

# name: layers, KV heads, head width, latent numbers. From num_hidden_layers, num_key_value_heads, head_dim (or hidden_size /
# num_attention_heads), and kv_lora_rank + qk_rope_head_dim.
PUBLISHED = {
    "llama3-8b": (32, 8, 4096 // 32, 0),
    "llama3-70b": (80, 8, 8192 // 64, 0),
    "llama3-405b": (126, 8, 16384 // 128, 0),
    "llama3.2-1b": (16, 8, 2048 // 32, 0),
    "llama3.2-3b": (28, 8, 3072 // 24, 0),
    "mistral-7b": (32, 8, 4096 // 32, 0),
    "qwen2.5-7b": (28, 4, 3584 // 28, 0),
    "qwen2.5-32b": (64, 8, 5120 // 40, 0),
    "qwen2.5-72b": (80, 8, 8192 // 64, 0),
    "qwen3-8b": (36, 8, 128, 0),
    "qwen3-30b-a3b": (48, 4, 128, 0),
    "qwen3-235b-a22b": (94, 4, 128, 0),
    "gpt-oss-20b": (24, 8, 64, 0),
    "gpt-oss-120b": (36, 8, 64, 0),
    "deepseek-v3": (61, 0, 0, 512 + 64),
    "kimi-k2": (61, 0, 0, 512 + 64),
}
BYTES = {"bf16": 2, "fp16": 2, "fp8": 1, "fp32": 4, "int8": 1}


def token_bytes(shape, dtype):
    _, heads, width, latent = shape
    return (latent or 2 * heads * width) * BYTES[dtype]


def main():
    done = subprocess.run([kv.OSHRUN, "-n", "2", kv.PROGRAM, "--list-models"], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    known = {row[0]: tuple(map(int, row[1:])) for row in rows}
    kv.expect(known.keys() == PUBLISHED.keys(), f"the names are {sorted(known)}")
    for name, shape in PUBLISHED.items():
        want = (*shape, token_bytes(shape, "bf16"))
        kv.expect(known.get(name) == want, f"{name}: {known.get(name)} instead of {want}")

    # What is listed is what moves.
    for name, shape in PUBLISHED.items():
        for dtype in BYTES if name in ("qwen2.5-7b", "deepseek-v3") else ["bf16"]:
            numbers = kv.run_good(2, "--model", name, "--dtype", dtype, "--requests", 1, "--tokens", 100, "--layers", 3,
                                  "--pool-pages", 30).numbers
            page = 16 * token_bytes(shape, dtype)
            kv.expect(numbers["model_layers"] == shape[0], f"{name}: {numbers['model_layers']} layers")
            kv.expect(numbers["page_bytes"] == page, f"{name} in {dtype}: pages of {numbers['page_bytes']}, not {page} bytes")
            kv.expect(numbers["bytes_sent"] == 7 * 3 * page, f"{name} in {dtype}: {numbers['bytes_sent']} bytes sent")
    kv.finish()


main()

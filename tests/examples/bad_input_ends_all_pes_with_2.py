# SPDX-License-Identifier: Apache-2.0
"""A bad option, config or trace: PE 0 says once what, why and what to do, and every PE ends with 2."""

import os
import pathlib
import subprocess
import tempfile

import kv

PES = 4
LINE = '{"timestamp": 0, "input_length": 600, "output_length": 1, "hash_ids": [1, 2]}\n'
CONFIG = '"num_hidden_layers": 2, "num_attention_heads": 8'


def statuses(args, pes=PES):
    """What PE 0..n-1 ended with, sorted, and all that they printed. A shell between oshrun and the program tells."""
    script = '"$0" "$@" 2>&1; echo "status $?"'
    command = [kv.OSHRUN, "-n", str(pes), "--timeout", str(kv.HANG_GUARD_S), "sh", "-c", script, kv.PROGRAM, *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    return sorted(int(line.split()[1]) for line in lines if line.startswith("status ")), done.stdout + done.stderr


def refuse(args, needle, pes=PES):
    got, text = statuses(args, pes)
    what = " ".join(map(str, args))
    kv.expect(got == [2] * pes, f"{what}: the PEs ended with {got}\n{text}")
    kv.expect(text.count("kv_cache: ") == 1 and text.count("why: ") == 1 and text.count("fix: ") == 1, f"{what}: not one message:\n{text}")
    kv.expect(needle in text, f'{what}: no "{needle}" in\n{text}')


def bad_options():
    for args, needle in (
        (["--bogus"], "--bogus"),
        (["extra"], '"extra"'),
        (["--tokens"], "--tokens"),
        (["--tokens", "0"], "--tokens 0"),
        (["--tokens", "-5"], "--tokens -5"),
        (["--tokens", "many"], "--tokens many"),
        (["--requests", "1e3"], "--requests 1e3"),
        (["--layers", "29"], "28 layers"),
        (["--page-tokens", "48"], "--page-tokens 48"),
        (["--layout", "both"], "--layout both"),
        (["--model", "gpt-2"], "qwen2.5-7b"),
        (["--dtype", "fp7"], "fp7"),
        (["--tp", "3"], "4 KV heads"),
        (["--tp", "4"], "2 pairs"),
        (["--pool-bytes", "12q"], "12q"),
        (["--pool-bytes", "1m", "--pool-pages", "9"], "--pool-pages"),
        (["--pool-pages", "27"], "--pool-pages 28"),
        (["--speed", "1"], "--trace"),
        (["--speed", "-1", "--trace", kv.CHATS], "--speed -1"),
        (["--tokens", "9", "--trace", kv.CHATS], "--tokens"),
        (["--model", "qwen3-8b", "--config", "x"], "--config"),
        (["--corrupt", "1,2,3"], "1,2,3"),
        (["--corrupt", "99,0,0,0"], "no such byte"),
        (["--json", "/nonexistent/result.json"], "/nonexistent/result.json"),
        (["--trace", "/nonexistent/trace"], "/nonexistent/trace"),
        (["--config", "/nonexistent/config"], "/nonexistent/config"),
    ):
        refuse(args, needle)
    refuse(["--requests", "1"], "3 PEs", pes=3)


def bad_traces(folder):
    path = folder / "trace.jsonl"
    for text, needle in (
        ("", "no line"),
        (LINE + "{", "line 2"),
        (LINE + "\n" + LINE + "not json\n", "line 4"),
        (LINE + "[1]\n", "line 2"),
        (LINE.replace("600", "0"), "input_length"),
        (LINE.replace("600", '"600"'), "input_length"),
        (LINE.replace("600", "1200"), "3 hash_ids"),
        (LINE.replace("[1, 2]", "[1]"), "2 hash_ids"),
        (LINE.replace("[1, 2]", "[1, -2]"), "hash_ids"),
        (LINE.replace("[1, 2]", "[1, 2.5]"), "hash_ids"),
        (LINE.replace('"timestamp": 0, ', ""), "timestamp"),
        (LINE.replace('"output_length": 1, ', ""), "output_length"),
    ):
        path.write_text(text)
        refuse(["--trace", path], needle)


def bad_configs(folder):
    path = folder / "config.json"
    for text, needle in (
        ("", "config.json"),
        ("[]", "not an object"),
        ("{}", "num_hidden_layers"),
        ("{" + CONFIG.replace("2", "0") + "}", "num_hidden_layers"),
        ("{" + CONFIG.replace("2", "2.5") + "}", "num_hidden_layers"),
        ("{" + CONFIG + "}", "hidden_size"),
        ("{" + CONFIG + ', "hidden_size": 1001}', "1001"),
        ("{" + CONFIG + ', "hidden_size": 1024, "torch_dtype": "complex64"}', "torch_dtype"),
        ("{" + CONFIG + ', "kv_lora_rank": 512}', "qk_rope_head_dim"),
        ('{"num_hidden_layers": 2}', "num_attention_heads"),
    ):
        path.write_text(text)
        refuse(["--config", path], needle)


def one_pe_alone(folder):
    """An error that a single PE sees ends all of them too."""
    script = 'if [ "$POSTERN_PE" = 2 ]; then shift; set -- --trace /nonexistent/trace; fi; "$0" "$@" 2>&1; echo "status $?"'
    command = [kv.OSHRUN, "-n", str(PES), "--timeout", str(kv.HANG_GUARD_S), "sh", "-c", script, kv.PROGRAM, f"--trace={kv.CHATS}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    kv.expect(done.stdout.count("status 2") == PES, f"one PE without its trace:\n{done.stdout}{done.stderr}")

    other = folder / "other.jsonl"
    other.write_text(LINE)
    command[7] = script.replace("/nonexistent/trace", str(other))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    kv.expect(done.stdout.count("status 2") == PES and "other work" in done.stdout, f"one PE with another trace:\n{done.stdout}{done.stderr}")


def small_heap():
    got = kv.run(2, "--pool-bytes", "64m", "--layers", 2, env={"SHMEM_SYMMETRIC_SIZE": "1m"})
    kv.expect(got.status == 2 and "SHMEM_SYMMETRIC_SIZE" in got.err, f"a heap that is too small: {got.status}\n{got.err}")


def main():
    os.environ.pop("SHMEM_SYMMETRIC_SIZE", None)
    bad_options()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bad_traces(folder)
        bad_configs(folder)
        one_pe_alone(folder)
    small_heap()
    kv.finish()


main()

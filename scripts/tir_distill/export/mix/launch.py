"""Files that start training and serving on a mix, with the settings under which rows train as they read.

Serving flags are those of seed section 8. Training flags follow how ms-swift 4.5.3 treats rows of this shape: the
default loss covers every assistant turn with its end token and nothing else, thinking is kept in every turn, and the
floor of picture tokens is the server's. Rows that are too long or cannot be encoded stop the run (``delete`` with
``strict``: without it they would be replaced by others without a word).
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from .settings import MixSettings

TEMPLATE = "qwen3_5"
MODEL = "Qwen/Qwen3.5-4B"


def sft_arguments(settings: MixSettings, folder: Path, *, held_out: bool = True) -> dict[str, Any]:
    """Arguments of ``swift sft`` by name. ``held_out``: there are validation rows that load.

    A few held-out rows without any picture or call do not: their columns would have no type.
    """
    return {
        "model": MODEL,
        "template": TEMPLATE,
        "dataset": [str(folder / "train.jsonl")],
        **({"val_dataset": [str(folder / "validation.jsonl")]} if held_out else {}),
        "split_dataset_ratio": 0,
        "tuner_type": "full",
        "torch_dtype": "bfloat16",
        "attn_impl": "flash_attn",
        "max_length": settings.max_length,
        "truncation_strategy": "delete",
        "strict": True,
        "loss_scale": "default",
        "num_train_epochs": 1,
        "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": 16,
        "gradient_checkpointing": True,
        "learning_rate": 1e-5,
        "lr_scheduler_type": "cosine",
        "warmup_ratio": 0.03,
        "freeze_vit": True,
        "dataloader_num_workers": 4,
        "save_strategy": "epoch",
        "seed": settings.seed % 2**31,
        "output_dir": str(folder / "checkpoints"),
    }


def write_launch_files(settings: MixSettings, folder: Path, *, held_out: bool = True) -> None:
    """sft_args.json, sft.sh and serve.sh beside the rows."""
    arguments = sft_arguments(settings, folder, held_out=held_out)
    (folder / "sft_args.json").write_text(json.dumps(arguments, indent=1) + "\n", encoding="utf-8")
    flags = " \\\n  ".join(f"--{name} {_words(value)}" for name, value in arguments.items())
    _script(
        folder / "sft.sh",
        f"# Trains on the mix '{settings.name}'. Picture paths in rows are relative to ROOT_IMAGE_DIR.\n"
        f"export ROOT_IMAGE_DIR=${{ROOT_IMAGE_DIR:-{shlex.quote(str(settings.root))}}}\n"
        "export IMAGE_MIN_TOKEN_NUM=64   # the floor of the serving side; without it small pictures get fewer tokens\n"
        f'swift sft \\\n  {flags} "$@"\n',
    )
    _script(
        folder / "serve.sh",
        "# Serves a checkpoint so that tool calls and thinking come back apart: bash serve.sh <checkpoint>\n"
        'vllm serve "${1:?checkpoint folder}" --served-model-name student --max-model-len 32768 \\\n'
        "  --reasoning-parser qwen3 --enable-auto-tool-choice --tool-call-parser qwen3_coder\n",
    )


def _words(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(shlex.quote(str(item)) for item in value)
    return str(value).lower() if isinstance(value, bool) else shlex.quote(str(value))


def _script(path: Path, body: str) -> None:
    path.write_text(f"#!/usr/bin/env bash\nset -euo pipefail\n{body}", encoding="utf-8")
    path.chmod(0o755)

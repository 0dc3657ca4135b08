"""Makes a tiny random Qwen3.5-VL checkpoint with the true vocabulary and template, without any download.

usage: python build_tiny.py <folder>        (in the environment of envs/optional-swift.txt)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[2] / "scripts"), str(HERE.parents[1] / "unit" / "export")]

TEXT = {
    "vocab_size": 248320,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "layer_types": ["linear_attention", "full_attention"],
    "max_position_embeddings": 32768,
    "tie_word_embeddings": True,
    "eos_token_id": 248044,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 10000000,
        "mrope_section": [2, 1, 1],
        "mrope_interleaved": True,
        "partial_rotary_factor": 0.25,
    },
}
VISION = {
    "depth": 2,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_heads": 2,
    "out_hidden_size": 64,
    "num_position_embeddings": 256,
    "patch_size": 16,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "deepstack_visual_indexes": [],
}
PROCESSOR = {
    "size": {"longest_edge": 16777216, "shortest_edge": 65536},
    "patch_size": 16,
    "temporal_patch_size": 2,
    "merge_size": 2,
    "image_mean": [0.5] * 3,
    "image_std": [0.5] * 3,
    "processor_class": "Qwen3VLProcessor",
}
TOKENIZER = {
    "tokenizer_class": "Qwen3_5Tokenizer",
    "add_bos_token": False,
    "add_prefix_space": False,
    "bos_token": None,
    "eos_token": "<|im_end|>",
    "pad_token": "<|endoftext|>",
    "unk_token": None,
    "clean_up_tokenization_spaces": False,
    "model_max_length": 262144,
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
    "vision_bos_token": "<|vision_start|>",
    "vision_eos_token": "<|vision_end|>",
}


def main(out: Path) -> None:
    """Write tokenizer, template, processor, configuration and weights."""
    import torch
    from make_goldens import tokenizer
    from transformers import Qwen3_5Config, Qwen3_5ForConditionalGeneration

    from tir_distill.export import find_template

    out.mkdir(parents=True, exist_ok=True)
    tokenizer(out)
    torch.manual_seed(0)
    config = Qwen3_5Config(text_config=TEXT, vision_config=VISION, tie_word_embeddings=True)
    model = Qwen3_5ForConditionalGeneration(config)
    model.save_pretrained(out)
    videos = {**PROCESSOR, "size": {"longest_edge": 25165824, "shortest_edge": 4096}}
    files = {
        "tokenizer_config.json": TOKENIZER,
        "preprocessor_config.json": {**PROCESSOR, "image_processor_type": "Qwen2VLImageProcessorFast"},
        "video_preprocessor_config.json": {**videos, "video_processor_type": "Qwen3VLVideoProcessor"},
        "generation_config.json": {"eos_token_id": [248046, 248044], "pad_token_id": 248044},
    }
    for name, value in files.items():
        (out / name).write_text(json.dumps(value, indent=1))
    (out / "chat_template.jinja").write_text(find_template().text)
    print(f"{out}: {sum(p.numel() for p in model.parameters()) / 1e6:.1f} M parameters")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

#!/usr/bin/env bash
# Two training steps of ms-swift on a file of rows, on a CPU. usage: sft.sh <model folder> <rows.jsonl> <row root> <out>
# A step is two rows, one after the other: logits over 248,000 tokens are what takes the memory (some 4 GB at 4,000).
set -euo pipefail
model=$1 rows=$2 root=$3 out=$4
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} CUDA_VISIBLE_DEVICES= HF_HUB_OFFLINE=1 ROOT_IMAGE_DIR=$root IMAGE_MIN_TOKEN_NUM=64
exec swift sft --model "$model" --model_type qwen3_5 --template qwen3_5 --dataset "$rows" --split_dataset_ratio 0 \
  --tuner_type full --torch_dtype float32 --max_steps 2 --per_device_train_batch_size 1 --gradient_accumulation_steps 2 \
  --learning_rate 1e-4 --max_length 24000 --strict true --save_strategy no --report_to none --dataloader_num_workers 1 \
  --attn_impl sdpa --gradient_checkpointing false --logging_steps 1 --output_dir "$out"

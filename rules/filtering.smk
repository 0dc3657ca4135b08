"""F1 to F11 over finished samples, repairs before them. Buys nothing: a changed threshold starts here.

REQUIRED INPUTS: <results>/<run>/shards/<bucket>/<nnnn>-of-<N>.trajectories.jsonl;
                 <handover>/eval_text_index.json, only when filters.extra names evaluation_text
OUTPUTS: the same name with .filtered.jsonl: every sample with its final verdict
CONFIG: filters, max_length
"""

EVALUATION_TEXT = "evaluation_text" in config["filters"]["extra"]


rule filter_shard:
    """Repair, apply every rule, keep one accepted sample per question."""
    input:
        trajectories=f"{RESULTS}/{{run}}/shards/{{bucket}}/{{index}}-of-{{shards}}.trajectories.jsonl",
        evaluation=f"{HANDOVER}/eval_text_index.json" if EVALUATION_TEXT else [],
    output:
        f"{RESULTS}/{{run}}/shards/{{bucket}}/{{index}}-of-{{shards}}.filtered.jsonl",
    log:
        f"{RESULTS}/{{run}}/logs/filter_shard/{{bucket}}/{{index}}-of-{{shards}}.log",
    benchmark:
        f"{RESULTS}/{{run}}/benchmarks/filter_shard/{{bucket}}/{{index}}-of-{{shards}}.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        filters=config["filters"],
        max_length=config["max_length"],
        code=tir.code_digest("filters", *(["questions"] if EVALUATION_TEXT else [])),
        evaluation=lambda wildcards, input: tir.flag(
            "--eval-index", str(input.evaluation) if input.evaluation else None
        ),
        config=CONFIG,
    shell:
        "filter_shard.py --config {params.config:q} --trajectories {input.trajectories:q} {params.evaluation} --out {output:q}"
        " 2> {log:q}"

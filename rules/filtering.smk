"""F1 to F11 over finished samples, repairs before them. Buys nothing: a changed threshold starts here.

REQUIRED INPUTS: <results>/<run>/shards/<bucket>/<nnnn>-of-<N>.trajectories.jsonl
OUTPUTS: the same name with .filtered.jsonl: every sample with its final verdict
CONFIG: filters, max_length
"""


rule filter_shard:
    """Repair, apply every rule, keep one accepted sample per question."""
    input:
        f"{RESULTS}/{{run}}/shards/{{bucket}}/{{index}}-of-{{shards}}.trajectories.jsonl",
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
        code=tir.code_digest("filters"),
        config=CONFIG,
    shell:
        "filter_shard.py --config {params.config:q} --trajectories {input:q} --out {output:q} 2> {log:q}"

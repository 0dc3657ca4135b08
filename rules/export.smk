"""Rows for ms-swift, the joined raw samples, statistics, the search cache of the run.

REQUIRED INPUTS: all shards of the run: .trajectories.jsonl, .questions.jsonl, .filtered.jsonl
OUTPUTS: <results>/<run>/accepted.jsonl, rejects.jsonl, trajectories_raw.jsonl, stats.json, search_cache.jsonl
CONFIG: budgets, plan (stated in stats.json)
"""

SHARD = f"{RESULTS}/{{run}}/shards/{{shard}}"


rule export_run:
    """Join the shards of a run and write its rows and statistics."""
    input:
        filtered=shards_of(f"{SHARD}.filtered.jsonl"),
        trajectories=shards_of(f"{SHARD}.trajectories.jsonl"),
        questions=shards_of(f"{SHARD}.questions.jsonl"),
        template=TEMPLATE,
    output:
        accepted=f"{RESULTS}/{{run}}/accepted.jsonl",
        rejects=f"{RESULTS}/{{run}}/rejects.jsonl",
        raw=f"{RESULTS}/{{run}}/trajectories_raw.jsonl",
        stats=f"{RESULTS}/{{run}}/stats.json",
        cache=f"{RESULTS}/{{run}}/search_cache.jsonl",
    log:
        f"{RESULTS}/{{run}}/logs/export_run.log",
    benchmark:
        f"{RESULTS}/{{run}}/benchmarks/export_run.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        code=tir.code_digest("export", "filters", "pipeline.py"),
        budgets=config["budgets"],
        run_dir=lambda wildcards: f"{RESULTS}/{wildcards.run}",
        img_root=lambda wildcards: HANDOVER,
        row_root=lambda wildcards: RESULTS,
        config=CONFIG,
    shell:
        "export_run.py --config {params.config:q} --run {wildcards.run:q} --run-dir {params.run_dir:q}"
        " --img-root {params.img_root:q} --row-root {params.row_root:q} --shards {input.filtered:q} 2> {log:q}"

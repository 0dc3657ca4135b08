"""Earlier TIR data in text protocols: converted to native tool calls, then cleaned.

REQUIRED INPUTS: the files named in config legacy.<name>.input
OUTPUTS: <results>/legacy/<name>_native.jsonl, <name>_native.report.json, <name>_clean.jsonl, <name>_clean.report.json
    on request: <name>_verify.report.json with <name>_verified.jsonl, <name>_backfilled.jsonl
CONFIG: legacy, sandbox, teacher
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
        min_think=config["filters"]["min_think_chars"],
    shell:
        "clean_legacy.py --in {input:q} --out {output.rows:q} --queue {output.queue:q} --report {output.report:q}"
        " --no-thinking {params.no_thinking:q} --min-think-chars {params.min_think} 2> {log:q}"


rule verify_legacy:
    """Run the code of converted rows in the sandbox; count where it says something else than the row (on request)."""
    input:
        f"{LEGACY}_clean.jsonl",
    output:
        side=f"{LEGACY}_verify.jsonl",
        rows=f"{LEGACY}_verified.jsonl",
        report=f"{LEGACY}_verify.report.json",
    log:
        f"{RESULTS}/legacy/logs/verify_legacy/{{legacy}}.log",
    benchmark:
        f"{RESULTS}/legacy/benchmarks/verify_legacy/{{legacy}}.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        code=tir.code_digest("legacy", "sandbox"),
        sandbox=config["sandbox"],
        row_root=lambda wildcards: RESULTS,
        config=CONFIG,
    shell:
        "verify_legacy.py --in {input:q} --img-root {params.row_root:q} --side {output.side:q} --out {output.rows:q}"
        " --report {output.report:q} --config {params.config:q} 2> {log:q}"


rule backfill_legacy:
    """Have the teacher write what queued rows lack (on request); its journal keeps what was paid for."""
    input:
        f"{LEGACY}_queue.jsonl",
    output:
        rows=f"{LEGACY}_backfilled.jsonl",
        rejects=f"{LEGACY}_backfilled.rejects.jsonl",
        report=f"{LEGACY}_backfilled.report.json",
    log:
        f"{RESULTS}/legacy/logs/backfill_legacy/{{legacy}}.log",
    benchmark:
        f"{RESULTS}/legacy/benchmarks/backfill_legacy/{{legacy}}.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        row_root=lambda wildcards: RESULTS,
        journal=lambda wildcards: f"{config['paths']['state']}/backfill_{wildcards.legacy}.journal.jsonl",
        config=CONFIG,
    shell:
        "backfill_thinking.py --queue {input:q} --img-root {params.row_root:q} --out {output.rows:q}"
        " --rejects {output.rejects:q} --report {output.report:q} --journal {params.journal:q}"
        " --run backfill_{wildcards.legacy} --config {params.config:q} 2> {log:q}"

"""Earlier TIR data in the <code> text protocol, converted to native tool calls.

REQUIRED INPUTS: the files named in config legacy.<name>.input
OUTPUTS: <results>/legacy/<name>_native.jsonl, <name>_report.json
CONFIG: legacy
"""


rule convert_legacy:
    """Convert one legacy file; drop what cannot be learnt from, with a named reason."""
    input:
        lambda wildcards: config["legacy"][wildcards.legacy]["input"],
    output:
        rows=f"{RESULTS}/legacy/{{legacy}}_native.jsonl",
        report=f"{RESULTS}/legacy/{{legacy}}_report.json",
    log:
        f"{RESULTS}/legacy/logs/{{legacy}}.log",
    benchmark:
        f"{RESULTS}/legacy/benchmarks/{{legacy}}.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        code=tir.code_digest("legacy", "export"),
        images=f"{RESULTS}/legacy/images",
        row_root=RESULTS,
        config=CONFIG,
    shell:
        "convert_tir_to_native.py --config {params.config:q} --in {input:q} --out {output.rows:q}"
        " --images-out {params.images:q} --row-root {params.row_root:q} --report {output.report:q} 2> {log:q}"

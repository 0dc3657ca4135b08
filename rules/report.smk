"""One page to read: figures and samples of the runs that stand finished.

REQUIRED INPUTS: none that Snakemake would rebuild: looking at a run must never sample one. What stands is read as it is.
OUTPUTS: <results>/report/index.html
CONFIG: paths, runs
"""

from tir_distill.report import Places


rule build_report:
    """Figures per bucket and rule, and trajectories to read through, as one HTML page (on request)."""
    output:
        f"{RESULTS}/report/index.html",
    log:
        f"{RESULTS}/report/logs/build_report.log",
    benchmark:
        f"{RESULTS}/report/benchmarks/build_report.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        code=tir.code_digest("report"),
        page=tir.data_digest("report"),
        runs=Places.from_config(config).state(),
        config=CONFIG,
    shell:
        "build_report.py --config {params.config:q} --out {output:q} 2> {log:q}"

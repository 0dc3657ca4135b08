#!/usr/bin/env bash
# The pilot or the full run (seed section 8), from an unpacked hand-over or from a clone of the workflow.
#
#   TEACHER_URL=http://<host>:8000/v1 TEACHER_MODEL=<name> SERPER_API_KEY=... JUDGE_API_KEY=... \
#     bash scripts/run_distill_10k.sh pilot          # then: full
#
# Keys may stand in .env instead. The same command resumes; exit codes are those of the README.
set -euo pipefail
run="${1:-}"
case "$run" in
  pilot | full) shift ;;
  *) echo "usage: bash scripts/run_distill_10k.sh pilot|full [further flags]" >&2; exit 64 ;;
esac
home="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$home"
python="${PYTHON:-python3}"
[ -x .venv/bin/python ] && python=.venv/bin/python

if [ -f Snakefile ]; then
  exec "$python" -m snakemake --cores "${CORES:-2}" "$run" "$@"
fi

questions=phase_10k.jsonl
[ "$run" = pilot ] && questions=phase_10k_pilot.jsonl
adopt=()
[ "$run" = full ] && [ -d out/pilot/state ] && adopt=(--adopt out/pilot)
"$python" scripts/fetch_template.py   # once: the official chat template, pinned by sha256, for exact token counts
"$python" scripts/distill_trajectories.py --in "$questions" --img-root . --out "out/$run" "${adopt[@]}" "$@"
config=()   # what the samples were filtered by is what they are audited by
for ((i = 1; i < $#; i++)); do
  if [ "${!i}" = --config ]; then next=$((i + 1)); config+=(--config "${!next}"); fi
done
"$python" scripts/check_distilled.py "${config[@]}" --in "out/$run/accepted.jsonl" --img-root . \
  --eval-index eval_text_index.json --report "out/$run/audit.json"

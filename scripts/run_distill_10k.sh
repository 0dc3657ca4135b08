#!/usr/bin/env bash
# The pilot or the full run (seed section 8), from an unpacked hand-over or from a clone of the workflow.
#
#   TEACHER_URL=http://<host>:8000/v1 TEACHER_MODEL=<name> SERPER_API_KEY=... JUDGE_API_KEY=... \
#     bash scripts/run_distill_10k.sh pilot          # then: full
#
# Keys may stand in .env instead. The same command resumes; exit codes are those of the README. `--retry deferred`
# opens questions again that were given up.
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

# One command to its end. SIGTERM to this script alone is passed on (a shell would die and leave the command behind);
# Ctrl-C reaches the command by itself. Its exit code is the script's, so that 2 still says "run it again".
child=""
signalled=""
trap 'signalled=1; [ -z "$child" ] || kill -s TERM "$child" 2>/dev/null || true' TERM
trap 'signalled=1' INT
step() {
  [ -z "$signalled" ] || exit 2
  (trap - INT TERM; exec "$@") &
  child=$!
  local code=0
  while true; do
    code=0
    wait "$child" || code=$?
    kill -0 "$child" 2>/dev/null || break   # a trapped signal ends `wait`, not the command
  done
  child=""
  [ "$code" -eq 0 ] || exit "$code"
}

if [ -f Snakefile ]; then
  flags=()
  retry=""
  while [ $# -gt 0 ]; do
    if [ "$1" = --retry ]; then retry="${2:-}"; shift; else flags+=("$1"); fi
    shift
  done
  case "$retry" in
    "") ;;
    deferred) step "$python" -m snakemake --cores "${CORES:-2}" retry_deferred "${flags[@]}" ;;
    *) echo "usage: --retry deferred" >&2; exit 64 ;;
  esac
  step "$python" -m snakemake --cores "${CORES:-2}" "$run" "${flags[@]}"
  exit 0
fi

questions=phase_10k.jsonl
[ "$run" = pilot ] && questions=phase_10k_pilot.jsonl
adopt=()
[ "$run" = full ] && [ -d out/pilot/state ] && adopt=(--adopt out/pilot)
step "$python" scripts/fetch_template.py   # once: the official chat template, pinned by sha256, for exact token counts
step "$python" scripts/distill_trajectories.py --in "$questions" --img-root . --out "out/$run" "${adopt[@]}" "$@"
config=()   # what the samples were filtered by is what they are audited by
for ((i = 1; i < $#; i++)); do
  if [ "${!i}" = --config ]; then next=$((i + 1)); config+=(--config "${!next}"); fi
done
step "$python" scripts/check_distilled.py "${config[@]}" --in "out/$run/accepted.jsonl" --img-root . \
  --eval-index eval_text_index.json --report "out/$run/audit.json"

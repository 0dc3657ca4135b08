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
  -h | --help) sed -n '2,9{s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 0 ;;
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
    case "$1" in
      --retry)
        retry="${2:-none}"
        [ $# -lt 2 ] || shift ;;
      --resume) ;;   # Snakemake always goes on
      --fresh | --adopt* | --limit* | --ids | --priority* | --plan | --text-protocol | --k-* | --max-* | --serper-qps* | \
      --request-timeout* | --temperature* | --concurrency*)
        echo "$1: in a clone this is a key of the configuration (config/README.md); flags here are Snakemake's" >&2
        exit 64 ;;
      *) flags+=("$1") ;;
    esac
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
config=()
plan=""
for ((i = 1; i <= $#; i++)); do
  case "${!i}" in
    --config) next=$((i + 1)); config+=(--config "${!next:-}") ;;
    --config=*) config+=("${!i}") ;;
    --plan*) plan=1 ;;
  esac
done
adopt=()
[ "$run" = full ] && [ -d out/pilot/state ] && adopt=(--adopt out/pilot)
if [ "$run" = full ] && [ -z "$plan" ]; then   # the pilot's student has behaved, or the configuration says why not to wait
  step "$python" scripts/pilot_gate.py open "${config[@]}" --run full --gate out/pilot/pilot_gate.json --out out/full_gate.json
fi
step "$python" scripts/fetch_template.py   # once: the official chat template, pinned by sha256, for exact token counts
step "$python" scripts/distill_trajectories.py --in "$questions" --img-root . --out "out/$run" "${adopt[@]}" "$@"
[ -z "$plan" ] || exit 0
# Audited under the very settings that sampled and filtered, flags included.
step "$python" scripts/check_distilled.py --config "out/$run/state/config.json" --in "out/$run/accepted.jsonl" \
  --img-root . --eval-index eval_text_index.json --report "out/$run/audit.json"

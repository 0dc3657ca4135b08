"""``python -m tir_distill.demo draw | serve``."""

from __future__ import annotations

import argparse
from pathlib import Path


def main(argv: list[str] | None = None) -> int:
    """Parse and run. Answers 0 when done, 64 for wrong usage (argparse's own 2 is mapped)."""
    parser = argparse.ArgumentParser(prog="python -m tir_distill.demo", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    draw = commands.add_parser("draw", help="draw the demo sources in upstream layouts")
    draw.add_argument("--out", type=Path, required=True, help="the mirror folder to fill")
    draw.add_argument("--seed", type=int, default=0, help="another seed gives other pictures and numbers")
    serve = commands.add_parser("serve", help="teacher, search, reader and judge on one local port")
    serve.add_argument("--questions", type=Path, help="phase_10k.jsonl; may appear later")
    serve.add_argument("--port-file", type=Path, required=True, help="where the endpoints are written")
    serve.add_argument("--parent", type=int, help="end when this process ends")
    serve.add_argument("--port", type=int, default=0)
    serve.add_argument("--corpus", type=Path, help="other pages than resources/demo/corpus.jsonl")
    serve.add_argument("--corpus-from-questions", action="store_true", help="one page per question of --questions")
    serve.add_argument("--latency-ms", type=float, default=0.0, help="added to every answer")
    serve.add_argument("--credits", type=int, help="searches until 'Not enough credits'")
    serve.add_argument("--search-429-every", type=int, default=0, help="each n-th search is refused with 429")
    serve.add_argument("--teacher-429-every", type=int, default=0, help="each n-th teacher request likewise")
    try:
        args = parser.parse_args(argv)
    except SystemExit as stop:
        return 64 if stop.code == 2 else int(stop.code or 0)
    if args.command == "draw":
        from .drawing import draw_sources

        draw_sources(args.out, args.seed)
    else:
        from .server import serve_forever
        from .settings import ServerSettings

        serve_forever(ServerSettings.from_arguments(args))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

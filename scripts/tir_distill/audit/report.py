"""The audit's answer: a JSON document for machines, a page of lines for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AuditReport:
    """What was checked, what failed and where."""

    file: str
    profile: str
    rows: int
    template: str
    """sha256 of the chat template, or why there was none."""
    checks: dict[str, dict[str, Any]]
    thresholds: list[dict[str, Any]]
    figures: dict[str, Any]
    failures: list[dict[str, Any]]
    warnings: list[dict[str, Any]]
    excerpts: list[dict[str, Any]]

    @property
    def passed(self) -> bool:
        return not self.failures

    def to_dict(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "file": self.file,
            "profile": self.profile,
            "rows": self.rows,
            "rows_failed": len({item["line"] for item in self.failures} - {0}),
            "template_sha256": self.template,
            "checks": self.checks,
            "thresholds": self.thresholds,
            "figures": self.figures,
            "failures": self.failures,
            "warnings": self.warnings,
            "excerpts": self.excerpts,
        }

    def summary(self) -> str:
        """Readable lines: a verdict, a line per check, a line per figure."""
        lines = [f"{self.file}: {self.rows} rows, profile {self.profile}: {'PASSED' if self.passed else 'FAILED'}"]
        for check, entry in self.checks.items():
            reasons = ", ".join(f"{reason} {count}" for reason, count in entry["reasons"].items())
            state = "ok" if not reasons else f"{entry['rows_failed']} rows: {reasons}"
            lines.append(f"  {check:<14} {state}")
        for item in self.thresholds:
            mark = ("ok" if item["met"] else "FAILED") if item["enforced"] else "not enforced"
            lines.append(f"  {item['name']:<28} {item['value']:>10.4g}  {item['limit']:<8} {mark}")
        for item in self.failures[:10]:
            place = f", message {item['message']}" if item["message"] is not None else ""
            lines.append(
                f"  line {item['line']} {item['id']}{place}: {item['check']} {item['reason']} {item['detail']}"
            )
        if len(self.failures) > 10:
            lines.append(f"  … and {len(self.failures) - 10} more, all in the report")
        if self.warnings:
            lines.append(f"  {len(self.warnings)} warnings (evaluation text inside observations)")
        return "\n".join(lines)

"""Does a mechanism keep its promise? Exact audits, statistical ones, and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mondegreen.lazy import load_lazily

if TYPE_CHECKING:
    from mondegreen.audit.report import AuditReport, Evidence, Finding
    from mondegreen.audit.run import audit_mechanism, audit_state

__all__ = ["AuditReport", "Evidence", "Finding", "audit_mechanism", "audit_state"]

__getattr__, __dir__ = load_lazily(
    __name__,
    {
        "AuditReport": "report",
        "Evidence": "report",
        "Finding": "report",
        "audit_mechanism": "run",
        "audit_state": "run",
    },
)

"""A page to look at: one HTML file about a fitted model, with nothing loaded from anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssvi.lazy import lazy_names

if TYPE_CHECKING:
    from ssvi.report.page import write_report

__all__ = ["write_report"]

# Commands take what is known of components from this package, and most of them write no page.
__getattr__ = lazy_names(__name__, {"write_report": "ssvi.report.page"})

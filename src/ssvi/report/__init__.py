"""A page to look at: one HTML file about a fitted model, with nothing loaded from anywhere."""

from ssvi.report.page import write_report

__all__ = ["write_report"]

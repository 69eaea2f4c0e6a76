"""What the local steps of all multilevel regressions share."""

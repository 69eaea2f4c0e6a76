"""Commands that measure speed, memory and what choices are worth: `python -m benchmarks.NAME`."""

"""The command as a module: `python -m ssvi.cli`."""

from ssvi.cli import main

main()

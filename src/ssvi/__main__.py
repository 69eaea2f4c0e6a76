"""`python -m ssvi`."""

from ssvi.cli import main

if __name__ == "__main__":
    main()

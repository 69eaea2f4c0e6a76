"""What tests of experiments share: someone without patience, and rows without their times."""

from ssvi.experiments.base import Reporter


class Interrupt(Reporter):
    """Someone who loses patience after a number of events."""

    def __init__(self, events):
        self.events = events

    def _count(self, *_):
        self.events -= 1
        if self.events < 0:
            raise KeyboardInterrupt

    advance = measured = _count


def without_times(rows):
    """Return rows but for how long they took."""
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]

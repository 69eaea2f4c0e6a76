"""How long a sampler runs, and which of its draws are kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Chain:
    """How long a sampler runs: `burn` sweeps, then `count` draws, `thin` sweeps from one to the next."""

    burn: int
    count: int
    thin: int

    @property
    def sweeps(self) -> int:
        """How many there are in all."""
        return self.burn + self.count * self.thin

    def keeps(self, sweep: int) -> bool:
        """Tell whether there is a draw after a sweep, numbered from 1."""
        return sweep > self.burn and (sweep - self.burn) % self.thin == 0

"""The four kinds of covariances that a Gaussian mixture can have, all of them of one family.

A matrix-normal-Wishart is q of the coefficients A and the precision Lambda of a regression y = A x + noise, of which an
observation adds (y x^T, x x^T, y y^T, 1). Each kind is that regression with other inputs x:

- full: a row y of component k has the input 1, and each component its own A (its mean) and Lambda;
- diag: so has each number of a row, and each column of each component its own mean and precision;
- spherical: the D numbers of a row are D observations of one output, with the inputs e_1, ..., e_D;
- tied: a row of component k has the input e_k; there is one regression, whose coefficients are all means.

So q of a component's mean and precision is never factorised.
"""

from ssvi.models.covariances.base import Covariance, Gaussians, Students, Sums
from ssvi.models.covariances.matrices import Full, Tied
from ssvi.models.covariances.variances import Diagonal, Spherical

__all__ = ["COVARIANCES", "Covariance", "Gaussians", "Students", "Sums"]

COVARIANCES: dict[str, type[Covariance]] = {kind.kind: kind for kind in (Full, Tied, Diagonal, Spherical)}

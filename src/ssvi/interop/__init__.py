"""Topic models of other libraries to and from `ssvi.LatentDirichletAllocation`: scikit-learn, gensim, pyLDAvis."""

from ssvi.interop.gensim_lda import from_gensim, to_gensim
from ssvi.interop.pyldavis import prepare_pyldavis, to_pyldavis
from ssvi.interop.scikit_learn import from_sklearn, to_sklearn

__all__ = ["from_gensim", "from_sklearn", "prepare_pyldavis", "to_gensim", "to_pyldavis", "to_sklearn"]

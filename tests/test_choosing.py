"""Fits with several numbers of components: what is measured, and what is kept and not made again."""

import numpy as np
import pytest
from scipy import sparse

import ssvi
from ssvi.choosing import choose, held_out_of
from ssvi.evaluation.coherence import document_occurrences, npmi, top_words

RNG = np.random.default_rng(0)
THEMES = RNG.integers(3, size=240)
COUNTS = RNG.poisson(np.where(np.arange(24)[None] // 8 == THEMES[:, None], 2.0, 0.05))
TRAIN, TEST = sparse.csr_array(COUNTS[:200]), sparse.csr_array(COUNTS[200:])


def _lda(**options):
    return ssvi.LatentDirichletAllocation(max_iter=10, n_jobs=1, **options)


@pytest.fixture
def fits(monkeypatch):
    """The numbers and seeds that were fitted."""
    made, fit = [], ssvi.LatentDirichletAllocation.fit

    def counted(self, *given, **named):
        made.append((self.n_components, self.random_state))
        return fit(self, *given, **named)

    monkeypatch.setattr(ssvi.LatentDirichletAllocation, "fit", counted)
    return made


def test_the_number_of_themes_is_found_and_figures_are_those_of_the_fits():
    # Two topics are to hold three themes: which two are one goes by chance, and so not only two seeds are tried.
    choice = choose(_lda(), TRAIN, TEST, [3, 1, 2], seeds=(0, 1, 2))
    assert [option.n_components for option in choice.options] == [1, 2, 3]
    assert choice.best.n_components == choice.advised.n_components == 3
    assert choice.noun == "topic"
    option = choice.options[2]
    models = [_lda(n_components=3, random_state=seed).fit(TRAIN) for seed in (0, 1, 2)]
    assert option.scores == pytest.approx([model.score(TEST) for model in models])
    tops = [top_words(model.topic_word_) for model in models]
    assert option.coherence == pytest.approx(np.mean([npmi(own, document_occurrences(COUNTS, own)) for own in tops]))
    assert option.diversity == pytest.approx(np.mean([len(np.unique(own)) / 30 for own in tops]))
    assert option.stability > 0.95 > choice.options[1].stability


def test_fits_are_kept_and_made_once(fits, tmp_path):
    folder = tmp_path / "new" / "kept"
    first = choose(_lda(), TRAIN, TEST, [2, 3], folder=folder)
    assert fits == [(2, 0), (2, 1), (3, 0), (3, 1)]
    again = choose(_lda(), TRAIN, TEST, [2, 3], folder=folder)
    assert len(fits) == 4
    assert [option.scores for option in again.options] == [option.scores for option in first.options]
    choose(_lda(), TRAIN, TEST, [2, 4], seeds=(0, 1, 2), folder=folder)
    assert fits[4:] == [(2, 2), (4, 0), (4, 1), (4, 2)]
    del fits[:]
    choose(_lda(doc_topic_prior=0.3), TRAIN, TEST, [2], seeds=[0], folder=folder)  # another parameter
    choose(_lda(), TRAIN[:150], TEST, [2], seeds=[0], folder=folder)  # other data
    assert fits == [(2, 0), (2, 0)]


def test_what_was_finished_before_an_interruption_is_not_made_again(fits, tmp_path, monkeypatch):
    from ssvi.experiments.base import Reporter

    class Impatient(Reporter):
        def trial(self, number, total, label):
            assert total == 4
            if number == 3:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        choose(_lda(), TRAIN, TEST, [2, 3], folder=tmp_path, reporter=Impatient())
    whole = choose(_lda(), TRAIN, TEST, [2, 3], folder=tmp_path)
    assert fits == [(2, 0), (2, 1), (3, 0), (3, 1)]
    assert [option.scores for option in whole.options] == [
        option.scores for option in choose(_lda(), TRAIN, TEST, [2, 3]).options
    ]


def test_a_damaged_file_is_made_anew(fits, tmp_path):
    choose(_lda(), TRAIN, TEST, [2], seeds=[0], folder=tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.warns(RuntimeWarning, match="cannot be read and is made anew"):
        choose(_lda(), TRAIN, TEST, [2], seeds=[0], folder=tmp_path)
    assert len(fits) == 2
    assert ssvi.load(path).n_components == 2


@pytest.mark.parametrize("kind", [ssvi.BernoulliMixture, ssvi.GammaProcessNMF, ssvi.GaussianMixture])
def test_mixtures_and_factorisations(kind):
    rows = (COUNTS > 0).astype(float) if kind is ssvi.BernoulliMixture else COUNTS.astype(float)
    choice = choose(kind(max_iter=20, n_jobs=1), rows[:200], rows[200:], [1, 3], seeds=[0, 1])
    assert [option.n_components for option in choice.options] == [1, 3]
    assert choice.best.n_components == 3
    assert all(np.isfinite(option.error) for option in choice.options)
    assert choice.options[0].stability is None  # one component is the same for every seed
    assert 0 <= choice.options[1].stability <= 1 + 1e-9
    assert choice.rows == 40
    model = kind(3, max_iter=20, n_jobs=1, random_state=0).fit(rows[:200])
    assert held_out_of(model, rows[200:]).mean == pytest.approx(model.score(rows[200:]))


def test_mistakes():
    with pytest.raises(ValueError, match="seeds must be different ones"):
        choose(_lda(), TRAIN, TEST, [2], seeds=[1, 1])

import numpy as np
import pytest
from scipy import stats

from ssvi.corpora import DiskCorpus
from ssvi.corpora.simulation import AliasTables, Simulation, simulate

SETTING = Simulation(documents=4_000, words=12, topics=3, length=30.0, alpha=0.4, eta=0.5, seed=5)


def test_tables_have_the_chances_they_were_made_of():
    topics = SETTING.draw_topics()
    tables = AliasTables.of(topics)
    for row, chances in enumerate(topics):
        made = tables.thresholds[row].astype(float) / 12
        np.add.at(made, tables.others[row], (1.0 - tables.thresholds[row]) / 12)
        assert made == pytest.approx(chances, abs=1e-7)


def test_lengths_and_words_are_those_of_lda():
    documents = SETTING.draw(0, 4_000, AliasTables.of(SETTING.draw_topics()))
    lengths = documents.lengths()
    # Poisson(30): the mean of 4,000 is normal with a deviation of 0.087, the variance with one of 0.68.
    assert abs(lengths.mean() - 30.0) < 5 * 0.087
    assert abs(lengths.var() - 30.0) < 5 * 0.68
    # Topics have equal means: a word's expected share is the mean of its probabilities. Weights of a document vary by
    # alpha, so that the share of a document has a deviation below that of one topic for all its words.
    topics = SETTING.draw_topics()
    shares = documents.column_sums() / lengths.sum()
    deviation = np.sqrt(topics.var(axis=0) / 4_000 + topics.mean(axis=0) / lengths.sum())
    assert (np.abs(shares - topics.mean(axis=0)) < 5 * deviation).all()  # twelve words: a chance below 1e-5


def test_weights_of_topics_are_dirichlet():
    # Topics with a word each: a document's shares of words are its weights, but for the noise of a draw.
    setting = Simulation(documents=3_000, words=3, topics=3, length=3_000.0, alpha=0.4, seed=1)
    matrix = setting.draw(0, 3_000, AliasTables.of(np.eye(3))).to_matrix().toarray()
    first = matrix[:, 0] / matrix.sum(axis=1)
    assert stats.kstest(first, stats.beta(0.4, 0.8).cdf).statistic < 0.05  # 5% has a chance of 6e-7 for exact draws


def test_the_same_corpus_for_any_threads_and_the_same_first_documents_for_any_size(tmp_path):
    few = Simulation(documents=1_500, words=50, topics=4, length=20.0)
    many = Simulation(documents=2_600, words=50, topics=4, length=20.0)
    simulate(few, tmp_path / "few")
    told = []
    simulate(many, tmp_path / "many", n_jobs=3, progress=told.append)
    one, other = DiskCorpus(tmp_path / "few"), DiskCorpus(tmp_path / "many")
    assert told[-1] == len(other) == 2_600
    assert (one.slice(0, 1_500).to_matrix() != other.slice(0, 1_500).to_matrix()).nnz == 0
    simulate(many, tmp_path / "again")
    assert DiskCorpus(tmp_path / "again").content_hash == other.content_hash
    assert Simulation(documents=10, seed=1).draw_topics()[0, 0] != Simulation(documents=10).draw_topics()[0, 0]


def test_settings_that_make_no_sense():
    with pytest.raises(ValueError, match="documents must be"):
        Simulation(documents=0)
    with pytest.raises(ValueError, match="alpha must be"):
        Simulation(documents=1, alpha=0.0)

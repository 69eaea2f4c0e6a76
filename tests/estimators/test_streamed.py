"""Fits over a corpus on disk: the same bits whoever reads, and from wherever they go on."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from tests.corpora.samples import counts, write

from ssvi import BernoulliMixture, GammaProcessNMF, HierarchicalDirichletTopics, LatentDirichletAllocation
from ssvi.corpora import CorpusWriter, DiskCorpus
from ssvi.data.readers import CorpusError
from ssvi.engine import loop
from ssvi.files import Checkpoints

WORDS = [f"word{i}" for i in range(60)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return write(tmp_path / "corpus", counts(), monkeypatch, rows=20, vocabulary=WORDS)


def fitted(corpus, **parameters):
    given = {"max_iter": 2, "batch_size": 150, "random_state": 3} | parameters
    return LatentDirichletAllocation(3, **given).fit(corpus)


def test_the_same_bits_for_threads_in_memory_and_without_reading_ahead(folder, monkeypatch, many_tasks):
    corpus = DiskCorpus(folder)
    first = fitted(corpus)
    assert np.array_equal(first.components_, fitted(corpus, n_jobs=3).components_)
    assert np.array_equal(first.components_, fitted(corpus.load()).components_)
    monkeypatch.setattr(loop, "read_ahead", lambda items: (item for item in items))
    assert np.array_equal(first.components_, fitted(DiskCorpus(folder)).components_)
    assert list(first.vocabulary_) == WORDS
    assert first.n_features_in_ == 60


def test_weights_and_scores_are_those_of_the_matrix(folder):
    corpus, matrix = DiskCorpus(folder), counts()
    model = fitted(corpus)
    assert np.array_equal(model.transform(corpus), model.transform(matrix))
    assert np.array_equal(model.held_out(corpus).log_probability, model.held_out(matrix).log_probability)
    assert model.score(corpus) == pytest.approx(model.score(matrix), rel=1e-12)


def test_a_fit_on_disk_is_as_good_as_one_of_the_matrix(folder):
    # Two kinds of documents that have few words in common: both fits find them, in another order of documents.
    train, test = counts(), counts(seed=1)
    on_disk = fitted(DiskCorpus(folder), max_iter=10).score(test)
    assert on_disk > fitted(train, max_iter=10).score(test) - 0.03


def test_partial_fit_takes_documents_as_they_are_stored(folder):
    parameters = {"batch_size": 150, "random_state": 3}
    on_disk = LatentDirichletAllocation(3, **parameters).partial_fit(DiskCorpus(folder))
    in_memory = LatentDirichletAllocation(3, **parameters).partial_fit(counts())
    assert np.array_equal(on_disk.components_, in_memory.components_)


@pytest.mark.parametrize(
    "estimator",
    [
        HierarchicalDirichletTopics(4, max_iter=2, batch_size=150, random_state=0),
        BernoulliMixture(3, max_iter=2, batch_size=150, random_state=0),
        GammaProcessNMF(3, max_iter=2, batch_size=150, random_state=0, polish=0),
    ],
)
def test_other_models_of_counts(estimator, folder):
    corpus, matrix = DiskCorpus(folder), counts()
    estimator.fit(corpus)
    first = estimator.summarize_components()[1]
    assert np.array_equal(first, estimator.fit(corpus.load()).summarize_components()[1])
    assert np.array_equal(estimator.component_weights(corpus), estimator.component_weights(matrix))
    assert estimator.score(corpus) == pytest.approx(estimator.score(matrix), rel=1e-12)


def test_validation_and_early_stopping(folder):
    corpus = DiskCorpus(folder)
    model = fitted(corpus, early_stopping=True, max_iter=3)
    assert model._n_distinct == 810
    assert len(model.scores_) == 3
    other = LatentDirichletAllocation(3, max_iter=2, batch_size=150, random_state=3).fit(corpus, X_val=corpus)
    assert other.scores_[-1][1] == pytest.approx(other.score(counts()), rel=1e-12)


def test_a_corpus_over_other_words_is_refused(folder, tmp_path, monkeypatch):
    model = fitted(DiskCorpus(folder))
    narrow = DiskCorpus(write(tmp_path / "narrow", counts(words=59), monkeypatch))
    with pytest.raises(ValueError, match="has 59 columns"):
        model.transform(narrow)
    others = DiskCorpus(write(tmp_path / "others", counts(), monkeypatch, vocabulary=[f"other{i}" for i in range(60)]))
    with pytest.raises(ValueError, match="vocabulary is not that of the model"):
        model.score(others)


def test_fractions_go_by_mean_field_and_not_by_gibbs(tmp_path, monkeypatch):
    corpus = DiskCorpus(write(tmp_path / "fractions", counts() / 2.0, monkeypatch))
    with pytest.raises(ValueError, match="needs whole counts"):
        fitted(corpus, local_step="gibbs")
    assert fitted(corpus).local_step_ == "mean_field"


def test_a_shard_that_is_lost_during_a_fit_stops_it_and_leaves_the_model_as_it_was(folder):
    corpus = DiskCorpus(folder)
    model = fitted(corpus)
    before = model.components_.copy()

    def lose(state, info):
        for shard in folder.glob("shard-*.parquet"):
            shard.write_bytes(b"something else")

    corpus = DiskCorpus(folder)
    model.set_params(callbacks=[lose], max_iter=5)
    with pytest.raises(CorpusError, match=r"shard-\d+\.parquet"):
        model.fit(corpus)
    assert np.array_equal(model.components_, before)


def test_checkpoints_are_of_one_corpus(folder, tmp_path, monkeypatch):
    keeper = Checkpoints(tmp_path / "kept", every=1)
    fitted(DiskCorpus(folder), callbacks=[keeper])
    other = write(tmp_path / "other", counts(seed=1), monkeypatch, rows=20, vocabulary=WORDS)
    with pytest.raises(ValueError, match="checkpoints of another fit, with other data"):
        fitted(DiskCorpus(other), callbacks=[Checkpoints(tmp_path / "kept", every=1)])


def test_a_fit_that_was_killed_in_the_middle_of_a_pass_ends_with_the_same_bits(folder, tmp_path):
    kept = tmp_path / "kept"
    script = textwrap.dedent(f"""
        import os, signal
        from ssvi import LatentDirichletAllocation
        from ssvi.corpora import DiskCorpus
        from ssvi.files import Checkpoints

        def die(state, info):
            if info.step == 9:  # six steps a pass
                os.kill(os.getpid(), signal.SIGKILL)

        callbacks = [die, Checkpoints({str(kept)!r}, every=2)]
        model = LatentDirichletAllocation(3, max_iter=2, batch_size=150, random_state=3, callbacks=callbacks)
        model.fit(DiskCorpus({str(folder)!r}))
    """)
    died = subprocess.run([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": "src"}, check=False)
    assert died.returncode == -signal.SIGKILL
    keeper = Checkpoints(kept, every=2)
    resumed = fitted(DiskCorpus(folder), callbacks=[keeper])
    assert keeper.resumed_at == 8
    assert np.array_equal(resumed.components_, fitted(DiskCorpus(folder)).components_)


def test_an_empty_corpus_is_refused(tmp_path):
    from scipy import sparse

    from ssvi.batches.documents import Documents

    with CorpusWriter(tmp_path / "empty", 5) as new:
        new.add(Documents.from_matrix(sparse.csr_array((10, 5), dtype=int)))
    with pytest.raises(ValueError, match="nothing but zeros"):
        fitted(DiskCorpus(tmp_path / "empty"))

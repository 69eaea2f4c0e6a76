"""Topics that are copies are merged, and what documents have and no topic explains takes their places."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ssvi import LatentDirichletAllocation, engine
from ssvi.backends.threads import Threads
from ssvi.batches.documents import Documents
from ssvi.engine import Problem
from ssvi.estimators import topic_defaults
from ssvi.estimators.convergence import distance
from ssvi.families.dirichlet import Dirichlet
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.models.rearranging import Look, Rearrangement, fewest_neighbours, surprising_words
from ssvi.schedules import ConstantSchedule

MODEL = LDA(12, np.full(3, 0.1), 0.01)
MODEL_OF_FOUR = LDA(12, np.full(4, 0.1), 0.01)
MODEL_OF_EIGHT = LDA(8, np.full(3, 0.1), 0.01)  # words


def _three_kinds(n: int) -> Documents:
    """Return documents of ten words each, of the first, second or third four of twelve words."""
    rng = np.random.default_rng(0)
    counts = np.zeros((n, 12), dtype=np.int64)
    for d in range(n):
        counts[d, 4 * (d % 3) : 4 * (d % 3) + 4] = rng.multinomial(10, np.full(4, 0.25))
    return Documents.from_matrix(counts)


def _with_a_copy() -> np.ndarray:
    """Return lambda whose topics 0 and 2 have the same words; no topic has the last four."""
    lam = np.full((3, 12), 0.01)
    lam[0, :4], lam[1, 4:8], lam[2, :4] = 50.0, 60.0, 20.0
    return lam


def test_what_both_had_seen_is_seen_by_the_one():
    lam, prior = _with_a_copy(), np.full((1, 1), 0.01)
    fresh = np.arange(12.0)[None]
    new = Rearrangement(((0, 2),), {"topics": fresh}).applied("topics", Dirichlet(), lam, prior)
    np.testing.assert_allclose(new.sum(axis=0), lam.sum(axis=0) + fresh[0], rtol=1e-12)
    np.testing.assert_allclose(new[0, :4], 50.0 + 20.0 - 0.01)
    np.testing.assert_allclose(new[2], 0.01 + fresh[0])
    np.testing.assert_array_equal(lam, _with_a_copy())  # the argument is left as it is


def test_a_topic_that_becomes_a_copy_by_merging_is_merged_too():
    """The first two are alike (0.905), the third is like both together (0.906) and like neither alone (0.884)."""
    rows = np.full((4, 12), 0.01)
    rows[0, :2], rows[1, :2], rows[2, :3], rows[3, 4:] = (84.4, 53.6), (53.1, 83.6), (32.0, 32.0, 21.1), 9.0
    pairs, kept = MODEL_OF_FOUR._part(rows, 5)
    assert pairs == [(0, 1), (0, 2)]
    np.testing.assert_array_equal(np.flatnonzero(kept), [14])  # the third keeps what only it has
    assert MODEL_OF_FOUR.copies({"topics": rows}, 0.895) == [(0, 1)]
    assert MODEL_OF_FOUR._part(rows, 0)[0] == []  # the second would keep nothing, and no place can be filled
    new = Rearrangement(tuple(pairs), {"topics": np.zeros((2, 12))}, kept={"topics": kept})
    np.testing.assert_allclose(new.applied("topics", Dirichlet(), rows, 0.01)[:3].sum(axis=0), rows[:3].sum(axis=0))


def test_topics_that_are_alike_by_words_that_all_have_are_parted_and_keep_their_own():
    """Three topics of the same two stop words and two words each of their own: the first takes all stop words."""
    rows = np.full((3, 8), 0.01)
    for k, size in enumerate((100.0, 60.0, 50.0)):
        rows[k, :2] += (5.0 * size, 4.0 * size)
        rows[k, 2 + 2 * k : 4 + 2 * k] += size
    assert len(MODEL_OF_EIGHT.copies({"topics": rows}, 0.895)) == 2
    look = Look(Documents.from_matrix(np.ones((20, 8), dtype=int)), lambda: pytest.fail("no place is free"))
    change = MODEL_OF_EIGHT.rearrangement({"topics": rows}.__getitem__, look)
    assert change is not None
    assert change.pairs == ((0, 1), (0, 2))
    new = change.applied("topics", Dirichlet(), rows, 0.01)
    np.testing.assert_allclose(new.sum(axis=0), rows.sum(axis=0))
    np.testing.assert_allclose(new[1:, :2], 0.01)
    np.testing.assert_allclose(new[0, :2], rows[:, :2].sum(axis=0) - 0.02)
    for k, size in enumerate((100.0, 60.0, 50.0)):
        np.testing.assert_allclose(new[k, 2 + 2 * k : 4 + 2 * k], size + 0.01)
    assert MODEL_OF_EIGHT.copies({"topics": new}, 0.5) == []


def test_a_fit_of_text_with_stop_words_puts_them_into_few_topics():
    """Three quarters of all words are of ten that every document has; the others are of twenty topics, ten words each.

    Left alone, topics share the stop words out among them, and most are copies of others.
    """
    rng, topics = np.random.default_rng(0), np.zeros((20, 210))
    topics[:, :10] = 0.75 * rng.dirichlet(np.full(10, 1.0))
    for k in range(20):
        topics[k, 10 + 10 * k : 20 + 10 * k] = 0.025
    counts = np.array([rng.multinomial(100, rng.dirichlet(np.full(20, 0.05)) @ topics) for _ in range(1_500)])
    train, test = counts[:1_200], counts[1_200:]
    fits = {
        merge: [
            LatentDirichletAllocation(22, merge_copies=merge, max_iter=10, random_state=seed).fit(train)
            for seed in range(3)
        ]
        for merge in (True, False)
    }
    parted, alone = fits[True][0], fits[False][0]
    assert len(alone._lda().copies(alone._state.estimate)) > 10
    assert not parted._lda().copies(parted._state.estimate)
    of_stop_words = parted.topic_word_[:, :10].sum(axis=1)
    assert (of_stop_words < 0.25).sum() >= 15
    assert (alone.topic_word_[:, :10].sum(axis=1) > 0.5).all()
    # By 0.013 over twelve seeds and several sizes of minibatches, with a deviation of 0.01 from seed to seed.
    scores = {merge: np.mean([fit.score(test) for fit in own]) for merge, own in fits.items()}
    assert scores[True] > scores[False]


def test_merging_goes_on_from_what_was_merged():
    """Of three in a row, the last ends with what all had."""
    rows = np.full((3, 4), 0.01) + np.eye(3, 4)
    new = Rearrangement(((1, 0), (2, 1)), {"topics": np.zeros((2, 4))}).applied("topics", Dirichlet(), rows, 0.01)
    np.testing.assert_allclose(new[2], [1.01, 1.01, 1.01, 0.01])
    np.testing.assert_allclose(new[:2], 0.01)


def test_the_words_that_surprise_are_those_that_no_topic_has():
    documents, topics = _three_kinds(30), MODEL.mean_topics({"topics": _with_a_copy()})
    weights = np.tile([0.4, 0.4, 0.2], (30, 1))
    words = surprising_words(documents, weights, topics, 1)
    np.testing.assert_allclose(words.sum(axis=1), 1.0)
    assert words[0, 8:].sum() > 0.999


def test_each_new_topic_is_of_other_documents():
    topics = np.full((1, 12), 1 / 12)
    words = surprising_words(_three_kinds(30), np.ones((30, 1)), topics, 3)
    # Three kinds of ten documents: each new topic has the four words of one of them.
    assert sorted(np.argmax(words.reshape(3, 3, 4).sum(axis=2), axis=1)) == [0, 1, 2]


def test_a_model_says_what_is_to_change():
    weights = np.tile([0.4, 0.4, 0.2], (30, 1))
    look = Look(_three_kinds(30), lambda: {"weights": weights})
    change = MODEL.rearrangement({"topics": _with_a_copy()}.__getitem__, look)
    assert change is not None
    assert change.pairs == ((0, 2),)
    distinct = _with_a_copy()
    distinct[2] = distinct[2][::-1].copy()
    assert MODEL.rearrangement({"topics": distinct}.__getitem__, look) is None


@pytest.mark.parametrize("averaging", [0.0, 7.0])
def test_the_engine_merges_between_the_sweeps_it_is_told(averaging):
    documents = _three_kinds(60)
    state = engine.init(MODEL, 0)
    state = engine.State(0, 0, 0, {"topics": _with_a_copy()}, hyperparameters=state.hyperparameters)
    infos, states = [], []
    problem = Problem(
        MODEL, Gibbs(), Ssvi(averaging=averaging), population=60, backend=Threads(2), rearranges=(2.0, 3.0)
    )
    end = engine.run(
        problem, state, documents, sweeps=6, batch_size=20, callbacks=[lambda s, i: infos.append(i) or states.append(s)]
    )
    # Words that no topic has are taken up by the copies, and by chance not by both; if so, nothing is left to merge.
    assert sum(info.merged for info in infos if info.documents_seen not in (120, 180)) == 0
    assert MODEL.copies(end.estimate) == []
    # From any state on, the same: what was merged is in the state.
    again = engine.run(problem, states[7].complete(), documents, sweeps=6, batch_size=20)
    np.testing.assert_array_equal(again.parameters["topics"], end.parameters["topics"])


def test_the_engine_looks_for_copies_in_its_window_and_merges_those_that_are_there():
    documents, looked_after = _three_kinds(60), []

    class Watched(LDA):
        def rearrangement(self, lam, look):
            looked_after.append(None)
            return super().rearrangement(lam, look)

    model = Watched(12, np.full(3, 0.1), 0.01)
    state = engine.State(0, 0, 0, {"topics": _with_a_copy()})
    # Steps that are next to nothing: the copy is there until it is merged, and what is new is no copy.
    problem = Problem(model, Gibbs(), Ssvi(), ConstantSchedule(1e-9), population=60, rearranges=(2.0, 4.0))
    infos = []
    callbacks = [lambda s, i: infos.append((i.documents_seen // 60, i.merged, len(looked_after)))]
    end = engine.run(problem, state, documents, sweeps=6, batch_size=60, callbacks=callbacks)
    assert infos == [(1, 0, 0), (2, 1, 1), (3, 0, 2), (4, 0, 3), (5, 0, 3), (6, 0, 3)]
    assert end.parameters["topics"][2, 8:].sum() > 10.0  # the place of the copy has the words that no topic had


def test_a_fit_that_stops_early_returns_no_state_from_before_a_merge(monkeypatch):
    """Scores go down all the time: the best state is the first that counts, which is the one with its copies merged."""
    documents = _three_kinds(300).to_matrix()
    monkeypatch.setattr(topic_defaults, "_REARRANGING", (0.25, 0.5))  # later ones would be merged to the end
    monkeypatch.setattr(LatentDirichletAllocation, "_score", lambda self, data: -float(self._state.step))
    model = LatentDirichletAllocation(
        6, max_iter=12, batch_size=100, random_state=0, early_stopping=True, n_iter_no_change=3
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(documents, X_val=documents[:30])
    assert len(model.scores_) > model.n_iter_
    last = model.history_[-1]
    assert last.step == model.n_batch_iter_
    assert last.merged > 0


def test_a_fit_reports_what_it_merged_and_warns_of_what_remains():
    documents = _three_kinds(300).to_matrix()
    settings = {"n_components": 6, "max_iter": 12, "random_state": 0, "batch_size": 100}
    with pytest.warns(ConvergenceWarning, match="near-copies of others"):
        LatentDirichletAllocation(**settings | {"n_components": 20}).fit(documents)  # for three kinds of documents
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        alone = LatentDirichletAllocation(**settings, merge_copies=False).fit(documents)
    assert not [warning for warning in caught if "near-copies" in str(warning.message)]
    assert sum(info.merged for info in alone.history_) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = [LatentDirichletAllocation(**settings, n_jobs=n).fit(documents) for n in (1, 2)]
    assert sum(info.merged for info in fits[0].history_) > 0
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)


def test_merged_topics_are_not_taken_for_drift():
    """Of ten topics all move a little; then one takes in another, whose place goes to something else."""
    model, rng = LDA(30, np.full(10, 0.1), 0.1), np.random.default_rng(0)
    before = {"topics": rng.gamma(2.0, 5.0, (10, 30)) + 1.0}
    after = {"topics": before["topics"] + 0.05}
    drift = distance(model, before, after)
    after["topics"][2] += after["topics"][7]
    after["topics"][7] = 0.1 + 300.0 * rng.dirichlet(np.full(30, 0.1))
    assert distance(model, before, after) > 1_000 * drift
    assert distance(model, before, after, merged=1) == pytest.approx(drift, rel=0.5)


def test_a_fit_that_ends_when_copies_may_first_be_merged_keeps_them():
    """What is put in their places then would not be fitted at all."""
    documents = _three_kinds(300).to_matrix()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = LatentDirichletAllocation(6, max_iter=3, batch_size=100, random_state=0).fit(documents)
    assert sum(info.merged for info in fit.history_) == 0


def test_a_new_topic_may_be_made_of_few_documents_if_they_are_long():
    """Of ten documents of a hundred words; of two of thousands, so that a few long ones can fill several places."""
    rng = np.random.default_rng(0)
    for length, wanted in ((20, 10), (100, 10), (250, 4), (3_000, 2)):
        assert fewest_neighbours(Documents.from_matrix(rng.multinomial(length, np.full(50, 0.02), 12))) == wanted


def test_many_copies_in_few_long_documents_are_all_replaced():
    """Twelve documents of 5,000 words, six pairs of which have words of their own: five copies become five of these."""
    own = np.kron(np.eye(6), np.ones(5)) / 5.0
    documents = Documents.from_matrix(np.repeat(np.round(5_000 * own), 2, axis=0).astype(int))
    rows = np.full((6, 30), 0.1) + 100.0
    model = LDA(30, np.full(6, 0.1), 0.1)
    look = Look(documents, lambda: {"weights": np.full((12, 6), 1.0 / 6.0)})
    change = model.rearrangement({"topics": rows}.__getitem__, look)
    assert len(change.pairs) == 5
    new = change.applied("topics", Dirichlet(), rows, 0.1)
    assert not model.copies({"topics": new})
    fresh = new[[copy for _, copy in change.pairs]]
    assert len({int(row.argmax()) // 5 for row in fresh}) == 5

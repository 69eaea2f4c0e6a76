"""Streams that change: words that are new, topics that pass, topics that are seeded, and a start from another model."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import ssvi
from ssvi import LatentDirichletAllocation
from ssvi.files.checkpoints import Checkpoints
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.models.lda import LDA

TRUTH, DOCUMENTS = LDA(60, np.full(4, 0.2), 0.05).simulate(np.random.default_rng(0), 600)
COUNTS = DOCUMENTS.to_matrix()
NAMES = [f"w{column}" for column in range(60)]
FRAME = pd.DataFrame(COUNTS.toarray(), columns=NAMES)


def _lda(**parameters):
    settings = {"n_components": 4, "batch_size": 50, "max_iter": 2, "random_state": 0, "verbose": 0}
    return LatentDirichletAllocation(**{**settings, **parameters})


def _growing(**parameters):
    return _lda(grow_vocabulary=True, **parameters)


class TestNewWords:
    def test_columns_are_added_at_the_right(self):
        model = _growing().partial_fit(COUNTS[:200, :40])
        before = model.components_
        model.partial_fit(COUNTS[200:300])
        assert model.components_.shape == (4, 60)
        assert model.n_features_in_ == 60
        assert before.shape == (4, 40)
        np.testing.assert_allclose(model._state.totals["topics"], model._state.parameters["topics"].sum(axis=1))
        assert model.transform(COUNTS).shape == (600, 4)
        # A narrower X has the first columns.
        narrow, padded = COUNTS[:, :30], sparse.csr_array(COUNTS[:, :30])
        padded.resize((600, 60))
        np.testing.assert_array_equal(model.transform(narrow), model.transform(padded))
        np.testing.assert_array_equal(model.transform(narrow.toarray()), model.transform(padded))

    def test_without_growth_another_number_of_columns_is_refused(self):
        model = _lda().partial_fit(COUNTS[:200, :40])
        with pytest.raises(ValueError, match="X has 60 features, but LatentDirichletAllocation is expecting 40"):
            model.partial_fit(COUNTS)
        model = _growing().partial_fit(COUNTS[:200, :40])
        with pytest.raises(ValueError, match="X has 60 columns, and the model was fitted to 40: only partial_fit adds"):
            model.transform(COUNTS)

    @pytest.mark.parametrize("other", [{"n_components": 5}, {"topic_word_prior": 0.3}, {"doc_topic_prior": 0.5}])
    def test_new_words_are_no_way_around_what_cannot_change(self, other):
        model = _growing().partial_fit(COUNTS[:200, :40]).set_params(**other)
        with pytest.raises(ValueError, match=f"{next(iter(other))}.* changed since this model was fitted"):
            model.partial_fit(COUNTS)
        assert (model.n_features_in_, model.components_.shape) == (40, (4, 40))

    def test_columns_are_matched_by_their_names(self):
        shuffled = NAMES[30:] + NAMES[10:20]
        model = _growing().partial_fit(FRAME.iloc[:200, :40]).partial_fit(FRAME.loc[200:, shuffled])
        assert model.feature_names_in_.tolist() == NAMES
        by_hand = COUNTS.toarray()
        by_hand[200:, [column for column in range(30) if not 10 <= column < 20]] = 0
        other = _growing().partial_fit(by_hand[:200, :40]).partial_fit(by_hand[200:])
        np.testing.assert_array_equal(model.components_, other.components_)
        # So they are where nothing is learned: words that are not known are left out.
        asked = FRAME[["w59", "w3"]].assign(unknown=5)
        rows = np.zeros((600, 60))
        rows[:, [59, 3]] = FRAME[["w59", "w3"]]
        np.testing.assert_array_equal(model.transform(asked), model.transform(pd.DataFrame(rows, columns=NAMES)))
        assert model.n_features_in_ == 60

    def test_names_can_be_given_beside_a_matrix(self):
        model = _growing().partial_fit(COUNTS[:200, :40], vocabulary=NAMES[:40])
        order = np.r_[59:9:-1]
        model.partial_fit(COUNTS[200:, order], vocabulary=[NAMES[column] for column in order])
        assert model.vocabulary_.tolist() == [*NAMES[:40], *NAMES[:39:-1]]
        again = _growing().partial_fit(COUNTS[:200, :40], vocabulary=NAMES[:40])
        renamed = FRAME.loc[200:, [NAMES[column] for column in order]]
        np.testing.assert_array_equal(again.partial_fit(renamed).components_, model.components_)

    @pytest.mark.parametrize(
        ("X", "vocabulary", "message"),
        [
            (
                COUNTS[:, :50],
                None,
                "X has 50 columns and the model 40, .* the model has names of columns and X has none",
            ),
            (COUNTS[:, :2], ["a"], "vocabulary has 1 words, and X 2 columns"),
            (COUNTS[:, :2], ["a", "a"], "vocabulary has 'a' 2 times"),
            (COUNTS[:, :2], ["a", 7], "vocabulary must be strings, and 7 is none"),
            (COUNTS[:, :2], {"a": 0, "b": 1}, "vocabulary must be the words in the order of the columns"),
            (FRAME, NAMES, "X is a data frame with names of its own: leave out `vocabulary`"),
        ],
    )
    def test_names_that_will_not_do_are_refused_and_change_nothing(self, X, vocabulary, message):
        model = _growing().partial_fit(COUNTS[:200, :40], vocabulary=NAMES[:40])
        before, steps = model.components_, model.n_batch_iter_
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X, vocabulary=vocabulary)
        assert model.components_ is before
        assert (model.n_batch_iter_, model.n_features_in_, len(model.vocabulary_)) == (steps, 40, 40)

    def test_names_that_come_late(self):
        model = _growing().partial_fit(COUNTS[:200, :40])
        with pytest.raises(ValueError, match="X has names of columns and the model has none"):
            model.partial_fit(COUNTS[200:], vocabulary=NAMES)
        model.partial_fit(COUNTS[200:400, :40], vocabulary=NAMES[:40]).partial_fit(COUNTS[400:], vocabulary=NAMES)
        assert model.vocabulary_.tolist() == NAMES
        fixed = _lda().partial_fit(COUNTS, vocabulary=NAMES)
        with pytest.raises(ValueError, match="vocabulary is not that of the model, word for word"):
            fixed.partial_fit(COUNTS, vocabulary=NAMES[::-1])
        assert fixed.partial_fit(COUNTS, vocabulary=NAMES).vocabulary_.tolist() == NAMES

    def test_a_fit_begins_with_the_names_of_its_own_data(self):
        model = _growing().fit(FRAME.iloc[:, :30]).partial_fit(FRAME)
        assert (model.n_features_in_, model.feature_names_in_.tolist()) == (60, NAMES)
        model.fit(COUNTS[:, :7], vocabulary=NAMES[:7])
        assert (model.n_features_in_, model.vocabulary_.tolist()) == (7, NAMES[:7])
        assert not hasattr(model.fit(COUNTS), "vocabulary_")

    @pytest.mark.parametrize("global_step", ["ssvi", SsviA(averaging=3.0)])
    def test_files_and_threads_do_not_matter(self, global_step, tmp_path):
        parts = [FRAME.iloc[start : start + 200, : 20 + start // 10] for start in (0, 200, 400)]
        model = _growing(global_step=global_step, seed_words={2: ["w1", "w59"]}, topic_word_prior=0.1, memory=300)
        model.partial_fit(parts[0]).save(tmp_path / "a.ssvi")
        there = ssvi.load(tmp_path / "a.ssvi")
        assert there.seed_words == {2: ["w1", "w59"]}
        there.set_params(n_jobs=2).partial_fit(parts[1]).save(tmp_path / "b.ssvi")
        there = ssvi.load(tmp_path / "b.ssvi").partial_fit(parts[2])
        model.partial_fit(parts[1]).partial_fit(parts[2])
        np.testing.assert_array_equal(model.components_, there.components_)
        np.testing.assert_array_equal(model._state.totals["topics"], there._state.totals["topics"])
        np.testing.assert_array_equal(model.topic_word_prior_, there.topic_word_prior_)
        assert there.feature_names_in_.tolist() == NAMES

    @pytest.mark.parametrize("global_step", ["ssvi", "ssvi_a", "map"])
    def test_words_that_come_late_find_their_topics(self, global_step):
        """The score of whole documents after a stream in which a third of the words comes late.

        It is to be as good as where all words were there from the first. The 200 parameters of late words, learned from
        1,000 documents of 60 words instead of 2,000, cost 200 / (2 x 60,000) = 0.002 nats besides, and ten times that
        where rho, 0.1 at the end, makes the last ten minibatches count alone; 0.05 is more. (New words that begin at
        eta are 0.5 behind with "ssvi" and "ssvi_a", which draw.)
        """
        _, documents = LDA(150, np.full(4, 0.1), 0.05).simulate(np.random.default_rng(5), 2_600, 60.0)
        counts = documents.to_matrix()
        settings = {"global_step": global_step, "doc_topic_prior": 0.1, "topic_word_prior": 0.02, "batch_size": 100}
        late = _growing(**settings).partial_fit(counts[:1_000, :100]).partial_fit(counts[1_000:2_000])
        first = _lda(**settings).partial_fit(counts[:1_000]).partial_fit(counts[1_000:2_000])
        assert late.score(counts[2_000:]) > first.score(counts[2_000:]) - 0.05


class TestMemory:
    """A stream of 8,000 documents of 20 words over 40, of three topics; then of three other topics."""

    MODEL = LDA(40, np.full(3, 0.2), 0.1)

    @classmethod
    def _streams(cls):
        rng = np.random.default_rng(3)
        return [cls.MODEL.simulate(rng, 9_000, 20.0)[1].to_matrix() for _ in range(2)]

    @pytest.mark.parametrize("global_step", ["ssvi", "map"])
    def test_a_stream_that_changes_is_followed_and_one_that_does_not_is_learned_as_well(self, global_step):
        """With W = 400 and S = 20, a sum with weights (1 - S / W)^j is worth n = 2 W documents, 16,000 words.

        P = 3 x 39 parameters that are estimated from so many cost P / (2 n) = 0.0037 nats a word against the truth. So
        much is lost by forgetting if nothing at all is lost without. Twice that is allowed, for the noise of draws.
        """
        before, after = self._streams()
        settings = {"n_components": 3, "batch_size": 20, "doc_topic_prior": 0.2, "topic_word_prior": 0.1}
        kept, forgetting = (
            _lda(**settings, global_step=global_step, memory=memory).partial_fit(before[:8_000])
            for memory in (None, 400)
        )
        assert forgetting.score(before[8_000:]) > kept.score(before[8_000:]) - 0.0075
        assert forgetting.history_[-1].population == 400
        assert forgetting.history_[-1].step_size == 20 / 400
        for model in (kept, forgetting):
            model.partial_fit(after[:800])
        assert forgetting.score(after[8_000:]) > kept.score(after[8_000:]) + 0.02

    def test_every_estimator_has_a_memory(self):
        rows = np.random.default_rng(0).normal(size=(300, 2))
        mixture = ssvi.GaussianMixture(2, memory=60, batch_size=30, random_state=0, verbose=0).partial_fit(rows)
        assert mixture.history_[-1].population == 60
        assert mixture.history_[-1].step_size == 0.5
        for memory in (0, "long", float("inf")):
            with pytest.raises(ValueError, match="memory must be 1 or more, not"):
                mixture.set_params(memory=memory).partial_fit(rows)


class TestSeededTopics:
    @pytest.mark.parametrize("where", [{3: 0, 0: 1, 2: 2, 1: 3}, {0: 3, 1: 1, 2: 0, 3: 2}])
    @pytest.mark.parametrize("global_step", ["ssvi", "ssvi_a", "map", "mean_field"])
    def test_topics_end_where_they_were_seeded(self, global_step, where):
        """Topic k, seeded by the three most probable words of a true one, ends as that one, by a cosine above 0.9.

        Without seeds all four would be in such an order by a chance of 1 / 24.
        """
        truth = TRUTH["topics"]
        seeds = {k: [NAMES[word] for word in np.argsort(-truth[true])[:3]] for k, true in where.items()}
        model = _lda(seed_words=seeds, global_step=global_step, max_iter=10).fit(COUNTS, vocabulary=NAMES)
        for k, true in where.items():
            found = model.topic_word_[k]
            assert found @ truth[true] / np.linalg.norm(found) / np.linalg.norm(truth[true]) > 0.9

    def test_the_prior_is_eta_and_the_strength_of_seeds(self):
        model = _lda(seed_words=[["w3"], [], ["w5", 7]], seed_strength=2.5, topic_word_prior=0.1).fit(FRAME)
        expected = np.full((4, 60), 0.1)
        expected[[0, 2, 2], [3, 5, 7]] = 2.6
        np.testing.assert_allclose(model.topic_word_prior_, expected)
        by_array = _lda(topic_word_prior=expected).fit(COUNTS)
        np.testing.assert_array_equal(by_array.components_, model.components_)
        assert by_array.partial_fit(COUNTS).n_batch_iter_ == model.n_batch_iter_ + 12

    def test_a_prior_of_each_word(self):
        eta = np.linspace(0.01, 0.5, 60)
        model = _lda(topic_word_prior=eta).fit(COUNTS)
        whole = _lda(topic_word_prior=np.tile(eta, (4, 1))).fit(COUNTS)
        np.testing.assert_array_equal(model.components_, whole.components_)
        np.testing.assert_array_equal(model.topic_word_prior_, eta)
        with pytest.raises(ValueError, match="topic_word_prior changed since this model was fitted"):
            model.set_params(topic_word_prior=eta + 0.1).partial_fit(COUNTS)

    def test_seed_words_may_come_with_a_growing_vocabulary(self):
        model = _growing(seed_words={1: ["w3", "w55"]}, topic_word_prior=0.1).partial_fit(FRAME.iloc[:, :40])
        assert model.topic_word_prior_.shape == (4, 40)
        model.partial_fit(FRAME)
        assert model.topic_word_prior_[1, 55] == pytest.approx(100.1)
        assert model.components_[1, 55] > 50

    def test_an_array_grows_with_the_vocabulary(self):
        eta = np.linspace(0.01, 0.5, 60)
        model = _growing(topic_word_prior=eta[:40]).partial_fit(COUNTS[:, :40])
        with pytest.raises(ValueError, match=r"topic_word_prior has the shape \(40,\), and there are 4 topics and 60"):
            model.partial_fit(COUNTS)
        for other in (eta[::-1], 0.1):
            with pytest.raises(ValueError, match="topic_word_prior changed since this model was fitted"):
                model.set_params(topic_word_prior=other).partial_fit(COUNTS)
        assert model.n_features_in_ == 40
        model.set_params(topic_word_prior=eta).partial_fit(COUNTS)
        np.testing.assert_array_equal(model.topic_word_prior_, eta)

    @pytest.mark.parametrize(
        ("seeds", "message"),
        [
            ("goal", "seed_words must be lists of words by the numbers of topics"),
            ({0: "goal"}, "topic 0 has 'goal', and not a list"),
            ({"zero": ["w1"]}, "'zero' is no number of a topic"),
            ({0: [1.5]}, "topic 0 has 1.5, which is neither a word nor a column's number"),
            ({7: ["w1"]}, "seed_words has a topic 7, and there are 4"),
            ({0: ["goal"]}, r"none of the seed_words of topic 0 is a word of the data \(goal\)"),
        ],
    )
    def test_seeds_that_will_not_do(self, seeds, message):
        with pytest.raises(ValueError, match=message):
            _lda(seed_words=seeds).fit(FRAME)

    def test_an_eta_that_is_learned_is_one_for_all_words(self):
        with pytest.raises(ValueError, match="learns one number, and seed_words give many"):
            _lda(seed_words={0: ["w1"]}, topic_word_prior="auto").fit(FRAME)
        model = _growing(topic_word_prior="auto").partial_fit(FRAME.iloc[:, :40]).partial_fit(FRAME)
        assert model.components_.shape == (4, 60)
        assert model.topic_word_prior_ != 0.25  # where it began

    def test_words_need_names(self):
        with pytest.raises(ValueError, match="seed_words has the word 'w1', and the columns have no names"):
            _lda(seed_words={0: ["w1"]}).fit(COUNTS)
        with pytest.warns(UserWarning, match="1 of the seed_words are no words of the data, and are left out: goal"):
            _lda(seed_words={0: ["w1", "goal"]}).fit(FRAME)


class TestStart:
    def test_a_fit_begins_with_the_topics_of_another(self):
        seeds = [[NAMES[word] for word in np.argsort(-topic)[:3]] for topic in TRUTH["topics"]]  # for want of twins
        other = _lda(max_iter=10, seed_words=seeds).fit(FRAME)
        order = np.random.default_rng(0).permutation(60)
        model = _lda(max_iter=1, random_state=7).fit(FRAME.iloc[:, order], start=other)
        found, known = model.topic_word_, other.topic_word_[:, order]
        cosines = found @ known.T / np.linalg.norm(found, axis=1)[:, None] / np.linalg.norm(known, axis=1)
        assert (cosines.argmax(axis=1) == np.arange(4)).all()
        assert cosines.diagonal().min() > 0.9

    @pytest.mark.parametrize("method", ["fit", "partial_fit"])
    def test_it_may_be_a_file_and_have_other_topics_and_words(self, method, tmp_path):
        _lda(n_components=3, max_iter=5).fit(COUNTS[:, :40], vocabulary=NAMES[:40]).save(tmp_path / "other.ssvi")
        for n_topics in (2, 3, 6):
            model = getattr(_lda(n_components=n_topics), method)(FRAME, start=tmp_path / "other.ssvi")
            assert model.components_.shape == (n_topics, 60)
            again = getattr(_lda(n_components=n_topics), method)(FRAME, start=ssvi.load(tmp_path / "other.ssvi"))
            np.testing.assert_array_equal(model.components_, again.components_)

    def test_a_further_topic_takes_what_the_others_do_not_explain(self):
        """Three of four true topics are known; the fourth begins at random and is found, by a cosine above 0.9."""
        truth = TRUTH["topics"]
        known = _lda(n_components=3).fit(COUNTS)
        known._state = replace(known._state, parameters={"topics": 500 * truth[[2, 0, 3]] + 0.05}, averages={})
        model = _lda(max_iter=5).fit(COUNTS, start=known)
        for found, true in zip(model.topic_word_, truth[[2, 0, 3, 1]], strict=True):
            assert found @ true / np.linalg.norm(found) / np.linalg.norm(true) > 0.9

    def test_a_start_that_will_not_do(self, tmp_path):
        other, plain = _lda().fit(FRAME), _lda().fit(COUNTS[:, :30])
        with pytest.raises(ValueError, match="start has no word in common with X"):
            _lda().fit(COUNTS, vocabulary=[f"v{column}" for column in range(60)], start=other)
        with pytest.raises(ValueError, match="start has 30 columns and X 60, and they cannot be matched without names"):
            _lda().fit(FRAME, start=plain)
        with pytest.raises(ValueError, match="start must be a fitted model of topics, or the path of its file, not 7"):
            _lda().fit(FRAME, start=7)
        with pytest.raises(NotFittedError):
            _lda().fit(FRAME, start=_lda())
        with pytest.raises(FileNotFoundError):
            _lda().fit(FRAME, start=tmp_path / "nothing.ssvi")
        with pytest.raises(ValueError, match="start is for a fit that begins, and this one has begun"):
            other.partial_fit(FRAME, start=plain)

    def test_a_fit_goes_on_from_a_checkpoint_whatever_it_began_with(self, tmp_path):
        start, other = _lda(random_state=5).fit(FRAME), _lda(random_state=6).fit(FRAME)

        def fit(folder, start, stop_at=None):
            stop = [lambda state, info: info.step == stop_at]
            callbacks = [Checkpoints(tmp_path / folder, every=5), *stop]
            return _lda(callbacks=callbacks, seed_words={0: ["w1"]}).fit(FRAME, start=start)

        whole, _ = fit("whole", start), fit("parts", start, stop_at=13)
        with pytest.raises(ValueError, match="holds checkpoints of another fit, with other data"):
            fit("parts", other)
        np.testing.assert_array_equal(fit("parts", start).components_, whole.components_)

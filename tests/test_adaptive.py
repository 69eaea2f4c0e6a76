"""Step sizes that are learned from the path: the rule by hand, and its memory through files and other schedules."""

import numpy as np
import pytest

from ssvi import engine
from ssvi.adaptive import Pace, SignalShare
from ssvi.files.states import load_state, save_state
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.schedules import ConstantSchedule, PowerSchedule

MODEL = LDA(40, np.full(5, 0.2), 0.05)
_, CORPUS = MODEL.simulate(np.random.default_rng(0), 200)
SHAPES = {"topics": (5, 40)}


def _followed(rule, path):
    """Return the step sizes after each of some directions of one block."""
    memory, sizes = {}, []
    for number, direction in enumerate(path, 1):
        memory = rule.after(number, memory, {"a": direction})
        sizes.append(rule.step_size(number + 1, memory))
    return np.array(sizes), memory


def test_the_share_of_signal_is_that_of_the_plain_means_at_first():
    path = np.random.default_rng(0).normal(1.0, 1.0, (6, 3, 4))
    sizes, memory = _followed(SignalShare(window=10.0), path)
    wanted = [
        (path[:n].mean(axis=0) ** 2).sum() / (path[:n] ** 2).sum(axis=(1, 2)).mean() for n in range(1, len(path) + 1)
    ]
    np.testing.assert_allclose(sizes, wanted, rtol=1e-12)
    assert memory["next"][1:].tolist() == [10.0, 6.0]


def test_later_means_have_a_window_that_grows_as_steps_shrink():
    path = np.random.default_rng(1).normal(0.5, 1.0, (40, 7))
    sizes, memory = _followed(SignalShare(window=4.0), path)
    mean, square, window, wanted = path[0], path[0] @ path[0], 4.0, [1.0]
    for number, g in enumerate(path[1:], 2):
        weight = 1.0 / min(window, number)
        mean, square = (1 - weight) * mean + weight * g, (1 - weight) * square + weight * (g @ g)
        wanted.append(mean @ mean / square)
        window = window * (1 - wanted[-1]) + 1 if number >= 4 else window
    np.testing.assert_allclose(sizes, wanted, rtol=1e-10)
    assert memory["next"][1] == pytest.approx(window)


def test_steps_that_agree_are_whole_and_noise_makes_them_small():
    assert _followed(SignalShare(), np.ones((20, 5)))[0].tolist() == [1.0] * 20
    # Noise of mean 0 in 500 coordinates: the share of the mean of n directions is 1/n, with a relative deviation of
    # (2 / 500)^0.5 = 0.06; 0.2 is above five of them with window effects left out, for n up to 10.
    noise = np.random.default_rng(0).normal(size=(200, 500))
    sizes, _ = _followed(SignalShare(), noise)
    np.testing.assert_allclose(sizes[4:10], 1.0 / np.arange(5, 11), rtol=0.2)
    assert 0 < sizes[-1] < 0.05


def test_blocks_count_in_their_own_units():
    rng = np.random.default_rng(0)
    rule, memory = SignalShare(), {}
    paths = rng.normal(1.0, 1.0, (8, 5)), rng.normal(0.2, 1.0, (8, 3))
    for a, b in zip(*paths, strict=True):
        memory = rule.after(1, memory, {"a": a, "b": 1e6 * b})
    shares = [_followed(rule, path)[0][-1] for path in paths]
    assert rule.step_size(9, memory) == pytest.approx(np.mean(shares), rel=1e-12)


def test_a_direction_of_nothing_is_no_division_by_zero():
    sizes, _ = _followed(SignalShare(), np.zeros((3, 4)))
    assert sizes.tolist() == [1.0, 1.0, 1.0]
    cancels = _followed(SignalShare(), np.array([[1.0], [-1.0]]))[0]
    assert 0 < cancels[-1] < 1e-5


@pytest.mark.parametrize("given", [{"first": 0.0}, {"first": 1.1}, {"window": 1.0}, {"window": np.inf}, {"first": "a"}])
def test_values_that_will_not_do_are_refused(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        SignalShare(**given)


def _problem(schedule, rule):
    return engine.Problem(MODEL, Gibbs(), rule, schedule, population=len(CORPUS))


@pytest.mark.parametrize("rule", [Ssvi(), SsviA()], ids=["every word moves", "words are put off"])
def test_a_fit_learns_its_steps_from_how_lambda_moves_and_goes_on_from_a_file_bit_for_bit(rule, tmp_path):
    problem, start = _problem(SignalShare(), rule), engine.init(MODEL, 3)
    states, infos = [start], []
    whole = engine.run(
        problem, start, CORPUS, sweeps=2, batch_size=50,
        callbacks=[lambda state, info: states.append(state.complete()), lambda state, info: infos.append(info)],
    )  # fmt: skip
    moves = [
        (after.parameters["topics"] - before.parameters["topics"]) / info.step_size
        for before, after, info in zip(states[:-1], states[1:], infos, strict=True)
    ]
    sizes, _ = _followed(SignalShare(), moves)
    np.testing.assert_allclose([info.step_size for info in infos[1:]], sizes[:-1], rtol=1e-12)
    assert infos[0].step_size == SignalShare().first
    save_state(states[3], tmp_path / "state")
    resumed = engine.run(problem, load_state(tmp_path / "state"), CORPUS, sweeps=2, batch_size=50)
    np.testing.assert_array_equal(resumed.parameters["topics"], whole.parameters["topics"])
    assert all(np.array_equal(resumed.rates[name], array) for name, array in whole.rates.items())


def test_a_memory_of_something_else_is_refused_and_other_schedules_need_none():
    problem = _problem(SignalShare(), SsviA())
    state, _ = engine.step(problem, engine.init(MODEL, 0), CORPUS.slice(0, 50))
    assert SignalShare().knows(state.rates, SHAPES)
    damaged = [
        {}, {"next": state.rates["next"]}, state.rates | {"next": np.array([0.0, 10.0, 1.0])},
        state.rates | {"mean of topics": np.zeros((5, 39))}, state.rates | {"size of topics": np.array([np.nan])},
    ]  # fmt: skip
    assert [SignalShare().knows(memory, SHAPES) for memory in damaged] == [False] * 5
    with pytest.raises(ValueError, match="rates of the state"):
        Pace(SignalShare(), damaged[3], SHAPES)
    assert Pace(SignalShare(), {}, SHAPES).step_size(1) == SignalShare().first  # a fit that begins
    assert Pace(ConstantSchedule(0.5), state.rates, SHAPES).memory == {}
    after, _ = engine.step(_problem(PowerSchedule(), SsviA()), state, CORPUS.slice(50, 100))
    assert after.rates == {}

"""What pages of sequences are told: chains, modes, series that are thinned."""

import json

import numpy as np
import pytest
from tests.report.made_sequences import MadeChains, MadeDynamics, MadeStates, MadeSymbols, sticky

from ssvi import FactorialHMM, HiddenMarkovModel, LinearDynamicalSystem
from ssvi.report.chains import chains_of, long_run, measured_chains
from ssvi.report.dynamics import modes
from ssvi.report.packing import unpack
from ssvi.report.page import render
from ssvi.report.sequences import gather_sequence_facts
from ssvi.report.series import Scale, Shown, commonest, in_stretches, stretch_of

RNG = np.random.default_rng(0)
STATES = np.repeat([0, 1, 0, 1], 40)
DATA = {
    "gaussian": RNG.normal(6.0 * STATES[:, None], 1.0, (160, 2)),
    "poisson": RNG.poisson(1.0 + 9.0 * STATES[:, None], (160, 2)).astype(float),
    "bernoulli": (RNG.random((160, 3)) < 0.1 + 0.8 * STATES[:, None]).astype(float),
    "categorical": (3 * STATES + RNG.integers(0, 3, 160)).astype(float)[:, None],
    "multinomial": np.array([RNG.multinomial(9, [0.8, 0.1, 0.1] if z else [0.1, 0.1, 0.8]) for z in STATES], float),
}


def test_durations_are_means_of_how_long_states_stay_and_shares_what_remains_in_the_end():
    chain = chains_of(MadeStates(3))[0]
    times = np.arange(1, 2_000)
    for k, stays in enumerate(np.diagonal(chain.transitions)):
        assert chain.durations[k] == pytest.approx((times * stays ** (times - 1) * (1 - stays)).sum())
    for row in np.linalg.matrix_power(chain.transitions, 2_000):
        assert long_run(chain.transitions) == pytest.approx(row)


def test_measured_shares_put_the_states_in_order():
    model = MadeStates(3)
    rows, _ = model.sequences()
    before, after = chains_of(model)[0], measured_chains(model, [rows[:50], rows[50:]])[0]
    shares = model.predict_proba(rows).mean(axis=0)
    assert after.shares == pytest.approx(np.sort(shares)[::-1])
    for place, number in enumerate(after.numbers):
        old = before.numbers.tolist().index(number)
        assert after.shares[place] == pytest.approx(shares[number])
        assert after.rows[place] == pytest.approx(before.rows[old])
        assert after.transitions[place, place] == before.transitions[old, old]


def test_states_that_follow_each_other_stand_side_by_side():
    ring = np.roll(np.eye(7), 1, axis=1)[np.ix_([3, 0, 5, 1, 6, 2, 4], [3, 0, 5, 1, 6, 2, 4])]
    model = MadeStates(7)
    model.transmat_ = 0.9 * np.eye(7) + 0.1 * ring
    order = chains_of(model)[0].order()
    assert sorted(order) == list(range(7))
    assert all(ring[a, b] + ring[b, a] == 1 for a, b in zip(order, order[1:] + order[:1], strict=True))


def test_modes_tell_cycles_and_how_fast_they_fade():
    turn, size = 2 * np.pi / 11, 0.5 ** (1 / 30)
    block = size * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    transition = np.zeros((4, 4))
    transition[:2, :2], transition[2, 2], transition[3, 3] = block, 1.02, -0.5
    other = np.random.default_rng(0).normal(size=(4, 4))  # states may be rotated and stretched: modes do not change
    found = modes(other @ transition @ np.linalg.inv(other))
    assert [mode.half_life for mode in found] == pytest.approx([np.inf, 30.0, 1.0])
    assert [mode.period for mode in found] == pytest.approx([np.inf, 11.0, 2.0])


def test_thinned_series_keep_what_stands_out_and_what_is_missing():
    rows = np.random.default_rng(0).normal(size=(1003, 2))
    rows[500, 0], rows[700:720, 1] = 40.0, np.nan
    stretch = stretch_of(len(rows), 200)
    low, high = in_stretches(rows, stretch, np.nanmin), in_stretches(rows, stretch, np.nanmax)
    assert len(low) == -(-1003 // stretch) <= 200
    for i in range(len(low)):
        own = rows[i * stretch : (i + 1) * stretch]
        for v in range(2):
            known = own[~np.isnan(own[:, v]), v]
            assert (low[i, v], high[i, v]) == (known.min(), known.max()) if len(known) else np.isnan(low[i, v])
    assert np.isnan(low[:, 1]).sum() >= 2
    path = np.array([0, 1, 1, 2, 2, 2, 0])
    assert commonest(path, 3, 3).tolist() == [1, 2, 0]


def test_packed_values_come_back():
    values = np.array([3.0, np.nan, -7.5, 0.1])
    scale = Scale.of(values)
    levels = unpack(scale.packed(values)).astype(float)
    assert levels[1] == 0
    back = scale.low + (levels - 1) / 65_534 * (scale.high - scale.low)
    assert back[[0, 2, 3]] == pytest.approx(values[[0, 2, 3]], abs=1e-4)
    assert Scale.of(np.full(3, 2.0)).packed(np.full(3, 2.0))["bytes"]  # what is constant has a place too


@pytest.mark.parametrize("emission", DATA)
def test_every_emission_has_its_page(emission):
    rows = DATA[emission].copy()
    rows[10:13] = np.nan
    model = HiddenMarkovModel(2, emission=emission, max_iter=5, n_init=1, random_state=0, n_jobs=1).fit(rows)
    facts = gather_sequence_facts(model, data=rows, lengths=[100, 60], names=["a", "b"])
    told = facts["chains"][0]
    for k, one in enumerate(told["states"]):
        for column, value, _, spread in one["rows"]:
            assert value == pytest.approx(model.means_[one["number"], column], rel=1e-4)
            if emission == "gaussian":
                assert spread == pytest.approx(np.sqrt(model.covars_[one["number"], column, column]), rel=1e-3)
        share = unpack(told["transitions"]).reshape(2, 2)[k] / 65_535
        assert share == pytest.approx(
            model.transmat_[one["number"], [other["number"] for other in told["states"]]], abs=1e-4
        )
    path = unpack(facts["series"]["sequences"][1]["path"][0])
    numbers = np.array([one["number"] for one in told["states"]])
    np.testing.assert_array_equal(numbers[path], model.predict(rows[100:]))
    render(facts)  # JSON without NaN


def test_chains_that_add_up_and_linear_dynamics():
    rows = np.cumsum(np.random.default_rng(0).normal(size=(80, 2)), axis=0)
    rows[20:24, 0] = np.nan
    chains = FactorialHMM(2, max_iter=5, n_init=1, random_state=0, n_jobs=1).fit(rows)
    facts = gather_sequence_facts(chains, data=rows)
    assert [chain["name"] for chain in facts["chains"]] == ["chain 0", "chain 1"]
    levels = [[state["rows"][1][1] for state in chain["states"]] for chain in facts["chains"]]
    assert np.array(levels) == pytest.approx(chains.levels_[:, :, 1], rel=1e-4)
    system = LinearDynamicalSystem(2, max_iter=5, random_state=0, n_jobs=1).fit(rows)
    facts = gather_sequence_facts(system, data=rows)
    one, column = facts["series"]["sequences"][0], facts["series"]["columns"][0]
    level = unpack(one["fitted"][0]).astype(float)
    shown = column["low"] + (level - 1) / 65_534 * (column["high"] - column["low"])
    assert shown == pytest.approx(system.smooth(rows).means[:, 0], abs=1e-3 * (column["high"] - column["low"]))
    assert unpack(one["values"][0])[20:24].tolist() == [0] * 4
    assert len(unpack(one["ahead"]["mean"][0])) == 16
    render(facts)


@pytest.mark.parametrize("make", [MadeStates, MadeSymbols, MadeChains, MadeDynamics])
def test_a_page_without_data(make):
    assert "series" not in gather_sequence_facts(make())


def test_a_page_of_much_data_stays_below_a_megabyte():
    model = MadeStates(8, 6)
    rows = np.random.default_rng(0).normal(size=(90_000, 6))
    facts = gather_sequence_facts(model, data=rows, lengths=[3_000] * 30)
    assert len(render(facts)) < 1_000_000
    assert facts["series"]["left_out"] == 6
    many = gather_sequence_facts(MadeStates(150), data=rows[:8_000, :2])
    assert len(render(many)) < 1_000_000
    assert many["chains"][0]["left_out"] == 50
    assert json.dumps(many, allow_nan=False)


def test_lengths_that_do_not_add_up():
    with pytest.raises(ValueError, match="lengths add up to 9, and there are 10 time points"):
        Shown.first(np.zeros((10, 2)), [4, 5], None, None)


def test_a_chain_of_one_state():
    model = MadeStates(1)
    assert sticky(1) == pytest.approx(1.0)
    facts = gather_sequence_facts(model, data=np.zeros((5, 2)))
    assert facts["chains"][0]["order"] == [0]

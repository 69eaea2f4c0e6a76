"""Fits that are killed, interrupted and resumed, in this process and in others."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.cli.helpers import run, start
from tests.kinds import WITH_COMPONENTS

import ssvi
from ssvi.cli import main
from ssvi.cli.training import TrainingDisplay


def _arguments(name, source, folder, model):
    """Return the options of a fit of some seconds that is killed or stopped on its way."""
    arguments = ["fit", name, source, "-k", 4, "-o", model, "--passes", 20, "--batch-size", 20, "--jobs", 1]
    return [*arguments, "--checkpoint", folder, "--every", 10, "--quiet"]


def _wait_for_a_checkpoint(folder, has_ended):
    deadline = time.monotonic() + 120
    while not (folder.is_dir() and any(name.endswith(".ssvi") for name in os.listdir(folder))):
        assert not has_ended()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("name", sorted(WITH_COMPONENTS))
def test_a_killed_fit_goes_on_to_the_same_model(name, counts, tmp_path):
    """Killed by a signal that no process can catch. (`python -m benchmarks.kills` does it many times.)"""
    whole, model, folder = tmp_path / "whole.ssvi", tmp_path / "model.ssvi", tmp_path / "checkpoints"
    process = start(*_arguments(name, counts, folder, model))
    _wait_for_a_checkpoint(folder, lambda: process.exitcode is not None)
    process.kill()
    process.join()
    run(*_arguments(name, counts, tmp_path / "unused", whole))
    if not model.exists():
        assert run(*_arguments(name, counts, folder, model), "--resume").exit_code == 0
    expected, found = ssvi.load(whole), ssvi.load(model)
    for block, lam in expected._state.parameters.items():
        np.testing.assert_array_equal(found._state.parameters[block], lam)


def test_an_interrupted_fit_saves_itself_and_says_how_to_go_on(counts, tmp_path, refused):
    whole, model, folder = tmp_path / "whole.ssvi", tmp_path / "model.ssvi", tmp_path / "checkpoints"
    command = [sys.executable, "-m", "ssvi.cli", *map(str, _arguments("lda", counts, folder, model)), "--passes", "50"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    _wait_for_a_checkpoint(folder, lambda: process.poll() is not None)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "saved in" in said
    assert "--resume goes on" in said
    arguments = [*_arguments("lda", counts, folder, model), "--passes", 50]
    assert "holds checkpoints of a fit that was not finished" in refused(*arguments)
    assert "with other max_iter" in refused(*_arguments("lda", counts, folder, model), "--resume")
    assert run(*arguments, "--resume").exit_code == 0
    run(*_arguments("lda", counts, tmp_path / "unused", whole), "--passes", 50)
    np.testing.assert_array_equal(ssvi.load(model).components_, ssvi.load(whole).components_)
    assert os.listdir(folder) == []


@pytest.mark.parametrize("step", [7, 22])
def test_an_interrupt_at_any_step_leaves_something_to_go_on_from(counts, tmp_path, monkeypatch, capsys, step):
    """In the loop, and in a factorisation's polish, which comes after it and has no checkpoints of its own."""
    shown, folder, model = TrainingDisplay.__call__, tmp_path / "checkpoints", tmp_path / "model.ssvi"

    def interrupted(self, state, info):
        if info.step == step:
            signal.raise_signal(signal.SIGINT)
        return shown(self, state, info)

    command = ["ssvi", "fit", "gamma_process_nmf", counts, "-k", 3, "--passes", 20, "--output", model, "--jobs", 1,
               "--quiet", "--set", "tol=0"]  # fmt: skip
    monkeypatch.setattr(sys, "argv", [*map(str, command)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    whole = ssvi.load(model)
    assert whole.n_batch_iter_ == 30
    model.unlink()
    monkeypatch.setattr(sys, "argv", [*map(str, command), "--checkpoint", str(folder)])
    with monkeypatch.context() as patch:
        patch.setattr(TrainingDisplay, "__call__", interrupted)
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 130
    assert f"stopped after step {min(step, 20)} and saved" in capsys.readouterr().err
    assert not model.exists()
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--resume"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    np.testing.assert_array_equal(ssvi.load(model).components_, whole.components_)


def test_a_fit_that_is_stopped_does_not_take_the_place_of_a_whole_one(counts, tmp_path, monkeypatch, capsys):
    model = tmp_path / "model.ssvi"
    command = ["ssvi", "fit", "lda", str(counts), "-k", "2", "--passes", "4", "-o", str(model), "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit):
        main()
    before = model.read_bytes()
    monkeypatch.setattr(TrainingDisplay, "__call__", lambda self, state, info: self.stop() or True)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    said = capsys.readouterr()
    assert "stopped-model.ssvi: lda" in said.out
    assert f"stopped early, before the fit was done: {tmp_path / 'stopped-model.ssvi'} is half-fitted" in said.err
    assert model.read_bytes() == before
    assert ssvi.load(tmp_path / "stopped-model.ssvi").n_batch_iter_ == 1


def test_a_fit_that_is_stopped_is_not_called_settled(counts, tmp_path, monkeypatch, capsys):
    model, shown = tmp_path / "model.ssvi", TrainingDisplay.__call__

    def interrupted(self, state, info):
        if len(self._estimator.scores_) == 7:
            signal.raise_signal(signal.SIGINT)
        return shown(self, state, info)

    command = ["ssvi", "fit", "bernoulli_mixture", str(counts), "-k", "2", "--passes", "60", "-o", str(model)]
    monkeypatch.setattr(TrainingDisplay, "__call__", interrupted)
    for more in ([], ["--early-stopping", "--set", "n_iter_no_change=50"]):
        model.unlink(missing_ok=True)
        monkeypatch.setattr(sys, "argv", [*command, "--jobs", "1", *more])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 130
        said = capsys.readouterr().out
        assert "; stopped after pass 7 of 60, too early to tell what more would gain: the same command begins" in said
        assert "--passes" not in said
        assert "settled" not in said
    model.unlink()
    monkeypatch.setattr(sys, "argv", [*command, "--jobs", "1", "--json"])
    with pytest.raises(SystemExit):
        main()
    facts = json.loads(capsys.readouterr().out)["trend"]
    assert (facts["direction"], facts["stopped_after"], facts["passes_asked"]) == ("unknown", 7, 60)
    assert json.loads(run("info", model, "--json").stdout)["score_is"] == "unknown"

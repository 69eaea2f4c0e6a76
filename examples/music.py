"""The sounds in a recording: factorise its spectrogram, draw the components and write each one as a sound file.

pip install 'ssvi[audio,plots]'
python examples/music.py recording.ogg --output results/music
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from scipy import signal

from ssvi import GammaProcessNMF


def spectrogram(samples: Any, rate: int, window: int) -> tuple[signal.ShortTimeFFT, Any]:
    """Return the transform and the complex spectrogram, frequencies x frames."""
    transform = signal.ShortTimeFFT(signal.windows.hann(window, sym=False), hop=window // 2, fs=rate)
    return transform, transform.stft(samples)


def read(path: Path, seconds: float | None) -> tuple[Any, int]:
    """Return a recording's samples, its channels averaged, and its rate."""
    try:
        import soundfile
    except ImportError:
        raise SystemExit("reading sound files takes soundfile: pip install 'ssvi[audio]'.") from None
    try:
        rate = soundfile.info(path).samplerate
        frames = -1 if seconds is None else int(seconds * rate)
        samples, rate = soundfile.read(path, frames=frames, always_2d=True)
    except (OSError, soundfile.LibsndfileError) as error:
        raise SystemExit(f"{path} cannot be read as a sound file: {error}") from None
    return samples.mean(axis=1), rate


def write_components(transform: signal.ShortTimeFFT, complex_values: Any, parts: Any, folder: Path, rate: int) -> None:
    """Write each component as a sound: the recording, filtered by the component's share of every entry."""
    import soundfile

    total = sum(parts)
    for number, part in enumerate(parts, 1):
        sound = transform.istft(complex_values * (part / np.maximum(total, 1e-12)).T)
        soundfile.write(folder / f"component-{number:02}.wav", np.clip(sound.real, -1.0, 1.0), rate)


def draw(magnitudes: Any, model: GammaProcessNMF, activations: Any, order: Any, hertz: Any, path: Path) -> None:
    """Draw the spectrogram, the dictionary and the activations."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 7), layout="constrained")
    halves: Any = figure.subfigures(2, 1)
    above, below = halves
    axes = above.subplots()
    level = 20 * np.log10(np.maximum(magnitudes.T, 1e-3) / magnitudes.max())
    extent = (0.0, float(len(magnitudes)), 0.0, hertz[-1] / 1e3)
    axes.imshow(level, origin="lower", aspect="auto", cmap="magma", vmin=-70, extent=extent)
    axes.set(title="spectrogram, dB", xlabel="frame", ylabel="kHz")
    left, right = below.subplots(1, 2)
    spectra = model.components_[order]
    spectra = 20 * np.log10(np.maximum(spectra / spectra.max(axis=1, keepdims=True), 1e-4))
    extent = (0.5, len(order) + 0.5, 0.0, hertz[-1] / 1e3)
    left.imshow(spectra.T, origin="lower", aspect="auto", cmap="magma", vmin=-60, extent=extent)
    left.set(title="components, dB, the strongest first", xlabel="component", ylabel="kHz")
    share = activations[:, order] / activations[:, order].max(axis=0)
    right.imshow(share.T, aspect="auto", cmap="magma", interpolation="nearest")
    right.set(title="activations", xlabel="frame", ylabel="component")
    figure.savefig(path, dpi=130)


def main(arguments: list[str] | None = None) -> None:
    """Factorise a recording."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", type=Path, help="a sound file")
    parser.add_argument("--components", type=int, default=50, help="the most components there can be")
    parser.add_argument("--window", type=int, default=1024, help="samples in a window of the spectrogram")
    parser.add_argument("--quantum", type=float, default=60.0, help="dB from the loudest entry down to one count")
    parser.add_argument("--passes", type=int, default=100, help="passes over the frames")
    parser.add_argument("--seconds", type=float, help="how much of the recording to take (by default all)")
    parser.add_argument("--output", type=Path, default=Path("results/music"), help="folder for figure and sounds")
    options = parser.parse_args(arguments)
    samples, rate = read(options.recording, options.seconds)
    transform, complex_values = spectrogram(samples, rate, options.window)
    magnitudes = np.abs(complex_values).T
    if not magnitudes.max() > 0:
        raise SystemExit(f"{options.recording} is silent: there is nothing to factorise.")
    counts = np.round(magnitudes / (magnitudes.max() * 10 ** (-options.quantum / 20)))
    print(f"{counts.shape[0]} frames, {counts.shape[1]} frequencies, mean count {counts.mean():.2f}")
    # Every step over all frames: minibatches find fewer sounds in the time.
    model = GammaProcessNMF(
        options.components, learning_method="batch", max_iter=options.passes, n_jobs=-1, random_state=0
    ).fit(counts)
    activations = model.transform(counts)
    power = activations.sum(axis=0) * model.components_.sum(axis=1)
    order = np.argsort(-power)[: model.n_active_]
    print(f"{model.n_active_} of {options.components} components in use; their shares of the total:")
    print("  " + " ".join(f"{share:.1%}" for share in power[order] / power.sum()))
    options.output.mkdir(parents=True, exist_ok=True)
    draw(magnitudes, model, activations, order, transform.f, options.output / "components.png")
    parts = [np.outer(activations[:, k], model.components_[k]) for k in order]
    write_components(transform, complex_values, parts, options.output, rate)
    print(f"figure and {len(parts)} sounds: {options.output}")


if __name__ == "__main__":
    main()

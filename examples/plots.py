"""Pictures of three models, of data that is on every machine: docstrings, scikit-learn's digits, a made-up melody.

pip install 'ssvi[plots]'
python examples/plots.py --output results/plots
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

from ssvi import BernoulliMixture, GammaProcessNMF, LatentDirichletAllocation, plots
from ssvi.data.docstrings import default_folders, docstring_corpus, python_files


def draw_topics(files: int, topics: int) -> dict[str, Any]:
    """Fit topics to the docstrings of some files; return pictures of them."""
    texts = docstring_corpus(python_files(default_folders(), files))
    vectorizer = CountVectorizer(stop_words="english", min_df=5, max_df=0.2, token_pattern="[a-z]{3,}")
    train, test = train_test_split(vectorizer.fit_transform(texts), test_size=0.1, random_state=0)
    print(f"{train.shape[0]:,} docstrings over {train.shape[1]:,} words")
    ours = LatentDirichletAllocation(topics, random_state=0).fit(train, X_val=test)
    plain = LatentDirichletAllocation(topics, random_state=0, global_step="mean_field", local_step="mean_field")
    plain.fit(train, X_val=test)
    words = vectorizer.get_feature_names_out()
    return {
        "topics": plots.plot_topics(ours, names=words, relevance=0.6, components=8)[0],
        "map": plots.plot_map(ours, names=words),
        "similarity": plots.plot_similarity(ours),
        "training": plots.plot_training({"SSVI": ours, "mean-field": plain}),
    }


def draw_digits(passes: int) -> dict[str, Any]:
    """Fit prototypes to images of digits; return a picture of them."""
    images = load_digits().data > 7
    mixture = BernoulliMixture(60, weight_concentration_prior=5.0, max_iter=passes, random_state=0).fit(images)
    return {"prototypes": plots.plot_prototypes(mixture)[0]}


def draw_melody(passes: int) -> dict[str, Any]:
    """Fit spectra to counts of four notes that are struck one after the other; return pictures of them."""
    rng, frequency, time = np.random.default_rng(0), np.arange(120), np.arange(300)
    notes = [
        sum(np.exp(-0.5 * ((frequency - pitch * harmonic) / 1.3) ** 2) / harmonic for harmonic in range(1, 5))
        for pitch in (18.0, 23.5, 30.0, 37.0)
    ]
    # Each note sounds again after 120 frames, and fades.
    strengths = [20.0 * np.exp(-((time - start) % 120) / 18.0) for start in (0, 30, 60, 90)]
    counts = rng.poisson(np.stack(strengths, axis=1) @ np.array(notes))
    model = GammaProcessNMF(20, max_iter=passes, random_state=0).fit(counts)
    labels = ("frequency", "frame")
    return {
        "spectra": plots.plot_spectra(model, counts, labels=labels)[0],
        "dictionary": plots.plot_spectra(model, counts, kind="heat", decibels=40, labels=labels)[0],
    }


def main(arguments: list[str] | None = None) -> None:
    """Fit three models and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2_500, help="Python files whose docstrings are read")
    parser.add_argument("--topics", type=int, default=20, help="how many topics to find in them")
    parser.add_argument("--passes", type=int, default=200, help="passes over the digits, and over the melody")
    parser.add_argument("--dpi", type=int, default=130, help="how fine the pictures are")
    parser.add_argument("--output", type=Path, default=Path("results/plots"), help="folder for the pictures")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    pictures = draw_topics(options.files, options.topics)
    pictures |= draw_digits(options.passes) | draw_melody(options.passes)
    for name, ax in pictures.items():
        ax.figure.savefig(options.output / f"{name}.png", dpi=options.dpi)
    print(f"{', '.join(pictures)}: {options.output}")


if __name__ == "__main__":
    main()

"""Pictures of fitted models, by matplotlib (the `plots` extra).

Each function takes a fitted estimator (`plot_choice`: what `ssvi.choosing` found), draws into given Axes or a new
figure, and returns the Axes. None shows a window, changes matplotlib's settings or writes a file:
`ax.figure.savefig(path)` does.
"""

from ssvi.plots.choosing import plot_choice
from ssvi.plots.forecasts import plot_forecast
from ssvi.plots.maps import plot_map, plot_similarity
from ssvi.plots.multilevel import plot_coefficients, plot_group_effects
from ssvi.plots.prototypes import plot_prototypes
from ssvi.plots.spectra import plot_spectra
from ssvi.plots.states import plot_emissions, plot_paths
from ssvi.plots.together import plot_correlations, plot_topic_graph
from ssvi.plots.topics import plot_topics
from ssvi.plots.training import plot_training
from ssvi.plots.transitions import plot_transitions
from ssvi.plots.trends import plot_trends

__all__ = [
    "plot_choice", "plot_coefficients", "plot_correlations", "plot_emissions", "plot_forecast", "plot_group_effects",
    "plot_map", "plot_paths", "plot_prototypes", "plot_similarity", "plot_spectra", "plot_topic_graph", "plot_topics",
    "plot_training", "plot_transitions", "plot_trends",
]  # fmt: skip

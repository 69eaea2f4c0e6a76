"""Programs of gene expression: factorise single-cell counts and compare the components with known cell types.

python examples/cells.py ../shared/data/pbmc
python examples/cells.py cells.h5ad --types cell_type        (pip install 'ssvi[cells]')
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ssvi import GammaProcessNMF


def read(path: Path, types: str) -> tuple[Any, Any, Any]:
    """Return counts (cells x genes), the genes' names and the cells' types, from an .h5ad file or the PBMC folder."""
    if path.suffix == ".h5ad":
        try:
            import anndata
        except ImportError:
            raise SystemExit("reading .h5ad files takes anndata: pip install 'ssvi[cells]'.") from None
        data = anndata.read_h5ad(path)
        if types not in data.obs:
            raise SystemExit(f"{path} has no column {types!r} for its cells; it has {', '.join(data.obs)}.")
        return sparse.csr_array(data.X), np.array(data.var_names), np.array(data.obs[types].astype(str))
    for name in ("pbmc_facs_counts.npz", "pbmc_facs_genes.csv", "pbmc_facs_samples.csv"):
        if not (path / name).exists():
            raise SystemExit(f"there is no {path / name}: give the PBMC folder, or an .h5ad file.")
    counts = sparse.csr_array(sparse.load_npz(path / "pbmc_facs_counts.npz"))
    genes, cells = (
        _column(path / f"pbmc_facs_{what}.csv", name) for what, name in (("genes", "symbol"), ("samples", types))
    )
    return counts, genes, cells


def _column(path: Path, name: str) -> Any:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    if name not in rows[0]:
        raise SystemExit(f"{path} has no column {name!r}; it has {', '.join(rows[0])}.")
    return np.array([row[name] for row in rows])


def draw(shares: Any, names: list[str], headings: list[str], path: Path) -> None:
    """Draw the mean share of each component in the counts of each type's cells."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(0.35 * len(headings) + 3, 0.35 * len(names) + 2.2), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(shares, cmap="magma_r", vmin=0.0, aspect="auto")
    figure.colorbar(image, ax=axes, label="mean share of a cell's counts")
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(range(len(headings)), headings, rotation=60, ha="right", fontsize="small")
    figure.savefig(path, dpi=130)


def main(arguments: list[str] | None = None) -> Any:
    """Factorise the counts of cells; return the mean share of each component in each type."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the PBMC folder, or an .h5ad file with raw counts")
    parser.add_argument("--types", default="celltype", help="the column with the cells' types")
    parser.add_argument("--components", type=int, default=30, help="the most components there can be")
    parser.add_argument("--passes", type=int, default=30, help="passes over the cells")
    parser.add_argument("--output", type=Path, default=Path("results/cells"), help="folder for the figure")
    options = parser.parse_args(arguments)
    counts, genes, types = read(options.data, options.types)
    seen = np.asarray(counts.sum(axis=0)).ravel() >= 20  # a gene of fewer counts says nothing, and there are many
    counts, genes = counts[:, seen], genes[seen]
    print(f"{counts.shape[0]} cells, {counts.shape[1]} genes, {int(counts.sum())} counts")
    model = GammaProcessNMF(options.components, max_iter=options.passes, n_jobs=-1, random_state=0).fit(counts)
    parts = model.transform(counts) * model.components_.sum(axis=1)  # expected counts by cell and component
    shares = parts / parts.sum(axis=1, keepdims=True)
    return report(model, shares, genes, types, options.output)


def report(model: GammaProcessNMF, shares: Any, genes: Any, types: Any, output: Path) -> Any:
    """Print how components and types go together, and draw it; return the table."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_mutual_info_score

    order = np.argsort(-shares.mean(axis=0))[: model.n_active_]
    names = sorted(set(types))
    table = np.array([shares[types == name][:, order].mean(axis=0) for name in names])
    usual = shares.mean(axis=0) @ (model.components_ / model.components_.sum(axis=1, keepdims=True))
    headings = []
    print(f"{model.n_active_} components in use")
    for place, component in enumerate(order):
        spectrum = model.components_[component] / model.components_[component].sum()
        # Genes that the component has much of, and more than others have.
        top = genes[np.argsort(-spectrum * np.log((spectrum + 1e-12) / (usual + 1e-12)))[:6]]
        most = names[int(table[:, place].argmax())]
        print(f"  {shares[:, component].mean():6.1%}  most in {most:18}  {' '.join(top)}")
        headings.append(f"{place + 1}: {top[0]}")
    clusters = KMeans(len(names), n_init=10, random_state=0).fit_predict(np.sqrt(shares[:, order]))
    agreement = adjusted_mutual_info_score(types, clusters)
    print(f"adjusted mutual information of types and k-means clusters of the shares: {agreement:.3f}")
    output.mkdir(parents=True, exist_ok=True)
    draw(table, names, headings, output / "components.png")
    print(f"figure: {output / 'components.png'}")
    return table


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What run_opsplit.py measures logic files against in NumPy and SciPy; peer_opsplit.c says how it is called and what it
prints. Linear algebra has as many threads as OMP_NUM_THREADS says; SciPy's sparse product has one."""

import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "build" / "python"))
os.environ["OPENBLAS_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", str(os.cpu_count()))

import numpy  # noqa: E402: after its threads


def k_means(path, columns, k, rounds):
    """Squared distances by a matrix product, but for what is the same for all centroids."""
    points = numpy.fromfile(path).reshape(-1, columns)
    start, used = time.monotonic(), time.process_time()
    across = numpy.ascontiguousarray(points.T)
    centroids = points[:k].copy()
    begin = time.monotonic()
    for _ in range(rounds):
        distances = points @ (-2 * centroids.T)
        distances += (centroids * centroids).sum(axis=1)
        cluster = distances.argmin(axis=1)
        sizes = numpy.bincount(cluster, minlength=k)
        sums = numpy.stack([numpy.bincount(cluster, weights=column, minlength=k) for column in across], axis=1)
        centroids = numpy.where(sizes[:, None] > 0, sums / numpy.maximum(sizes, 1)[:, None], centroids)
    end, used = time.monotonic(), time.process_time() - used
    return {"seconds": end - start, "round_seconds": (end - begin) / rounds, "processor_seconds": used,
            "answer": centroids.ravel().tolist()}


def pagerank(path, rounds):
    import scipy.sparse
    edges = numpy.fromfile(path, dtype=numpy.int64).reshape(-1, 2)
    start, used = time.monotonic(), time.process_time()
    node, numbers = numpy.unique(edges, return_inverse=True)
    a, b, n = *numbers.reshape(-1, 2).T, len(node)
    link = scipy.sparse.csr_matrix((numpy.ones(2 * len(a)), (numpy.concatenate([a, b]), numpy.concatenate([b, a]))),
                                   shape=(n, n))
    degree, rank = numpy.asarray(link.sum(axis=1)).ravel(), numpy.full(n, 1 / n)
    begin = time.monotonic()
    for _ in range(rounds):
        following = 0.15 / n + 0.85 * (link @ (rank / degree))
        residual = numpy.abs(following - rank).sum()
        rank = following
    end, used = time.monotonic(), time.process_time() - used
    return {"seconds": end - start, "round_seconds": (end - begin) / rounds, "processor_seconds": used,
            "answer": [float(rank @ rank)], "residual": float(residual)}


def main():
    work = {"k-means": k_means, "pagerank": pagerank}[sys.argv[1]]
    print(json.dumps(work(sys.argv[2], *map(int, sys.argv[3:]))))


main()

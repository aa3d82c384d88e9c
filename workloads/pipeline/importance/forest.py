"""The program that spark-submit runs: fits a random forest to genotypes, and ranks the variants.

It writes its result as JSON: `application`, the positions of the most important `variants`, and what the
application's YARN containers used (`core_s`, `peak_kib`), read just before they end.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from pyspark.ml.classification import RandomForestClassifier
from pyspark.sql import SparkSession

from density_study.workloads.pipeline.importance.containers import use_of

DEPTH = 5
VARIANTS_PER_SPLIT = "onethird"
"""For the variants, drawn anew at each split: enough for every tree to meet a planted one near its root."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("matrix", help="URI of genotypes in libsvm's format")
    parser.add_argument("--variants", type=int, required=True)
    parser.add_argument("--trees", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--top", type=int, required=True, help="how many variants to name")
    parser.add_argument("--result", type=Path, required=True)
    given = parser.parse_args()

    spark = SparkSession.builder.getOrCreate()
    context = spark.sparkContext
    rows = spark.read.format("libsvm").option("numFeatures", str(given.variants)).load(given.matrix)
    forest = RandomForestClassifier(
        numTrees=given.trees,
        maxDepth=DEPTH,
        featureSubsetStrategy=VARIANTS_PER_SPLIT,
        seed=given.seed,
    )
    # the file is one block, which would make one task at a time
    fitted = forest.fit(rows.repartition(context.defaultParallelism).cache())
    importances = fitted.featureImportances.toArray()
    result = {
        "application": context.applicationId,
        "variants": [int(at) for at in (-importances).argsort()[: given.top]],
        **asdict(use_of(context.applicationId)),
    }
    given.result.write_text(json.dumps(result), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main()

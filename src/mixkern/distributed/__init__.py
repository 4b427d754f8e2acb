"""The same fit and predict over the partitions of a Dask collection.

``VBMixture``, ``MixtureSVC``, ``MixtureSVR``, ``MixtureOneClassSVM`` and ``TableEncoder`` take Dask DataFrames and
Arrays where they take frames and arrays; this package is what they then use. It needs the extra ``dask``:
``pip install "mixkern[dask]"``.
"""

from mixkern.distributed.parquet import ParquetTable, parquet_table, write_assessed
from mixkern.distributed.scheduling import listening

__all__ = ["ParquetTable", "listening", "parquet_table", "write_assessed"]

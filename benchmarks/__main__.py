"""Run every benchmark."""

from benchmarks import density, kernel, laplacian, table

for each in (table, density, kernel, laplacian):
    each.run()

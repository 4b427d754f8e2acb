"""Run every benchmark."""

from benchmarks import density, kernel, laplacian, predict, search, table

# The kernel first: it measures memory, of which the others leave their mark on the process.
for each in (kernel, table, density, laplacian, search, predict):
    each.run()

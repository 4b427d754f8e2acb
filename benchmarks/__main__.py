"""Run every benchmark."""

from benchmarks import density, kernel, laplacian, table

# The kernel first: it measures memory, of which the others leave their mark on the process.
for each in (kernel, table, density, laplacian):
    each.run()

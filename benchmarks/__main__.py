"""Run every benchmark."""

from benchmarks import density, kernel, table

for each in (table, density, kernel):
    each.run()

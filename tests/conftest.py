"""What every test may rely on."""

import matplotlib as mpl

mpl.use("Agg")  # no window, wherever the tests run

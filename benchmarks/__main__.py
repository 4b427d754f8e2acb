"""Run benchmarks: `python -m benchmarks [--tiny] [NAME ...]`; without names, all that measure speed."""

import argparse
from importlib import import_module

# The kernel first: it measures the memory of the process, which the others raise.
SPEED = (
    "kernel",
    "kernel_call",
    "table",
    "density",
    "laplacian",
    "search",
    "learned",
    "predict",
    "classes",
    "labelling",
    "onnx",
    "serving",
)
SCALE = ("scale",)  # takes minutes and 1.7 GB of disk
GPU = ("gpu",)  # needs one
ACCURACY = ("evidence", "figures", "label_choice", "class_scheme", "many_labels")  # take minutes


def main() -> None:
    """Run the benchmarks that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed, as ratios against a peer.")
    parser.add_argument("name", nargs="*", help=f"one of {', '.join(SPEED + SCALE + GPU + ACCURACY)}")
    parser.add_argument("--tiny", action="store_true", help="run at a tiny size, to see that everything works")
    options = parser.parse_args()
    if unknown := set(options.name) - {*SPEED, *SCALE, *GPU, *ACCURACY}:
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}")
    for name in options.name or (SPEED + SCALE + GPU + ACCURACY if options.tiny else SPEED):
        import_module(f"benchmarks.{name}").run(tiny=options.tiny)


if __name__ == "__main__":
    main()

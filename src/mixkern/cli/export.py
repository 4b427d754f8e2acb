"""``mixkern export``: write a model as an ONNX file, which other programs run."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from mixkern.cli.option import check_output
from mixkern.cli.output import print_result, print_wide, printable, text_table
from mixkern.errors import ExportError, MixkernError, hint
from mixkern.export import OnnxModel, onnx_path
from mixkern.io import ModelFile, read_model
from mixkern.io.model import file_sha256
from mixkern.wording import counted

SHOWN = 40  # inputs that are printed; --json has all


def export_command(model: str, output: str | None, dtype: str, as_json: bool) -> None:
    """Write a model as an ONNX file, and print its inputs and outputs."""
    path = onnx_path(Path(model).with_suffix(".onnx") if output is None else output)
    check_output(path, model)
    file = read_model(model)
    origin = _origin(file, Path(model))
    exported = _exported(file.model, model, dtype, origin)
    try:
        exported.write(path)
    except OSError as error:
        raise MixkernError(f"{path.name} cannot be written: {error.strerror or error}.") from error
    result = {
        "model": Path(model).name,
        "export": str(path),
        "bytes": path.stat().st_size,
        "dtype": dtype,
        **origin,
        "inputs": [asdict(each) for each in exported.inputs],
        "outputs": [asdict(each) for each in exported.outputs],
    }
    print_result(result, [], lambda: _show(result), as_json=as_json)


def _origin(file: ModelFile, path: Path) -> dict[str, str]:
    """Return by which facts an export can be traced to its model file."""
    target = file.notes.get("target")
    found = {"model_sha256": file_sha256(path), "model_created": file.created}
    return found | ({"target": target} if isinstance(target, str) else {})


def _exported(estimator: Any, name: str, dtype: str, origin: dict[str, str]) -> OnnxModel:
    if not hasattr(estimator, "onnx_model"):
        raise ExportError(
            f"{Path(name).name} has no decision function: only models that predict labels or numbers can be exported.",
            hint=hint(cli="Fit one: mixkern fit TABLE --target COLUMN."),
        )
    exported: OnnxModel = estimator.onnx_model(dtype=dtype, metadata=origin)
    return exported


def _show(result: dict[str, Any]) -> None:
    inputs = result["inputs"]
    rows = [[each["name"], each["dtype"], each["holds"], each["gap"]] for each in inputs[:SHOWN]]
    title = counted(len(inputs), "input") + (f", the first {SHOWN}" if len(inputs) > SHOWN else "")
    print_wide(title, text_table(["input", "type", "holds", "gap"], rows))
    rows = [[each["name"], each["dtype"], each["shape"], each["holds"]] for each in result["outputs"]]
    print_wide("Outputs", text_table(["output", "type", "shape", "holds"], rows))
    click.echo(printable(f"ONNX model: {result['export']}"))
    click.echo("Run it with any ONNX runtime, such as onnxruntime: give each input as an array of shape (N, 1).")

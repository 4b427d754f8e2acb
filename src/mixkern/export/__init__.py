"""Write fitted estimators in formats that other programs run: ONNX."""

from mixkern.defaults import DType
from mixkern.export.model import ModelOutput, OnnxModel, Predicted, Predictor, onnx_model, onnx_path
from mixkern.export.table_input import ModelInput

__all__ = ["DType", "ModelInput", "ModelOutput", "OnnxModel", "Predicted", "Predictor", "onnx_model", "onnx_path"]

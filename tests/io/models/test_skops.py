"""skops.io itself works on the estimators, with the types that it lists as untrusted."""

import pytest
import skops.io

from .example import answers, assert_same, numbers, table

SLOW = ("laplacian", "transductive", "s3vc", "svr", "oneclass")
NAMES = ["svc", "encoder", "density", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]


@pytest.mark.parametrize("name", NAMES)
def test_dumps_and_loads(name, models):
    model = models[name]
    content = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=content)
    assert types
    assert all(each.startswith(("mixkern.", "sklearn.", "numpy.")) for each in types), types
    X = numbers() if name == "density" else table()
    assert_same(answers(skops.io.loads(content, trusted=types), X), answers(model, X))

"""Pipelines as modules of PyTorch. The interface is `Module`; calls of pipelines with tensors need no module."""

from __future__ import annotations

from typing import Any, Dict, Union

import torch

from ._c._fields import PARAM
from ._frameworks import _torch  # noqa: F401: registers the operator, which torch.export.load asks for
from ._pipeline import Path, Pipeline, compiled_with_params


class Module(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """A pipeline whose params are parameters that an optimizer can change: `Module("gravity", eps2=0.01)(x, x, m)`.

    pipeline: of nbcc.compile, or what that takes: a path, or the name of a pipeline that nbcc brings along.
    options: of nbcc.compile, if it is called here; and the first values of params, a number, an array or a tensor each.
        The name of a param is the param's; an option of that name is given as `options={"skin": 0.3}`.
    Params without a value here keep their default, or are given by calls.

    A call takes the inputs, by position or name, and the options of a pipeline's call, see `Pipeline.__call__`; its
    results are those of the pipeline. `state_dict()` has the params. Raises TypeError for what is neither a param nor an
    option.
    """

    def __init__(self, pipeline: Union[Pipeline, Path], /, **options: Any) -> None:
        super().__init__()
        params: Dict[str, Any] = {}
        pipeline, options = compiled_with_params("nbcc.torch.Module", pipeline, options)
        self.pipeline = pipeline
        known = {field.name: field for field in pipeline.fields if field.role == PARAM}
        for name, value in options.items():
            if name not in known:
                raise TypeError(
                    f"nbcc.torch.Module: {pipeline.name} has no param {name!r}; it has {', '.join(known) or 'none'}"
                )
            params[name] = value
        for name, value in params.items():
            number = torch.as_tensor(value)
            dtype = torch.get_default_dtype() if not number.is_floating_point() and not number.is_complex() else number.dtype
            is_trained = not known[name].integral
            parameter = torch.nn.Parameter(number.detach().to(dtype if is_trained else number.dtype).clone(), is_trained)
            self.register_parameter(name, parameter)
        self._params = tuple(params)

    def forward(self, *arrays: Any, **keywords: Any) -> Any:
        for name in self._params:
            if name not in keywords:  # a field's name is the field's, also if an option has it
                keywords[name] = self._parameters[name]
        return self.pipeline(*arrays, **keywords)

    def extra_repr(self) -> str:
        return repr(self.pipeline)

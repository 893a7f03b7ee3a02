"""Fields, guards and outputs -> the text of a pipeline, and the line of Python of each of its lines. Entry point:
`Program`."""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple, Union

from ._nodes import Field, Line, Node
from ._text_outputs import Output, result_type
from ._printer import Names, Scope, Statement

Result = Union[Output, Node]  # a node is computed by finish(), of outputs


class Program:
    """text: of the pipeline. lines: for each of its lines the line of Python that it comes from. wanted: the names of the
    outputs that are results, in order; others are read by finish() only."""

    def __init__(
        self,
        fields: Sequence[Field],
        results: Sequence[Tuple[str, Result]],
        guards: Sequence[Tuple[Node, Optional[Line]]] = (),
        line: Optional[Line] = None,
        flops: Optional[int] = None,
    ) -> None:
        names = Names([*(field.name for field in fields), *(name for name, _ in results)])
        computed = [(name, result) for name, result in results if isinstance(result, Node)]
        outputs = _outputs_of(results, names)
        statements = [Statement(field.declaration(), line) for field in fields]
        statements += [Statement(output.declaration(), output.line) for output in outputs]
        statements += [
            Statement(f"output(sum) {result_type(node).format(name=name)};", node.line or line)
            for name, node in computed
        ]
        roots = [node for node, _ in guards]
        for output in outputs:
            roots += [*output.args, *([] if output.condition is None else [output.condition])]
        scope = Scope(roots, names)
        for node, where in guards:
            scope.add(f"skip_if({scope.scalar(node)});", where)
        for output in outputs:
            output.print(scope)
        statements += scope.statements
        if computed:
            statements += _finish(computed, outputs, names, line)
        self.text = "".join(f"{statement.text}\n" for statement in statements)
        self.lines: List[Optional[Line]] = [statement.line for statement in statements]
        self.wanted = [name if isinstance(result, Node) else result.name for name, result in results]


def _outputs_of(results: Sequence[Tuple[str, Result]], names: Names) -> List[Output]:
    """The outputs in the order in which their statements are printed: an argmin before its payloads."""
    found: Dict[int, Output] = {}

    def take(output: Output, name: str) -> None:
        if id(output) in found:
            return
        if output.of is not None:
            take(output.of, "")
        output.name = name or names.new(output.reduction)
        found[id(output)] = output

    seen = set()
    for name, result in results:
        if isinstance(result, Output):
            if id(result) in seen:
                raise ValueError(f"'{name}': this reduction is a result already")
            seen.add(id(result))
    wanted = {id(result): name for name, result in results if isinstance(result, Output)}

    def walk(result: Result) -> None:
        if isinstance(result, Output):
            if result.of is not None:
                walk(result.of)
            take(result, wanted.get(id(result), ""))
            return
        if result.op == "output":
            walk(result.data)
        for arg in result.args:
            walk(arg)

    for _, result in results:
        walk(result)
    return list(found.values())


def _finish(
    computed: Sequence[Tuple[str, Node]], outputs: Sequence[Output], names: Names, line: Optional[Line]
) -> List[Statement]:
    scope = Scope([node for _, node in computed], names, {id(output): output.name for output in outputs})
    for name, node in computed:
        k = scope.index(node.size)
        text = scope.element(node, k)
        if node.is_array:
            scope.loop(node.size, f"{name}[{k}] = {text};", node.line)
        else:
            scope.add(f"{name} = {text};", node.line)
    return [
        Statement("void finish() {", line),
        *(Statement(f"  {statement.text}", statement.line) for statement in scope.statements),
        Statement("}", line),
    ]

// exp(x) -> exp2(x log2(e)), for targets where exp2 is one instruction; the factor is merged with factors that the
// exponent already has. Entry point: binary_exponents().
#include <numbers>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/passes.h"

namespace nbcc {

void binary_exponents(Pipeline& pipeline, const Options& options) {
  const bool wide = options.precision == Precision::Double;
  rewrite(pipeline, [wide](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    if (old.op != Op::Exp || old.type == Type::Double || (wide && old.type == Type::Real))
      return copy_node(target, old, args);
    const NodeId log2e = target.constant(std::numbers::log2e, old.type, old.where);
    return target.unary(Op::Exp2, target.binary(Op::Mul, args[0], log2e, old.where), old.where);
  });
}

}  // namespace nbcc

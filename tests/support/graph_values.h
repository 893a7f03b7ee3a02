// Values of the nodes of a graph, in any arithmetic.
#pragma once
#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/ir/ops.h"

namespace nbcc::test {

using Wide = long double;
using Complex = std::complex<Wide>;

inline Wide real_part(Wide x) { return x; }
inline Wide real_part(double x) { return x; }
inline Wide real_part(const Complex& x) { return x.real(); }
inline Wide real_part(const std::complex<double>& x) { return x.real(); }

template <typename T>
class Values {
 public:
  // `leaves`: of the components of i.
  Values(const Graph& graph, std::vector<T> leaves) : values_(std::size_t(graph.size())) {
    for (NodeId id = 0; id < graph.size(); ++id) values_[std::size_t(id)] = value(graph, id, leaves);
  }
  const T& operator[](NodeId id) const { return values_[std::size_t(id)]; }

 private:
  T value(const Graph& graph, NodeId id, const std::vector<T>& leaves) const {
    const Node& n = graph[id];
    const auto at = [&](int k) { return values_[std::size_t(n.args[std::size_t(k)])]; };
    const auto a = [&] { return at(0); };
    const auto b = [&] { return at(1); };
    const T one = T(1);
    using std::cos, std::cosh, std::exp, std::log, std::pow, std::sin, std::sinh, std::sqrt, std::tan, std::tanh;
    switch (n.op) {
      case Op::Const:
        return T(graph.constant_value(id));
      case Op::InputI:
        return leaves[std::size_t(n.payload)];
      case Op::Neg:
        return -a();
      case Op::Add:
        return a() + b();
      case Op::Sub:
        return a() - b();
      case Op::Mul:
        return a() * b();
      case Op::Div:
        return a() / b();
      case Op::Fma:
        return a() * b() + at(2);
      case Op::Sqrt:
        return sqrt(a());
      case Op::Rsqrt:
        return one / sqrt(a());
      case Op::Exp:
        return exp(a());
      case Op::Exp2:
        return exp(a() * T(std::numbers::ln2_v<Wide>));
      case Op::Log:
        return log(a());
      case Op::Sin:
        return sin(a());
      case Op::Cos:
        return cos(a());
      case Op::Tan:
        return tan(a());
      case Op::Sinh:
        return sinh(a());
      case Op::Cosh:
        return cosh(a());
      case Op::Tanh:
        return tanh(a());
      case Op::Pow:
        return pow(a(), b());
      case Op::Abs:
        return real_part(a()) < 0 ? -a() : a();
      case Op::Min:
        return real_part(a()) < real_part(b()) ? a() : b();
      case Op::Max:
        return real_part(a()) > real_part(b()) ? a() : b();
      case Op::Lt:
        return T(real_part(a()) < real_part(b()) ? 1 : 0);
      case Op::Le:
        return T(real_part(a()) <= real_part(b()) ? 1 : 0);
      case Op::Eq:
        return T(real_part(a()) == real_part(b()) ? 1 : 0);
      case Op::Not:
        return T(real_part(a()) == 0 ? 1 : 0);
      case Op::And:
        return real_part(a()) != 0 && real_part(b()) != 0 ? one : T(0);
      case Op::Or:
        return T(real_part(a()) != 0 || real_part(b()) != 0 ? 1 : 0);
      case Op::Cast:
        return a();
      case Op::Select:
        return real_part(a()) != 0 ? b() : at(2);
      default:
        throw std::runtime_error("no value of " + std::string(name(n.op)));
    }
  }
  std::vector<T> values_;
};

}  // namespace nbcc::test

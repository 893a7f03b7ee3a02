// Interpolation on a box by polynomials through Chebyshev points of the first kind. Tested by
// tests/unit/runtime/far/far_tree_test.cpp.
#pragma once
#include <array>
#include <cmath>
#include <numbers>

namespace nbcc {

// q points on [-1, 1], and their Lagrange polynomials of degree q - 1: each is 1 at its point and 0 at the other
// points. They are combinations of Chebyshev polynomials, so that no value needs a division or a special case at a
// point.
class Chebyshev {
 public:
  static constexpr int kMaxOrder = 14;
  using Values = std::array<double, kMaxOrder>;

  explicit Chebyshev(int order) : order_(order) {
    for (int k = 0; k < order; ++k) {
      const double angle = std::numbers::pi * (k + 0.5) / order;
      points_[std::size_t(k)] = std::cos(angle);
      for (int m = 0; m < order; ++m)
        coefficients_[std::size_t(m)][std::size_t(k)] = (m == 0 ? 1.0 : 2.0) / order * std::cos(m * angle);
    }
  }

  int order() const { return order_; }
  double point(int k) const { return points_[std::size_t(k)]; }
  // The coefficient of Chebyshev polynomial m in the polynomial that is 1 at point k.
  double coefficient(int m, int k) const { return coefficients_[std::size_t(m)][std::size_t(k)]; }

  // The values of all polynomials at x. Beyond [-1, 1] they grow like x^(q - 1).
  template <int order>
  void evaluate(double x, double* values) const {
    double before = 1, now = x;
    for (int k = 0; k < order; ++k) values[k] = coefficients_[0][std::size_t(k)];
    for (int m = 1; m < order; ++m) {
      for (int k = 0; k < order; ++k) values[k] += coefficients_[std::size_t(m)][std::size_t(k)] * now;
      const double next = 2 * x * now - before;
      before = now;
      now = next;
    }
  }

 private:
  int order_;
  std::array<double, kMaxOrder> points_{};
  std::array<std::array<double, kMaxOrder>, kMaxOrder> coefficients_{};  // [Chebyshev polynomial][point]
};

// Calls body.template operator()<order>() for the given order from 1 to Chebyshev::kMaxOrder.
template <int most = Chebyshev::kMaxOrder, typename Body>
void with_order(int order, const Body& body) {
  if constexpr (most == 1) {
    body.template operator()<1>();
  } else {
    if (order == most) return body.template operator()<most>();
    with_order<most - 1>(order, body);
  }
}

}  // namespace nbcc

// Products with a matrix, its diagonal and a right-hand side -> a solution whose residual has been checked. Its main
// function is solve(). It knows nothing of potentials, and runs on one thread: a product takes far longer than a step.
#include "examples/capacitance/gmres.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <stdexcept>

namespace examples {
namespace {

using Numbers = std::vector<double>;
constexpr int kRestart = 50;
constexpr double kRounding = 1e-14;  // a vector shorter than this part of what it was made of is rounding errors

double dot(const Numbers& a, const Numbers& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }
double norm(const Numbers& a) { return std::sqrt(dot(a, a)); }
void add(Numbers& a, double factor, const Numbers& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += factor * b[k];
}
void scale(Numbers& a, double factor) {
  for (double& number : a) number *= factor;
}
Numbers quotient(const Numbers& a, const Numbers& b) {
  Numbers c(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) c[k] = a[k] / b[k];
  return c;
}

// One cycle from the residual r of length `beta`: the least |r - A D^-1 V y| over the Krylov space with the orthonormal
// basis V. Givens rotations keep the projected matrix upper triangular.
class Cycle {
 public:
  Cycle(Numbers r, double beta) : right_{beta} {
    scale(r, 1 / beta);
    basis_.push_back(std::move(r));
  }

  double residual() const { return std::fabs(right_.back()); }  // of the least squares, without a product
  int steps() const { return int(columns_.size()); }

  // Adds one vector to the basis. Returns false if the space cannot grow: it contains the solution, or the matrix is
  // singular.
  bool step(const TimesMatrix& times_a, const Numbers& diagonal) {
    Numbers next(diagonal.size()), column;
    times_a(quotient(basis_.back(), diagonal), next);
    const double nothing = kRounding * norm(next);
    for (const Numbers& v : basis_) {  // modified Gram-Schmidt
      column.push_back(dot(v, next));
      add(next, -column.back(), v);
    }
    const double length = norm(next);
    for (std::size_t k = 0; k < rotations_.size(); ++k) {
      const auto [cosine, sine] = rotations_[k];
      const double upper = cosine * column[k] + sine * column[k + 1];
      column[k + 1] = cosine * column[k + 1] - sine * column[k];
      column[k] = upper;
    }
    const double diagonal_length = std::hypot(column.back(), length);
    if (diagonal_length <= nothing) return false;
    rotations_.push_back({column.back() / diagonal_length, length / diagonal_length});
    column.back() = diagonal_length;
    columns_.push_back(std::move(column));
    const double rest = right_.back();
    right_.back() = rotations_.back()[0] * rest;
    right_.push_back(-rotations_.back()[1] * rest);
    if (length <= nothing) return false;
    scale(next, 1 / length);
    basis_.push_back(std::move(next));
    return true;
  }

  void add_solution(const Numbers& diagonal, Numbers& x) const {
    Numbers y(columns_.size()), sum(x.size());
    for (std::size_t k = columns_.size(); k-- > 0;) {
      y[k] = right_[k];
      for (std::size_t l = k + 1; l < columns_.size(); ++l) y[k] -= columns_[l][k] * y[l];
      y[k] /= columns_[k][k];
      add(sum, y[k], basis_[k]);
    }
    add(x, 1, quotient(sum, diagonal));
  }

 private:
  std::vector<Numbers> basis_, columns_;
  std::vector<std::array<double, 2>> rotations_;
  Numbers right_;
};

[[noreturn]] void fail(double residual, double tolerance, int products) {
  char text[160];
  std::snprintf(text, sizeof text, "GMRES does not converge: residual %.1e after %d products, expected at most %.1e",
                residual, products, tolerance);
  throw std::runtime_error(text);
}

}  // namespace

Solved solve(const TimesMatrix& times_a, const Numbers& diagonal, const Numbers& b, Numbers& x, double tolerance) {
  const double length = norm(b);
  Solved solved{0, 0};
  double last = INFINITY, before = INFINITY;
  while (true) {
    Numbers r(b), product(b.size());
    times_a(x, product);
    ++solved.products;
    add(r, -1, product);
    const double beta = norm(r);
    solved.residual = length > 0 ? beta / length : beta;
    if (solved.residual <= tolerance) return solved;
    if (!(solved.residual < 0.5 * before)) fail(solved.residual, tolerance, solved.products);
    before = last;
    last = solved.residual;
    Cycle cycle(std::move(r), beta);
    while (cycle.steps() < kRestart && cycle.residual() > tolerance * length) {
      ++solved.products;
      if (!cycle.step(times_a, diagonal)) break;
    }
    cycle.add_solution(diagonal, x);
  }
}

}  // namespace examples

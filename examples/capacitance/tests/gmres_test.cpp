// GMRES, by small matrices whose solutions are known.
#include "examples/capacitance/gmres.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <stdexcept>

namespace examples {
namespace {

using Values = std::vector<double>;

double norm_of(const Values& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

// Diagonal `d`, -1 above and -1 - `lean` below it: not symmetric unless `lean` is 0.
TimesMatrix three_diagonals(Values d, double lean) {
  return [d = std::move(d), lean](const Values& x, Values& product) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      product[k] = d[k] * x[k];
      if (k + 1 < x.size()) product[k] -= x[k + 1];
      if (k > 0) product[k] -= (1 + lean) * x[k - 1];
    }
  };
}

// Returns what solve() says, after its x has been compared with the solution from which b was made.
Solved expect_solution(const TimesMatrix& times_a, const Values& diagonal, double tolerance, double error_bound) {
  Values wanted(diagonal.size()), b(wanted.size()), x(wanted.size(), 0.1);
  for (std::size_t k = 0; k < wanted.size(); ++k) wanted[k] = std::sin(double(k));
  times_a(wanted, b);
  const Solved solved = solve(times_a, diagonal, b, x, tolerance);
  EXPECT_LE(solved.residual, tolerance);
  Values product(x.size());
  times_a(x, product);
  for (std::size_t k = 0; k < x.size(); ++k) {
    product[k] -= b[k];
    x[k] -= wanted[k];
  }
  EXPECT_NEAR(norm_of(product) / norm_of(b), solved.residual, 1e-14) << "the residual is that of the x returned";
  EXPECT_LE(norm_of(x), error_bound * norm_of(wanted));
  return solved;
}

TEST(Gmres, AMatrixThatIsNotSymmetric) {
  Values diagonal(300);
  for (std::size_t k = 0; k < diagonal.size(); ++k) diagonal[k] = 4 + double(k % 7);
  // Each row of D^-1 A differs from 1 by at most 3/4 off the diagonal: its condition is at most (7/4) / (1/4) = 7.
  const Solved solved = expect_solution(three_diagonals(diagonal, 1), diagonal, 1e-10, 7 * 11e-10);
  EXPECT_LT(solved.products, 50);
}

// The second difference of 100 points needs 100 steps: GMRES(50) restarts, and does not end before it has converged.
TEST(Gmres, ManyRestarts) {
  const Values diagonal(100, 2.02);
  const Solved solved = expect_solution(three_diagonals(diagonal, 0), diagonal, 1e-9, 1e-6);
  EXPECT_GT(solved.products, 52);
}

TEST(Gmres, ADiagonalThatIsTheMatrixIsSolvedInOneStep) {
  Values diagonal(40);
  for (std::size_t k = 0; k < diagonal.size(); ++k) diagonal[k] = std::pow(10.0, double(k) / 4);
  const TimesMatrix times_a = [&](const Values& x, Values& product) {
    for (std::size_t k = 0; k < x.size(); ++k) product[k] = diagonal[k] * x[k];
  };
  EXPECT_EQ(expect_solution(times_a, diagonal, 1e-12, 1.0).products, 3);  // first residual, one step, last residual
}

std::string failure_of(const TimesMatrix& times_a, std::size_t count, double tolerance) {
  Values x(count, 0.0);
  try {
    solve(times_a, Values(count, 1.0), Values(count, 1.0), x, tolerance);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(Gmres, ASingularMatrixIsAnErrorWithTheResidual) {
  const TimesMatrix first_row_only = [](const Values& x, Values& product) {
    product.assign(x.size(), 0.0);
    product[0] = x[0];
  };
  // The least residual lacks one of four equal components.
  EXPECT_THAT(failure_of(first_row_only, 4, 1e-6), testing::StartsWith("GMRES does not converge: residual 8.7e-01 "));
}

// The recurrence's own residual would fall below the tolerance; that of a product with x does not.
TEST(Gmres, ProductsLessAccurateThanTheToleranceAreAnError) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> noise(-1e-4, 1e-4);
  const TimesMatrix times_a = [&](const Values& x, Values& product) {
    for (std::size_t k = 0; k < x.size(); ++k) product[k] = x[k] * (1 + 0.01 * double(k % 5) + noise(random));
  };
  EXPECT_THAT(failure_of(times_a, 200, 1e-8), testing::HasSubstr("expected at most 1.0e-08"));
  EXPECT_EQ(failure_of(times_a, 200, 1e-3), "none");
}

TEST(Gmres, ANumberThatIsNotFiniteIsAnError) {
  const TimesMatrix times_a = [](const Values& x, Values& product) { product.assign(x.size(), NAN); };
  EXPECT_THAT(failure_of(times_a, 3, 1e-3), testing::HasSubstr("residual nan"));
}

}  // namespace
}  // namespace examples

// Kernels and cells that have no periodic sum are refused, with the numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "runtime/error.h"
#include "runtime/far/periodic/periodic_tables.h"
#include "tests/support/periodic_sums.h"

namespace nbcc {
namespace {

template <typename Values>
std::string refusal(Values values, std::size_t periodic = 3, double tolerance = 1e-5) {
  const std::vector<CellVector> vectors{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const std::vector<OpenExtent> extents(3 - periodic, {-0.5, 0.5});
  const PeriodicKernel kernel = test::periodic_kernel(
      3, 1, [=](const CellVector& d, double* value) { value[0] = values(d, std::sqrt(test::squared_length(d))); });
  try {
    make_periodic_tables(make_periodic_cell(3, std::span(vectors).first(periodic), extents), kernel, tolerance);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

void expect_text(const std::string& text, const std::string& wanted) {
  EXPECT_NE(text.find(wanted), std::string::npos) << "got: " << text << "\nwanted: " << wanted;
}

TEST(PeriodicRefusals, FormulasThatAreNotSmooth) {
  const std::string not_smooth = "the formula is not smooth or oscillates";
  expect_text(refusal([](const CellVector& d, double r) { return std::fabs(d[0]) / (r * r); }), not_smooth);
  expect_text(refusal([](const CellVector& d, double r) { return std::copysign(1, d[0]) * std::pow(r, -4); }),
              not_smooth);
  expect_text(refusal([](const CellVector&, double r) { return r < 3.3 ? 1 / r : 0; }), not_smooth);
  // No decay along y and z.
  expect_text(refusal([](const CellVector& d, double) { return std::exp(-d[0] * d[0]); }), not_smooth);
}

TEST(PeriodicRefusals, FormulasThatOscillate) {
  const std::string oscillates = "it oscillates or is not smooth; expected terms that become a power of the distance";
  expect_text(refusal([](const CellVector&, double r) { return std::cos(r) / r; }), oscillates);
  expect_text(refusal([](const CellVector&, double r) { return std::cos(20 * r) / r; }), oscillates);
}

TEST(PeriodicRefusals, FormulasThatGrow) {
  expect_text(refusal([](const CellVector&, double r) { return r * r * r * r; }),
              "it grows with distance; expected terms that grow at most like r, got r^4");
  expect_text(refusal([](const CellVector&, double r) { return std::exp(r / 10); }), "it grows with distance");
  expect_text(refusal([](const CellVector&, double r) { return std::exp(r * r); }),
              "its terms must be finite at every distance but 0");
}

TEST(PeriodicRefusals, FormulasThatBecomeAConstant) {
  const std::string constant = "its terms do not fall off, but become the constant ";
  expect_text(refusal([](const CellVector&, double) { return 1.0; }), constant + "1 at large distances");
  expect_text(refusal([](const CellVector&, double r) { return 1 / r - 3; }), constant + "-3");
  expect_text(refusal([](const CellVector&, double r) { return 2 * std::erf(r); }, 2), constant + "2");
  // A logarithm grows slowly, and the terms of a tensor of degree 0 have a mean of 0.
  EXPECT_EQ(refusal([](const CellVector&, double r) { return std::log(r); }), "");
  EXPECT_EQ(refusal([](const CellVector& d, double r) { return d[0] * d[1] / (r * r); }), "");
}

TEST(PeriodicRefusals, FormulasThatGrowAcrossOpenDirections) {
  const std::string across =
      "its sum over images grows across the open directions, whose polynomial no periodic condition fixes";
  expect_text(refusal([](const CellVector&, double r) { return -std::log(r); }, 2), across);
  expect_text(refusal([](const CellVector&, double r) { return r; }, 2), across);
  expect_text(refusal([](const CellVector&, double r) { return r; }, 1), across);
  expect_text(refusal([](const CellVector& d, double r) { return d[2] * std::pow(r, -1.5); }, 2), across);
  // These have periodic sums.
  EXPECT_EQ(refusal([](const CellVector&, double r) { return 1 / r; }, 2), "");
  EXPECT_EQ(refusal([](const CellVector&, double r) { return std::pow(r, -0.5); }, 2), "");
  EXPECT_EQ(refusal([](const CellVector&, double r) { return 1 / r; }, 1), "");
  EXPECT_EQ(refusal([](const CellVector&, double r) { return -std::log(r); }, 1), "");
}

TEST(PeriodicRefusals, TolerancesBelowRoundingErrors) {
  const std::string text = refusal([](const CellVector&, double r) { return r; }, 3, 1e-13);
  expect_text(text, "no periodic sum of this formula keeps the tolerance 1e-13: with tables of ");
  expect_text(text, "expected 3e-14; these are rounding errors");
}

}  // namespace
}  // namespace nbcc

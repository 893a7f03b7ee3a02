#include <gtest/gtest.h>

#include "compiler/passes/passes.h"
#include "tests/support/pass_dump.h"

namespace nbcc {
namespace {

// Estimates good to 12 bits of single precision, to 14 of both, and none.
constexpr Target kRough{1.5 * 0x1p-12, 0, true}, kFine{0x1p-14, 0x1p-14, true}, kNoEstimate{0, 0, true};

struct RsqrtCase {
  const char* name;
  Target target;
  Options options;
  const char* text;
  const char* ir;
};

const RsqrtCase kRsqrtCases[] = {
    {"cube_is_one_product",
     kRough,
     {},
     "real r2 = xi - xj; s += mj * pow(r2, -1.5);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = input_j.real 1\n"
     "%4 = rsqrt_estimate.real %2\n"
     "%5 = mul.real %4 %4\n"
     "%6 = const.real 1\n"
     "%7 = neg.real %2\n"
     "%8 = fma.real %7 %5 %6\n"
     "%9 = const.real 1.875\n"
     "%10 = const.real 1.5\n"
     "%11 = fma.real %8 %9 %10\n"
     "%12 = fma.real %8 %11 %6\n"
     "%13 = mul.real %3 %4\n"
     "%14 = mul.real %13 %5\n"
     "%15 = mul.real %14 %12\n"
     "s += %15\n"},
    {"finer_estimate_needs_one_term",
     kFine,
     {},
     "real r2 = xi - xj; s += mj * pow(r2, -1.5);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = input_j.real 1\n"
     "%4 = rsqrt_estimate.real %2\n"
     "%5 = mul.real %4 %4\n"
     "%6 = const.real 1.6666666666666665\n"
     "%7 = neg.real %2\n"
     "%8 = fma.real %7 %5 %6\n"
     "%9 = const.real 1.5\n"
     "%10 = mul.real %3 %4\n"
     "%11 = mul.real %10 %5\n"
     "%12 = mul.real %11 %8\n"
     "%13 = mul.real %12 %9\n"
     "s += %13\n"},
    {"no_estimate_divides_once",
     kNoEstimate,
     {},
     "real r2 = xi - xj; s += mj * pow(r2, -1.5);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = input_j.real 1\n"
     "%4 = const.real 1\n"
     "%5 = sqrt.real %2\n"
     "%6 = div.real %4 %5\n"
     "%7 = mul.real %6 %6\n"
     "%8 = mul.real %3 %6\n"
     "%9 = mul.real %8 %7\n"
     "s += %9\n"},
    {"raw_estimate",
     kRough,
     {.root = RootMode::Estimate},
     "real r2 = xi - xj; s += mj * pow(r2, -1.5);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = input_j.real 1\n"
     "%4 = rsqrt_estimate.real %2\n"
     "%5 = mul.real %4 %4\n"
     "%6 = mul.real %3 %4\n"
     "%7 = mul.real %6 %5\n"
     "s += %7\n"},
    {"exact_root",
     kRough,
     {.root = RootMode::Exact},
     "real r2 = xi - xj; s += mj * pow(r2, -1.5);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = input_j.real 1\n"
     "%4 = const.real 1\n"
     "%5 = sqrt.real %2\n"
     "%6 = div.real %4 %5\n"
     "%7 = mul.real %6 %6\n"
     "%8 = mul.real %3 %6\n"
     "%9 = mul.real %8 %7\n"
     "s += %9\n"},
    {"double_takes_more_terms",
     kFine,
     {.precision = Precision::Double},
     "real r2 = xi - xj; s += mj * pow(r2, -1.5);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = input_j.real 1\n"
     "%4 = rsqrt_estimate.real %2\n"
     "%5 = mul.real %4 %4\n"
     "%6 = const.real 1\n"
     "%7 = neg.real %2\n"
     "%8 = fma.real %7 %5 %6\n"
     "%9 = const.real 2.4609375\n"
     "%10 = const.real 2.1875\n"
     "%11 = fma.real %8 %9 %10\n"
     "%12 = const.real 1.875\n"
     "%13 = fma.real %8 %11 %12\n"
     "%14 = const.real 1.5\n"
     "%15 = fma.real %8 %13 %14\n"
     "%16 = fma.real %8 %15 %6\n"
     "%17 = mul.real %3 %4\n"
     "%18 = mul.real %17 %5\n"
     "%19 = mul.real %18 %16\n"
     "s += %19\n"},
    {"root_alone",
     kRough,
     {.root = RootMode::Exact},
     "s += sqrt(xi - xj);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = sqrt.real %2\n"
     "s += %3\n"},
    {"whole_power",
     kRough,
     {.root = RootMode::Exact},
     "s += pow(xi - xj, 6.0);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = mul.real %2 %2\n"
     "%4 = mul.real %3 %3\n"
     "%5 = mul.real %3 %4\n"
     "s += %5\n"},
    {"one_division_for_all_powers",
     kRough,
     {.root = RootMode::Exact},
     "real r2 = xi - xj; s += 1.0 / (r2 * r2 * r2) - 1.0 / r2;",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = const.real 1\n"
     "%4 = div.real %3 %2\n"
     "%5 = mul.real %4 %4\n"
     "%6 = mul.real %4 %5\n"
     "%7 = sub.real %6 %4\n"
     "s += %7\n"},
    {"several_odd_powers_refine_once",
     kFine,
     {},
     "real ri = rsqrt(xi - xj); s += ri * ri * ri - ri;",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = rsqrt_estimate.real %2\n"
     "%4 = const.real 1\n"
     "%5 = mul.real %2 %3\n"
     "%6 = neg.real %3\n"
     "%7 = fma.real %6 %5 %4\n"
     "%8 = const.real 0.5\n"
     "%9 = mul.real %3 %7\n"
     "%10 = fma.real %9 %8 %3\n"
     "%11 = mul.real %10 %10\n"
     "%12 = mul.real %10 %11\n"
     "%13 = sub.real %12 %10\n"
     "s += %13\n"},
    {"refined_without_fused_operations",
     {1.5 * 0x1p-12, 0, false},
     {},
     "real ri = rsqrt(xi - xj); s += ri * ri * ri - ri;",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = rsqrt_estimate.real %2\n"
     "%4 = const.real 1\n"
     "%5 = mul.real %3 %3\n"
     "%6 = neg.real %2\n"
     "%7 = fma.real %6 %5 %4\n"
     "%8 = const.real 0.375\n"
     "%9 = const.real 0.5\n"
     "%10 = fma.real %7 %8 %9\n"
     "%11 = mul.real %3 %7\n"
     "%12 = fma.real %11 %10 %3\n"
     "%13 = mul.real %12 %12\n"
     "%14 = mul.real %12 %13\n"
     "%15 = sub.real %14 %12\n"
     "s += %15\n"},
    {"root_and_inverse_divide",
     kFine,
     {},
     "real d = xi - xj; s += sqrt(d) + rsqrt(d);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = sqrt.real %2\n"
     "%4 = const.real 1\n"
     "%5 = div.real %4 %3\n"
     "%6 = add.real %3 %5\n"
     "s += %6\n"},
    {"root_of_square_stays",
     kFine,
     {},
     "real d = xi - xj; s += sqrt(d * d);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = mul.real %2 %2\n"
     "%4 = sqrt.real %3\n"
     "s += %4\n"},
    {"root_of_cube_is_a_power",
     kRough,
     {.root = RootMode::Exact},
     "real d = xi - xj; s += sqrt(d * d * d);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = sqrt.real %2\n"
     "%4 = mul.real %3 %2\n"
     "s += %4\n"},
    {"other_powers_stay",
     kFine,
     {},
     "s += pow(xi - xj, 0.3) + pow(xi - xj, 50.0);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = const.real 0.3\n"
     "%4 = pow.real %2 %3\n"
     "%5 = const.real 50\n"
     "%6 = pow.real %2 %5\n"
     "%7 = add.real %4 %6\n"
     "s += %7\n"},
    {"x_over_x_stays",
     kFine,
     {},
     "real d = xi - xj; s += d / d;",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = div.real %2 %2\n"
     "s += %3\n"},
    {"constants_join",
     kRough,
     {.root = RootMode::Exact},
     "s += 2.0 * (xi - xj) * 3.0;",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = const.real 6\n"
     "%4 = mul.real %3 %2\n"
     "s += %4\n"},
    {"constants_out_of_range_do_not_join",
     kRough,
     {.root = RootMode::Exact},
     "s += (1e-20 * (xi - xj)) * (1e-20 * (mj - hi));",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = const.real 1e-20\n"
     "%4 = mul.real %3 %2\n"
     "%5 = input_j.real 1\n"
     "%6 = input_i.real 1\n"
     "%7 = sub.real %5 %6\n"
     "%8 = mul.real %3 %7\n"
     "%9 = mul.real %4 %8\n"
     "s += %9\n"},
    {"i_factor_stands_last",
     kRough,
     {.root = RootMode::Exact},
     "s += hi * (mj * (xi - xj));",
     "%0 = input_i.real 1\n"
     "%1 = input_j.real 1\n"
     "%2 = input_i.real 0\n"
     "%3 = input_j.real 0\n"
     "%4 = sub.real %2 %3\n"
     "%5 = mul.real %1 %4\n"
     "%6 = mul.real %5 %0\n"
     "s += %6\n"},
    {"product_that_the_text_does_not_form_is_not_formed",
     kRough,
     {.root = RootMode::Exact},
     "s += hi * mj * (xi - xj);",
     "%0 = input_i.real 1\n"
     "%1 = input_j.real 1\n"
     "%2 = input_i.real 0\n"
     "%3 = input_j.real 0\n"
     "%4 = sub.real %2 %3\n"
     "%5 = mul.real %1 %0\n"
     "%6 = mul.real %5 %4\n"
     "s += %6\n"},
    {"quotient_stays_together_in_its_powers",
     kRough,
     {.root = RootMode::Exact},
     "real q = p / (xi - xj); s += q * q * q;",
     "%0 = param.real 0\n"
     "%1 = input_i.real 0\n"
     "%2 = input_j.real 0\n"
     "%3 = sub.real %1 %2\n"
     "%4 = const.real 1\n"
     "%5 = div.real %4 %3\n"
     "%6 = mul.real %0 %5\n"
     "%7 = mul.real %6 %6\n"
     "%8 = mul.real %6 %7\n"
     "s += %8\n"},
    {"power_that_the_text_does_not_form_is_taken_up_piece_by_piece",
     kRough,
     {.root = RootMode::Exact},
     "real x = xi - xj; s += mj / x / x / x;",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = input_j.real 1\n"
     "%4 = const.real 1\n"
     "%5 = div.real %4 %2\n"
     "%6 = mul.real %3 %5\n"
     "%7 = mul.real %6 %5\n"
     "%8 = mul.real %7 %5\n"
     "s += %8\n"},
    {"shared_product_stays_shared",
     kRough,
     {.root = RootMode::Exact},
     "real w = mj * (xi - xj); s += w * (xj - hi) - w * (xj - xi);",
     "%0 = input_j.real 1\n"
     "%1 = input_i.real 0\n"
     "%2 = input_j.real 0\n"
     "%3 = sub.real %1 %2\n"
     "%4 = mul.real %0 %3\n"
     "%5 = input_i.real 1\n"
     "%6 = sub.real %2 %5\n"
     "%7 = mul.real %4 %6\n"
     "%8 = sub.real %2 %1\n"
     "%9 = mul.real %4 %8\n"
     "%10 = sub.real %7 %9\n"
     "s += %10\n"},
};

TEST(rsqrt, table) {
  for (const RsqrtCase& c : kRsqrtCases) {
    Pipeline pipeline = test::cleaned(c.text);
    rsqrt(pipeline, c.options, c.target);
    EXPECT_EQ(test::dumped(pipeline), c.ir) << c.name << ": " << c.text;
  }
}

}  // namespace
}  // namespace nbcc

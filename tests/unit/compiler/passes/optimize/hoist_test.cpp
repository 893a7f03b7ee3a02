#include <gtest/gtest.h>

#include "compiler/passes/passes.h"
#include "tests/support/pass_dump.h"

namespace nbcc {
namespace {

struct HoistCase {
  const char* name;
  const char* text;
  const char* ir;
};

const HoistCase kHoistCases[] = {
    {"i_factor", "s += hi * (xi - xj);",
     "%0 = input_i.real 1\n"
     "%1 = input_i.real 0\n"
     "%2 = input_j.real 0\n"
     "%3 = sub.real %1 %2\n"
     "s += %3 times %0 after the sum\n"},
    {"constant", "s += 2.0 * (xi - xj);",
     "%0 = const.real 2\n"
     "%1 = input_i.real 0\n"
     "%2 = input_j.real 0\n"
     "%3 = sub.real %1 %2\n"
     "s += %3 times %0 after the sum\n"},
    {"sign", "s -= mj * (xi - xj);",
     "%0 = input_j.real 1\n"
     "%1 = input_i.real 0\n"
     "%2 = input_j.real 0\n"
     "%3 = sub.real %1 %2\n"
     "%4 = mul.real %0 %3\n"
     "%5 = const.real -1\n"
     "s += %4 times %5 after the sum\n"},
    {"param", "s += p * (mj * (xi - xj));",
     "%0 = param.real 0\n"
     "%1 = input_j.real 1\n"
     "%2 = input_i.real 0\n"
     "%3 = input_j.real 0\n"
     "%4 = sub.real %2 %3\n"
     "%5 = mul.real %1 %4\n"
     "s += %5 times %0 after the sum\n"},
    {"several", "s += 0.5 * hi * (p * ((xi - xj) * mj));",
     "%0 = const.real 0.5\n"
     "%1 = input_i.real 1\n"
     "%2 = param.real 0\n"
     "%3 = input_i.real 0\n"
     "%4 = input_j.real 0\n"
     "%5 = sub.real %3 %4\n"
     "%6 = input_j.real 1\n"
     "%7 = mul.real %5 %6\n"
     "%8 = mul.real %0 %1\n"
     "%9 = mul.real %8 %2\n"
     "s += %7 times %9 after the sum\n"},
    {"only_from_a_value_that_is_there", "s += (p * mj) * (xi - xj);",
     "%0 = param.real 0\n"
     "%1 = input_j.real 1\n"
     "%2 = mul.real %0 %1\n"
     "%3 = input_i.real 0\n"
     "%4 = input_j.real 0\n"
     "%5 = sub.real %3 %4\n"
     "%6 = mul.real %2 %5\n"
     "s += %6\n"},
    {"small_constant_from_any_product", "s += (0.5 * mj) * (xi - xj);",
     "%0 = const.real 0.5\n"
     "%1 = input_j.real 1\n"
     "%2 = input_i.real 0\n"
     "%3 = input_j.real 0\n"
     "%4 = sub.real %2 %3\n"
     "%5 = mul.real %1 %4\n"
     "s += %5 times %0 after the sum\n"},
    {"large_constant_stays_in_a_product", "s += (1e-7 * mj) * (xi - xj);",
     "%0 = const.real 1e-07\n"
     "%1 = input_j.real 1\n"
     "%2 = mul.real %1 %0\n"
     "%3 = input_i.real 0\n"
     "%4 = input_j.real 0\n"
     "%5 = sub.real %3 %4\n"
     "%6 = mul.real %2 %5\n"
     "s += %6\n"},
    {"common_to_a_sum", "s += hi * xj - hi * mj;",
     "%0 = input_i.real 1\n"
     "%1 = input_j.real 0\n"
     "%2 = input_j.real 1\n"
     "%3 = sub.real %1 %2\n"
     "s += %3 times %0 after the sum\n"},
    {"of_different_signs", "s += 3.0 * xj - (-3.0 * mj);",
     "%0 = const.real 3\n"
     "%1 = input_j.real 0\n"
     "%2 = input_j.real 1\n"
     "%3 = add.real %1 %2\n"
     "s += %3 times %0 after the sum\n"},
    {"not_common", "s += hi * xj + xi * mj;",
     "%0 = input_i.real 1\n"
     "%1 = input_j.real 0\n"
     "%2 = mul.real %0 %1\n"
     "%3 = input_i.real 0\n"
     "%4 = input_j.real 1\n"
     "%5 = mul.real %3 %4\n"
     "%6 = add.real %2 %5\n"
     "s += %6\n"},
    {"j_factor_stays", "s += mj * (xi - xj);",
     "%0 = input_j.real 1\n"
     "%1 = input_i.real 0\n"
     "%2 = input_j.real 0\n"
     "%3 = sub.real %1 %2\n"
     "%4 = mul.real %0 %3\n"
     "s += %4\n"},
    {"count_stays", "s += 2.0;",
     "%0 = const.real 2\n"
     "s += %0\n"},
    {"i_value_stays", "s += hi * xi;",
     "%0 = input_i.real 1\n"
     "%1 = input_i.real 0\n"
     "%2 = mul.real %0 %1\n"
     "s += %2\n"},
    {"guard_stays", "if (xi < xj) s += hi * mj;",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = lt.bool %0 %1\n"
     "%3 = input_i.real 1\n"
     "%4 = input_j.real 1\n"
     "s += %4 if %2 times %3 after the sum\n"},
};

TEST(hoist, table) {
  for (const HoistCase& c : kHoistCases) {
    Pipeline pipeline = test::cleaned(c.text);
    hoist(pipeline);
    EXPECT_EQ(test::dumped(pipeline), c.ir) << c.name << ": " << c.text;
  }
}

TEST(hoist, other_reductions_stay) {
  Pipeline pipeline =
      parse({"case.pipe", "input_i real hi; input_j real xj; output(max) real m;\nm = max(m, hi * xj);"});
  hoist(pipeline);
  EXPECT_EQ(pipeline.contributions[0].scale, kNone);
}

}  // namespace
}  // namespace nbcc

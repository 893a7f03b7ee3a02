#include <gtest/gtest.h>

#include "compiler/passes/passes.h"
#include "tests/support/pass_dump.h"

namespace nbcc {
namespace {

struct ContractCase {
  const char* name;
  const char* text;
  const char* ir;
};

const ContractCase kContractCases[] = {
    {"begins_with_the_bare_term", "real a = xi - xj; real b = hi - mj; s += a * a + b * b + p;",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = input_i.real 1\n"
     "%4 = input_j.real 1\n"
     "%5 = sub.real %3 %4\n"
     "%6 = param.real 0\n"
     "%7 = fma.real %5 %5 %6\n"
     "%8 = fma.real %2 %2 %7\n"
     "s += %8\n"},
    {"difference", "real a = xi - xj; s += a * mj - a * a;",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = input_j.real 1\n"
     "%4 = neg.real %2\n"
     "%5 = mul.real %4 %2\n"
     "%6 = fma.real %2 %3 %5\n"
     "s += %6\n"},
    {"negative_product", "real a = xi - xj; s += p - a * a;",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = param.real 0\n"
     "%4 = neg.real %2\n"
     "%5 = fma.real %4 %2 %3\n"
     "s += %5\n"},
    {"negative_first", "real a = xi - xj; s += -(a * mj) - a;",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = input_j.real 1\n"
     "%4 = mul.real %2 %3\n"
     "%5 = neg.real %4\n"
     "%6 = sub.real %5 %2\n"
     "s += %6\n"},
    {"parenthesis_with_product_opens", "real a = xi - xj; s += p - (mj - a * a);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = param.real 0\n"
     "%4 = input_j.real 1\n"
     "%5 = sub.real %3 %4\n"
     "%6 = fma.real %2 %2 %5\n"
     "s += %6\n"},
    {"parenthesis_without_product_stays",
     "real a = xi - xj; real b = hi - mj; real t = a + b; real u = t - a; s += (a - (t - u)) + (b - u);",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = input_i.real 1\n"
     "%4 = input_j.real 1\n"
     "%5 = sub.real %3 %4\n"
     "%6 = add.real %2 %5\n"
     "%7 = sub.real %6 %2\n"
     "%8 = sub.real %6 %7\n"
     "%9 = sub.real %5 %7\n"
     "%10 = sub.real %2 %8\n"
     "%11 = add.real %10 %9\n"
     "s += %11\n"},
    {"shared_product_is_added", "real a = (xi - xj) * mj; s += a + p; if (a < 1.0) s += a;",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = input_j.real 1\n"
     "%4 = mul.real %2 %3\n"
     "%5 = param.real 0\n"
     "%6 = const.real 1\n"
     "%7 = lt.bool %4 %6\n"
     "%8 = const.real 0\n"
     "%9 = select.real %7 %4 %8\n"
     "%10 = add.real %4 %5\n"
     "%11 = add.real %10 %9\n"
     "s += %11\n"},
    {"difference_of_particles_stays", "real a = xi - xj; s += a + p * mj;",
     "%0 = input_i.real 0\n"
     "%1 = input_j.real 0\n"
     "%2 = sub.real %0 %1\n"
     "%3 = param.real 0\n"
     "%4 = input_j.real 1\n"
     "%5 = fma.real %3 %4 %2\n"
     "s += %5\n"},
    {"integers_stay", "int k = int(xi) * int(xj) + int(mj); s += real(k);",
     "%0 = input_i.real 0\n"
     "%1 = cast.int %0\n"
     "%2 = input_j.real 0\n"
     "%3 = cast.int %2\n"
     "%4 = mul.int %1 %3\n"
     "%5 = input_j.real 1\n"
     "%6 = cast.int %5\n"
     "%7 = add.int %4 %6\n"
     "%8 = cast.real %7\n"
     "s += %8\n"},
};

TEST(contract, table) {
  for (const ContractCase& c : kContractCases) {
    Pipeline pipeline = test::cleaned(c.text);
    contract(pipeline);
    EXPECT_EQ(test::dumped(pipeline), c.ir) << c.name << ": " << c.text;
  }
}

}  // namespace
}  // namespace nbcc

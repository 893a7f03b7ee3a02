// The table of instruction sets: what other code relies on of every row.
#include "compiler/isa.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "compiler/text/fill_template.h"
#include "runtime/cpu/cpu_device.h"

namespace nbcc {
namespace {

TEST(isa, names_are_distinct_and_lead_back) {
  std::set<std::string_view> names;
  for (const IsaFacts& isa : kIsas) {
    EXPECT_TRUE(names.insert(isa.name).second) << isa.name;
    EXPECT_EQ(isa_from_name(isa.name), isa.isa);
  }
}

TEST(isa, templates_are_embedded) {
  for (const IsaFacts& isa : kIsas) {
    std::string text;
    for (const std::string_view one : isa.templates) text += one.empty() ? "" : fill_template(one, {});
    EXPECT_NE(text.find(" fused("), std::string::npos) << isa.name;
    EXPECT_EQ(text.find(" rsqrt_estimate(") != std::string::npos, isa.target.rsqrt_error_float > 0) << isa.name;
    if (isa.table_template.empty()) continue;
    EXPECT_NE(fill_template(isa.table_template, {}).find(" of_row("), std::string::npos) << isa.name;
  }
}

TEST(isa, a_processor_runs_the_code_of_earlier_sets_of_its_family) {
  EXPECT_TRUE(runs(Isa::Avx512, Isa::Sse2));
  EXPECT_TRUE(runs(Isa::Avx2, Isa::Avx2));
  EXPECT_FALSE(runs(Isa::Avx2, Isa::Avx512));
  EXPECT_FALSE(runs(Isa::Neon, Isa::Sse2));
  EXPECT_FALSE(runs(Isa::Avx512, Isa::Neon));
}

TEST(isa, this_machine_has_what_runs_on_its_best) {
  for (const IsaFacts& isa : kIsas) EXPECT_EQ(isa.is_here(), runs(detect_isa(), isa.isa)) << isa.name;
}

}  // namespace
}  // namespace nbcc

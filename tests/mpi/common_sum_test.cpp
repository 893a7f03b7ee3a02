// Ranks whose pipelines have other statements, or whose params have other values, are refused on all ranks: in blocks
// of j, and with all j at once. ranks_far_test.cpp has the same to a tolerance.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/mpi/gathered_case.h"

namespace nbcc::test::ranks {
namespace {

// A far field, a proved cutoff, several numbers in a param, a table.
const std::string kSoft = R"(
input_i vec3 xi; input_j vec3 xj; input_j double mj;
param real eps = 0.01; output(sum) real pot;
vec3 d = xj - xi; pot += mj * rsqrt(dot(d, d) + eps);
)";
const std::string kBox = R"(
input_i vec3 xi; input_j vec3 xj; input_j double mj;
param real rc = 0.4; param vec3 box = vec3(2, 2, 2); param real table[3] = {1, 2, 3}; output(sum) real pot;
vec3 d = nearest_image(xj - xi, box); real r2 = dot(d, d); skip_if(r2 >= rc * rc);
pot += table[int(2 * mj) % 3] * (rc * rc - r2);
)";
const std::string kImages = R"(
input_i vec3 xi; input_j vec3 xj; input_j double mj;
param real rc = 0.4; param vec3 box = vec3(2, 2, 2); output(sum) real pot;
vec3 d = every_image(xj - xi, box); real r2 = dot(d, d); skip_if(r2 >= rc * rc); pot += mj * (rc * rc - r2);
)";

class MpiCommonSum : public GatheredTest {
 protected:
  static constexpr std::int64_t kCount = 90;
  const Particles all = random_particles(kCount, 3);
  const std::int64_t begin = first_of(kCount, rank, 0), end = first_of(kCount, rank + 1, 0);

  std::string message_of(Bound& mine) {
    try {
      ring.run(mine.sum);
    } catch (const nbcc::Error& e) {
      EXPECT_EQ(e.status(), NBCC_ERROR_USAGE);
      EXPECT_EQ(mine.columns["pot"], Reals(mine.columns["pot"].size(), -7));
      return e.what();
    }
    return "no error";
  }
  // The last rank differs; then it does not.
  void expect_refused_param(const std::string& text, const std::string& param, const Reals& common, const Reals& other,
                            const std::string& what, const std::function<void(nbcc::Sum&)>& give = {}) {
    const nbcc::Pipeline pipeline = compiled(text);
    Bound mine(pipeline, all.part(begin, end), all.part(begin, end)), whole(pipeline, all.part(begin, end), all);
    if (give) give(mine.sum), give(whole.sum);
    const int last = rank_count() - 1;
    for (nbcc::Sum* const sum : {&mine.sum, &whole.sum})
      ASSERT_EQ(nbcc_sum_set_param(sum->get(), param.c_str(), common.data(), int(common.size()), nullptr), NBCC_OK);
    if (rank == last)
      ASSERT_EQ(nbcc_sum_set_param(mine.sum.get(), param.c_str(), other.data(), int(other.size()), nullptr), NBCC_OK);
    EXPECT_EQ(message_of(mine),
              "rank " + std::to_string(last) + ": " + what + " on rank 0: expected one value on all ranks");
    ASSERT_EQ(nbcc_sum_set_param(mine.sum.get(), param.c_str(), common.data(), int(common.size()), nullptr), NBCC_OK);
    EXPECT_EQ(message_of(mine), "no error");
    whole.sum.offsets(begin, 0).run();
    Reals bounds;
    for (const double value : whole.columns["pot"])
      bounds.push_back(nbcc::test::kRoundings * nbcc::test::epsilon(NBCC_DOUBLE) * value);
    nbcc::test::expect_within(mine.columns["pot"], whole.columns["pot"], bounds, "afterwards");
  }
};

TEST_F(MpiCommonSum, ParamsThatDiffer) {
  if (rank_count() == 1) return;
  expect_refused_param(kSoft, "eps", {0.25}, {0.5}, "param 'eps' is 0.5 here and 0.25");
  expect_refused_param(kBox, "rc", {0.4}, {0.3}, "param 'rc' is 0.3 here and 0.4");
  expect_refused_param(kBox, "box", {2, 2, 2}, {2, 3, 2}, "number 1 of param 'box' is 3 here and 2");
  expect_refused_param(kBox, "table", {1, 2, 3}, {1, 2, 4}, "number 2 of param 'table' is 4 here and 3");
  expect_refused_param(kImages, "box", {2, 2, 2}, {2, 2, 3}, "number 2 of param 'box' is 3 here and 2");
  const Rows rows = random_rows(end - begin, kCount, 4, 5u + unsigned(rank));
  expect_refused_param(kSoft, "eps", {0.25}, {0.5}, "param 'eps' is 0.5 here and 0.25", [&](nbcc::Sum& sum) {
    ASSERT_EQ(nbcc_sum_set_listed_pairs(sum.get(), end - begin, rows.first.data(), std::int64_t(rows.j.size()),
                                        rows.j.data(), nullptr),
              NBCC_OK);
  });
}

// Batches of one rank may have values of their own, which are not compared; other params are.
TEST_F(MpiCommonSum, ParamsOfBatches) {
  if (rank_count() == 1) return;
  const nbcc::Pipeline pipeline = compiled(kBox);
  Indices of_all;
  for (std::int64_t k = 0; k < kCount; ++k) of_all.push_back(k * 3 / kCount);
  const Indices own(of_all.begin() + begin, of_all.begin() + end);
  Bound mine(pipeline, all.part(begin, end), all.part(begin, end));
  ASSERT_EQ(nbcc_sum_set_batches(mine.sum.get(), 3, end - begin, own.data(), kCount, of_all.data(), nullptr), NBCC_OK);
  const Reals values{0.3, 0.4, 0.5};
  if (rank == 0) ASSERT_EQ(nbcc_sum_set_batch_param(mine.sum.get(), "rc", values.data(), 3, nullptr), NBCC_OK);
  EXPECT_EQ(message_of(mine), "no error");
  std::ranges::fill(mine.columns["pot"], -7);
  const Reals other{3, 2, 2};
  if (rank == 1) ASSERT_EQ(nbcc_sum_set_param(mine.sum.get(), "box", other.data(), 3, nullptr), NBCC_OK);
  EXPECT_EQ(message_of(mine),
            "rank 1: number 0 of param 'box' is 3 here and 2 on rank 0: expected one value on all ranks");
}

TEST_F(MpiCommonSum, PipelinesThatDiffer) {
  if (rank_count() == 1) return;
  const auto message = [&](const std::string& from, const std::string& to) {
    std::string text = kSoft;
    if (rank == 1) text.replace(text.find(from), from.size(), to);
    const nbcc::Pipeline pipeline = compiled(text);
    Bound mine(pipeline, all.part(begin, end), all.part(begin, end));
    return message_of(mine);
  };
  const std::string refused =
      "rank 1: the statements are not those of rank 0's pipeline: expected one pipeline on all ranks";
  EXPECT_EQ(message("rsqrt(dot(d, d) + eps)", "(dot(d, d) + eps)"), refused);
  EXPECT_EQ(message("+= mj", "-= mj"), refused);
  EXPECT_EQ(message("output(sum) real pot;", "output(sum) real other; output(sum) real pot; other += mj;"), refused);
  EXPECT_EQ(message("param real eps = 0.01;", "param real eps = 0.01; param real more = 1;"),
            "rank 1: the params are not those of rank 0's pipeline");
  EXPECT_EQ(message("vec3 d", "// a comment\nvec3   d"), "no error");
}

// The method in the statistics is that of the blocks of j, not that of the last step, which has no j.
TEST_F(MpiCommonSum, StatisticsOfASearch) {
  const nbcc::Pipeline pipeline = compiled(kBox);
  Bound mine(pipeline, all.part(begin, end), all.part(begin, end));
  ASSERT_EQ(nbcc_sum_set_pairs(mine.sum.get(), NBCC_PAIRS_CUTOFF, nullptr), NBCC_OK);
  ring.run(mine.sum);
  EXPECT_STREQ(mine.sum.statistics().method, "search") << mine.sum.statistics().reason;
  EXPECT_GE(mine.sum.statistics().searches, rank_count());
}

// The rank whose callback interrupts is the one that the error names, also where others end as a consequence.
TEST_F(MpiCommonSum, TheRankThatInterruptsIsNamed) {
  const Particles many = random_particles(60000, 9, 0);
  const std::int64_t first = first_of(60000, rank, 0), after = first_of(60000, rank + 1, 0);
  const nbcc::Pipeline pipeline = compiled(kSoft);
  Bound mine(pipeline, many.part(first, after), many.part(first, after));
  mine.sum.tolerance(1e-5);
  const int last = rank_count() - 1;
  if (rank == last) mine.sum.progress([](double) { return true; });
  try {
    ring.run(mine.sum);
    ADD_FAILURE() << "no interrupt";
  } catch (const nbcc::Error& e) {
    EXPECT_EQ(e.status(), NBCC_INTERRUPTED);
    EXPECT_STREQ(e.what(), ("rank " + std::to_string(last) + ": interrupted by the progress callback").c_str());
  }
}

}  // namespace
}  // namespace nbcc::test::ranks

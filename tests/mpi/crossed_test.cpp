// Random pipelines with random features (tests/support/crossed_run.h) over the ranks of MPI, against the oracle: every
// row of the table of capabilities with every feature that ranks have. A failure prints the run as the generator does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "jit/build_kernel.h"
#include "mpi/nbcc_mpi.h"
#include "runtime/api/handles.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/sum/derived/for_callers.h"
#include "runtime/tolerance/tolerance.h"
#include "tests/mpi/mpi_ranks.h"
#include "tests/support/cpu_run.h"
#include "tests/support/crossed_pairs.h"
#include "tests/support/crossed_results.h"
#include "tests/support/crossed_run.h"
#include "tests/support/folders.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t count() const { return end - begin; }
};

// Rising numbers of particles; the first of several ranks may have none.
Range range_of(std::int64_t count, int rank) {
  const std::int64_t ranks = rank_count();
  return {count * rank * rank / (ranks * ranks), count * (rank + 1) * (rank + 1) / (ranks * ranks)};
}

void cut(std::vector<std::vector<double>>& columns, const Range& range) {
  for (auto& column : columns) column = {column.begin() + range.begin, column.begin() + range.end};
}

// The rows of some i; the pairs of these rows.
std::pair<OracleRows, Range> rows_of_range(const OracleRows& rows, const Range& i) {
  const Range pairs{rows.first[std::size_t(i.begin)], rows.first[std::size_t(i.end)]};
  OracleRows own{{}, {rows.j.begin() + pairs.begin, rows.j.begin() + pairs.end}};
  for (std::int64_t k = i.begin; k <= i.end; ++k) own.first.push_back(rows.first[std::size_t(k)] - pairs.begin);
  return {own, pairs};
}

OracleInput share_of(OracleInput all, int rank) {
  const Range i = range_of(all.ni, rank), j = range_of(all.nj, rank);
  cut(all.i, i);
  cut(all.j, j);
  if (all.pairs) {
    const auto [rows, pairs] = rows_of_range(*all.pairs, i);
    cut(all.pair, pairs);
    all.pairs = rows;
  }
  if (all.excluded) all.excluded = rows_of_range(*all.excluded, i).first;
  all.ni = i.count();
  all.nj = j.count();
  return all;
}

// Every i is a group with a range for each of its j.
void set_lists(SumState& sum, const OracleRows& rows, std::int64_t nj) {
  const auto groups = std::int64_t(rows.first.size()) - 1;
  std::vector<std::int64_t> i_first, end = rows.j;
  for (std::int64_t g = 0; g <= groups; ++g) i_first.push_back(g);
  for (std::int64_t& one : end) ++one;
  sum.set_lists(ListArrays{groups, std::int64_t(rows.j.size()), i_first.data(), nullptr, rows.first.data(),
                           rows.j.data(), end.data(), nullptr, nj});
}

// Columns of all ranks, those of i behind each other.
Columns gathered(const Columns& own, const Pipeline& pipeline) {
  Columns all = own;
  for (std::size_t c = 0; c < own.size(); ++c) {
    if (pipeline.field_of(Role::Output, int(c)).is_total()) continue;
    const int mine = int(own[c].size());
    std::vector<int> counts(static_cast<std::size_t>(rank_count())), firsts(counts.size());
    MPI_Allgather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t r = 1; r < counts.size(); ++r) firsts[r] = firsts[r - 1] + counts[r - 1];
    all[c].resize(std::size_t(firsts.back() + counts.back()));
    MPI_Allgatherv(own[c].data(), mine, MPI_DOUBLE, all[c].data(), counts.data(), firsts.data(), MPI_DOUBLE,
                   MPI_COMM_WORLD);
  }
  return all;
}

class RanksCrossed : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(nbcc_mpi_ring_create(MPI_COMM_WORLD, &device_, &ring_, nullptr), NBCC_OK); }
  void TearDown() override { nbcc_mpi_ring_destroy(ring_); }
  // What the run has that ranks have not, or the table refuses: another seed.
  static bool is_passed_over(const CrossedRun& run, const CrossedText& text) {
    if (run.has(Feature::Batches) || run.has(Feature::Parts)) return true;
    if (run.row == "symmetric" && run.has(Feature::ListedPairs)) return true;  // refused on several ranks
    std::vector<std::string_view> rows = kinds_in(text.pipeline, text.text);
    if (run.has(Feature::Lists)) rows.emplace_back("lists");
    if (run.has(Feature::ListedPairs)) rows.emplace_back("listed pairs");
    for (const std::string_view row : rows)
      for (const Feature feature : run.features)
        if (find_capability(row)->kind != Capability::Kind::Result &&
            find_capability(row)->to(feature) == Answer::Refused)
          return true;
    return false;
  }

  void expect_oracle(const CrossedRun& run, const CrossedText& text) {
    const Options options{.precision = Precision(run.number % 3),
                          .math = run.number % 2 == 0 ? Math::Fast : Math::Precise};
    const std::shared_ptr<const Kernel> kernel = kernel_of(run, text, options);
    OracleInput input = crossed_input(text, run.ni, run.nj, run.one_set, run.seed);
    input.i_offset = input.j_offset = 0;  // the ring sets them
    if (run.has(Feature::Lists)) input.pairs = lists_of(run, false).rows;
    if (run.has(Feature::ListedPairs)) input.pairs = listed_pairs_of(run, input, text, false).rows;
    if (input.pairs && input.pair.empty()) give_pair_inputs(run, input, text, input.pairs->j.size());
    if (run.has(Feature::Exclusions)) input.excluded = random_pairs(run, 6, 12, true);

    const OracleInput mine = share_of(input, own_rank());
    KernelRunChoice choice;
    choice.accumulate = run.has(Feature::Accumulate);
    choice.before = choice.accumulate ? 1 : -77;
    choice.ignores = [&](const FieldLayout& field) { return field.role == Role::Output && is_ignored(run, field); };
    // Each rank chooses the first half of its i.
    const auto chosen_of = [&](std::int64_t ni) { return run.has(Feature::SomeI) ? ni / 2 : ni; };
    choice.count = chosen_of(mine.ni);
    choice.prepare = [&](SumState& sum) {
      if (run.row == "symmetric") sum.set_symmetric(SymmetricChoice::Always);
      if (run.row == "far field") set_tolerance(sum, kTolerance, {.leaf = 16});
      if (run.has(Feature::Lists)) set_lists(sum, *mine.pairs, input.nj);
      if (run.has(Feature::ListedPairs))
        sum.set_listed_pairs(mine.ni, mine.pairs->first.data(), std::int64_t(mine.pairs->j.size()),
                             mine.pairs->j.data());
      if (mine.excluded)
        sum.set_exclusions(mine.ni, mine.excluded->first.data(), std::int64_t(mine.excluded->j.size()),
                           mine.excluded->j.data());
    };
    choice.execute = [&](SumState& sum, const RunChoice& of) {
      // The ring takes a handle of the C interface, which holds the sum.
      nbcc_sum handle{std::move(sum), RunCheck(kernel, IndexGuard::None)};
      const nbcc_run_options run_options{sizeof(nbcc_run_options), of.i_begin, of.i_count, nullptr,
                                         of.accumulate ? 1 : 0,    nullptr,    NBCC_WHOLE, 1};
      nbcc_error* error = nullptr;
      const nbcc_status status = nbcc_mpi_run(ring_, &handle, &run_options, &error);
      const std::string message = nbcc_error_message(error);
      nbcc_error_free(error);
      std::destroy_at(&sum);
      std::construct_at(&sum, std::move(handle.state));
      if (status != NBCC_OK) throw std::runtime_error(message);
    };
    std::string method;
    choice.after = [&](SumState& sum) { method = sum.method(); };
    Columns got;
    try {
      got = gathered(run_kernel(kernel, mine, choice), text.pipeline);
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\n" << run.text() << "\n" << text.text;
    }
    Numbers chosen;
    for (int rank = 0; rank < rank_count(); ++rank)
      for (std::int64_t k = 0; k < chosen_of(range_of(run.ni, rank).count()); ++k)
        chosen.push_back(range_of(run.ni, rank).begin + k);
    Wanted wanted = wanted_of(text, input, chosen, options);
    if (choice.accumulate) accumulate_onto(choice.before, text, wanted, options.precision);
    const std::string fault = method.starts_with("far") ? far_difference(text, got, wanted)
                                                        : difference(run, text, got, wanted, input, chosen);
    EXPECT_EQ(fault, "") << method << ", " << run.text() << "\n" << text.text;
  }

  const std::shared_ptr<const Kernel>& kernel_of(const CrossedRun& run, const CrossedText& text,
                                                 const Options& options) {
    auto& kernel = kernels_[{family_of(run.row, run.number), run.number}];
    if (!kernel) kernel = for_callers(device_.device->load(build_cpu_kernel(text.pipeline, options, detect_isa(), "")));
    return kernel;
  }

 private:
  std::map<std::pair<TextFamily, std::uint64_t>, std::shared_ptr<const Kernel>> kernels_;
  nbcc_device device_{
      std::make_shared<CpuDevice>(1, detect_isa(), cpu_toolchain(), build_folder() + "/test-cache", "")};
  nbcc_mpi_ring* ring_ = nullptr;
};

TEST_F(RanksCrossed, EveryRowWithEveryFeature) {
  constexpr std::uint64_t kPeriod = 8;  // so many samples take each cell once
  const std::uint64_t variety = tests_all() ? 24 : 2;
  std::uint64_t cell = sample_number();
  std::uint64_t seed = 1000 * sample_number();
  for (const Capability& row : capabilities()) {
    if (row.name == "batches" || row.name == "far batches" || row.name == "matrix units") continue;
    for (const FeatureFacts& column : features()) {
      if (column.feature == Feature::Batches || column.feature == Feature::Parts ||
          row.to(column.feature) == Answer::Refused || row.to(column.feature) == Answer::Elsewhere)
        continue;
      if (row.name == "symmetric" && column.feature == Feature::ListedPairs) continue;  // refused on several ranks
      if (!tests_all() && ++cell % kPeriod != 0) continue;
      bool has_run = false;
      for (int tries = 0; tries < 8 && !has_run; ++tries) {
        const CrossedRun run = draw_crossed(row.name, column.feature, ++seed, variety);
        const CrossedText text = crossed_text(family_of(run.row, run.number), run.number);
        if (is_passed_over(run, text)) continue;
        expect_oracle(run, text);
        has_run = true;
      }
      if (tests_all()) EXPECT_TRUE(has_run) << "no run of " << row.name << " with " << column.name;
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace nbcc::test

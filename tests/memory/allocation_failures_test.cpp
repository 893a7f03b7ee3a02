// An allocation that fails, at every place of a sum on the CPU in turn, in every way to sum through the C interface:
// the status is that of memory, outputs are as they were, nothing is lost, and the next run of the same sum gives the
// same bits as ever. Kernels are there: Clang and LLVM end the program where they find no memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "runtime/api/nbcc.h"
#include "tests/memory/failing_allocations.h"
#include "tests/support/folders.h"

namespace nbcc::test {
namespace {

using Values = std::vector<double>;
using Indices = std::vector<std::int64_t>;

constexpr std::int64_t kCount = 1500;
constexpr double kNotWritten = -77;
constexpr int kEach = 50, kLater = 60;  // every one of the first, and about so many of those behind

constexpr const char* kText = R"(
input_i vec3 xi; input_j vec3 xj; param real rc = 0.2; output(sum) vec3 f; output(sum) real n;
vec3 dx = xj - xi; real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc || i_index == j_index);
f += (rc * rc - r2) * dx; n += 1.0;
)";
constexpr const char* kTableText = R"(
input_i vec3 xi; input_i int ti; input_j vec3 xj; input_j int tj; output(sum) vec3 f; output(sum) real n;
param real rc = 0.2; param real e[2][2] = {{1, 2}, {2, 4}};
vec3 dx = xj - xi; real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc || i_index == j_index);
f += (rc * rc - r2) * dx; n += e[ti][tj];
)";
constexpr const char* kNearestText =
    "input_i vec3 xi; input_j vec3 xj; output(argmin) index n; vec3 dx = xj - xi; n = argmin(n, dot(dx, dx));";

// The caller's lists.
const Indices kBatch = [] {
  Indices batch(kCount, 0);
  std::fill(batch.begin() + 700, batch.end(), 1);
  return batch;
}();
const Indices kRowFirst = [] {
  Indices first;
  for (std::int64_t i = 0; i <= kCount; ++i) first.push_back(2 * i);
  return first;
}();
const Indices kRowJ = [] {
  Indices j;
  for (std::int64_t k = 0; k < 2 * kCount; ++k) j.push_back(k * 7 % kCount);
  return j;
}();
const Indices kGroupFirst{0, 500, kCount}, kRangeFirst{0, 1, 3}, kBegin{0, 3, 900}, kEnd{kCount, 500, 950},
    kChosen{7, 3, 1400, 600, 601};
const Values kTwoReaches{0.2, 0.1};

// Calls of the interface, each of which may lack memory. `call` throws Failed for a status other than NBCC_OK.
struct Failed {
  nbcc_status status;
  std::string message;
};
template <typename Function, typename... Arguments>
void call(Function function, Arguments... arguments) {
  nbcc_error* error = nullptr;
  if (const nbcc_status status = function(arguments..., &error); status != NBCC_OK) {
    count_allocations();  // what follows is the test's
    const Failed failed{status, nbcc_error_message(error)};
    nbcc_error_free(error);
    throw failed;
  }
}

const std::function<void(nbcc_sum*)> kRun = [](nbcc_sum* sum) {
  call(nbcc_sum_run, sum, static_cast<const nbcc_run_options*>(nullptr));
};
struct Way {
  const char* name;
  std::function<void(nbcc_sum*)> prepare;
  const char* text = kText;
  std::function<void(nbcc_sum*)> run = kRun;
  bool stores_in_turn = false;  // a batch after the other
  bool keeps_param = false;     // rc is not the sum's
};

void run_with(nbcc_sum* sum, const std::function<void(nbcc_run_options&)>& choose) {
  nbcc_run_options options{};
  options.size = sizeof options;
  options.i_count = -1;
  choose(options);
  call(nbcc_sum_run, sum, static_cast<const nbcc_run_options*>(&options));
}

void set_pairs(nbcc_sum* sum, nbcc_pairs pairs) { call(nbcc_sum_set_pairs, sum, pairs); }
void set_batches(nbcc_sum* sum) {
  call(nbcc_sum_set_batches, sum, std::int64_t(2), kCount, kBatch.data(), kCount, kBatch.data());
}
void list_pairs(nbcc_sum* sum) {
  call(nbcc_sum_set_listed_pairs, sum, kCount, kRowFirst.data(), std::int64_t(kRowJ.size()), kRowJ.data());
}
void exclude(nbcc_sum* sum) {
  call(nbcc_sum_set_exclusions, sum, kCount, kRowFirst.data(), std::int64_t(kRowJ.size()), kRowJ.data());
}

const std::vector<Way>& ways() {
  const auto all = [](nbcc_sum* sum) { set_pairs(sum, NBCC_PAIRS_ALL); };
  const auto search = [](nbcc_sum* sum) { set_pairs(sum, NBCC_PAIRS_CUTOFF); };
  static const std::vector<Way> ways{
      {"all", all},
      {"search", search},
      {"kept",
       [=](nbcc_sum* sum) {
         search(sum);
         call(nbcc_sum_set_skin, sum, 0.02);
         call(nbcc_sum_keep_j, sum, 1);
       }},
      {"all_but_some",
       [=](nbcc_sum* sum) {
         all(sum);
         exclude(sum);
       }},
      {"search_but_some",
       [=](nbcc_sum* sum) {
         search(sum);
         exclude(sum);
       }},
      {"lists",
       [](nbcc_sum* sum) {
         nbcc_lists lists{};
         lists.size = sizeof lists;
         lists.groups = 2;
         lists.ranges = 3;
         lists.i_first = kGroupFirst.data();
         lists.range_first = kRangeFirst.data();
         lists.j_begin = kBegin.data();
         lists.j_end = kEnd.data();
         lists.j_count = kCount;
         call(nbcc_sum_set_lists, sum, static_cast<const nbcc_lists*>(&lists));
       }},
      {"listed_pairs", list_pairs},
      {"batches",
       [=](nbcc_sum* sum) {
         set_batches(sum);
         all(sum);
       }},
      {"batches_that_are_searched",
       [=](nbcc_sum* sum) {
         set_batches(sum);
         search(sum);
       },
       kText, kRun, true},
      {"params_of_batches",
       [=](nbcc_sum* sum) {
         set_batches(sum);
         all(sum);
         call(nbcc_sum_set_batch_param, sum, "rc", kTwoReaches.data(), std::int64_t(2));
       },
       kText, kRun, false, true},
      {"chosen", all, kText,
       [](nbcc_sum* sum) {
         run_with(sum, [](nbcc_run_options& options) {
           options.i_list = kChosen.data();
           options.i_count = std::int64_t(kChosen.size());
         });
       }},
      {"accumulates", search, kText,
       [](nbcc_sum* sum) { run_with(sum, [](nbcc_run_options& options) { options.accumulate = 1; }); }},
      {"parts", [](nbcc_sum*) {}, kText,
       [](nbcc_sum* sum) {
         for (const nbcc_part part : {NBCC_FIRST_PART, NBCC_LAST_PART})
           run_with(sum, [=](nbcc_run_options& options) { options.part = part; });
       }},
      {"tables", search, kTableText},
      {"tables_of_all_pairs", all, kTableText},
      {"nearest", search, kNearestText, kRun, false, true},
      {"neighbours", [](nbcc_sum*) {}, kText,
       [](nbcc_sum* sum) {
         nbcc_neighbour_list found{};
         found.size = sizeof found;
         call(nbcc_sum_find_neighbours, sum, &found);
         nbcc_neighbour_list_free(&found);
       }}};
  return ways;
}

// Two threads, and a cache of the tests' own.
nbcc_pipeline* open_pipeline(const char* text) {
  static nbcc_device* const device = [] {
    static const std::string cache = build_folder() + "/test-cache";
    nbcc_device_options options{};
    options.size = sizeof options;
    options.threads = 2;
    options.cache_dir = cache.c_str();
    nbcc_device* opened = nullptr;
    call(nbcc_device_open, "cpu", static_cast<const nbcc_device_options*>(&options), &opened);
    return opened;
  }();
  static std::map<const char*, nbcc_pipeline*> pipelines;
  nbcc_pipeline*& pipeline = pipelines[text];
  if (!pipeline)
    call(nbcc_pipeline_from_text, device, text, "memory.pipe", static_cast<const nbcc_pipeline_options*>(nullptr),
         &pipeline);
  return pipeline;
}

class AllocationFailures : public testing::TestWithParam<std::size_t> {
 protected:
  AllocationFailures() {
    std::mt19937_64 engine(1);
    for (double& one : x_) one = double(engine() % 4096) / 4096;
    for (std::int64_t k = 0; k < kCount; ++k) type_[std::size_t(k)] = double(k % 2);
  }
  void bind(nbcc_sum* sum) {
    nbcc_field field;
    for (int k = 0; nbcc_sum_field(sum, k, &field) == 0; ++k) {
      if (field.role == NBCC_PARAM) continue;
      const bool is_place = field.name[0] == 'x', is_type = field.name[0] == 't', is_f = field.name[0] == 'f';
      void* const data = is_place         ? x_.data()
                         : is_type        ? type_.data()
                         : is_f           ? f_.data()
                         : field.integral ? static_cast<void*>(index_.data())
                                          : n_.data();
      const nbcc_view view{data, field.integral && !is_type ? NBCC_INT64 : NBCC_DOUBLE_ELEMENT, kCount,
                           8 * field.components, 8};
      call(nbcc_sum_bind, sum, field.name, &view);
    }
  }
  // From the making of a sum to its second run, which begins with what the first has left.
  void use(const Way& way, nbcc_sum*& sum) {
    call(nbcc_sum_create, pipeline_, &sum);
    bind(sum);
    way.prepare(sum);
    run_once(way, sum);
    if (way.text != kNearestText) call(nbcc_sum_set_param, sum, "rc", &kReach, 1);
    run_once(way, sum);
  }
  void run_once(const Way& way, nbcc_sum* sum) {
    runs_ = false;
    std::ranges::fill(f_, kNotWritten);
    std::ranges::fill(n_, kNotWritten);
    std::ranges::fill(index_, std::int64_t(kNotWritten));
    runs_ = true;
    way.run(sum);
    runs_ = false;
  }
  // Outputs, if a run has failed.
  bool is_untouched() const {
    if (!runs_) return true;
    const auto is_old = [](const auto value) { return double(value) == kNotWritten; };
    return std::ranges::all_of(f_, is_old) && std::ranges::all_of(n_, is_old) && std::ranges::all_of(index_, is_old);
  }

  static constexpr double kReach = 0.15;
  nbcc_pipeline* pipeline_ = nullptr;
  bool runs_ = false;  // a run has begun and not succeeded
  Values x_ = Values(3 * kCount), type_ = Values(kCount), f_ = Values(3 * kCount), n_ = Values(kCount);
  Indices index_ = Indices(kCount);
};

// Bits of all outputs.
struct Results {
  Values f, n;
  Indices index;
  bool operator==(const Results&) const = default;
};

TEST_P(AllocationFailures, LeaveNothingWrongBehind) {
  const Way& way = ways()[GetParam()];
  pipeline_ = open_pipeline(way.text);
  nbcc_sum* sum = nullptr;
  call(nbcc_sum_create, pipeline_, &sum);
  bind(sum);
  way.prepare(sum);
  run_once(way, sum);
  const Results first{f_, n_, index_};
  nbcc_sum_destroy(sum);
  // What the process makes once is made here.
  int count = 0;
  Results second;
  for (int times = 0; times < 2; ++times) {
    fail_allocation(0);
    ASSERT_NO_THROW(use(way, sum));
    count = count_allocations();
    nbcc_sum_destroy(sum);
    second = {f_, n_, index_};
  }
  int trials = 0, failures = 0;
  for (int k = 1; k <= count; k += k < kEach ? 1 : std::max(1, (count - kEach) / kLater)) {
    SCOPED_TRACE(std::string(way.name) + ": allocation " + std::to_string(k) + " of " + std::to_string(count));
    const long held = blocks_held();
    sum = nullptr;
    runs_ = false;
    bool failed = false;
    fail_allocation(k);
    try {
      use(way, sum);
    } catch (const Failed& e) {
      failed = true;
      EXPECT_EQ(e.status, NBCC_ERROR_DEVICE);
      // Empty where the message found no memory.
      EXPECT_TRUE(e.message.empty() || e.message == "out of memory") << e.message;
    }
    count_allocations();
    ++trials;
    failures += failed;
    if (!failed) {
      EXPECT_EQ((Results{f_, n_, index_}), second) << "what is done without the memory";
    } else if (sum) {
      EXPECT_TRUE(is_untouched() || way.stores_in_turn) << "outputs of a run that failed";
      bind(sum);
      way.prepare(sum);
      const double reach = 0.2;
      if (!way.keeps_param) call(nbcc_sum_set_param, sum, "rc", &reach, 1);
      run_once(way, sum);
      EXPECT_EQ((Results{f_, n_, index_}), first) << "the next run";
    }
    nbcc_sum_destroy(sum);
    EXPECT_EQ(blocks_held(), held) << "memory is left";
    if (HasFailure()) return;
  }
  // Threads that cannot be made, and sorting without a buffer, are no failures.
  EXPECT_GT(failures, trials / 2) << "of " << trials;
}

std::string name_of(const testing::TestParamInfo<std::size_t>& info) { return ways()[info.param].name; }
INSTANTIATE_TEST_SUITE_P(EveryWay, AllocationFailures, testing::Range(std::size_t(0), ways().size()), name_of);

}  // namespace
}  // namespace nbcc::test

// Pairs within a cutoff on a GPU: the bits of the host's, in every order of blocks and threads, in a captured stream.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/api/nbcc.h"
#include "runtime/cuda/pairs/cuda_pair_search.h"
#include "runtime/cuda/program/cuda_arguments.h"
#include "runtime/error.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/device_array.h"
#include "tests/support/installed_nvrtc.h"
#include "tests/support/on_gpu.h"

namespace nbcc::test {
namespace {

using namespace pair_search;

void in_turn(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t k = 0; k < count; ++k) body(k);
}

// What a caller asks for, with arrays of its own.
struct Asked {
  std::vector<double> x, y, cells, cutoff_of_i, table;
  std::vector<int> periodic;
  std::vector<Index> batch, y_batch, type, excluded_first, excluded_j;
  Index systems = 1;
  double cutoff = 1;
  bool half = false, self = false, inclusive = false;
};
struct Found {
  Index count = 0;
  std::vector<Index> i, j, first, told;
  std::vector<int> shifts;
  bool operator==(const Found&) const = default;
};

// Arrays on the host or on a GPU.
class Arrays {
 public:
  explicit Arrays(const CudaGpu* gpu) : gpu_(gpu) {}
  template <typename T>
  T* put(std::vector<T>& numbers) {
    if (numbers.empty()) return nullptr;
    if (!gpu_) return numbers.data();
    there_.push_back(std::make_unique<DeviceArray>(*gpu_, sizeof(T) * numbers.size()));
    there_.back()->put(numbers.data(), sizeof(T) * numbers.size());
    return static_cast<T*>(there_.back()->data());
  }
  template <typename T>
  void get(std::vector<T>& numbers, const T* from) const {
    if (gpu_ && !numbers.empty()) of(from).get(numbers.data(), sizeof(T) * numbers.size());
  }
  DeviceArray& of(const void* data) const {
    return **std::ranges::find_if(there_, [data](const auto& array) { return array->data() == data; });
  }

 private:
  const CudaGpu* gpu_;
  std::vector<std::unique_ptr<DeviceArray>> there_;
};

template <typename T>
Side side_of(std::vector<T>& x, std::vector<Index>& batch, std::vector<Index>& type, Arrays& arrays) {
  Side side = {};
  side.x = reinterpret_cast<const char*>(arrays.put(x));
  side.stride = 3 * sizeof(T);
  side.component_stride = sizeof(T);
  side.count = Index(x.size() / 3);
  side.system = arrays.put(batch);
  side.type = arrays.put(type);
  return side;
}

// `capacity`: -1: the number of pairs.
template <typename T>
Found search(PairSearch& with, Asked asked, const CudaGpu* gpu, Index capacity = -1) {
  Arrays arrays(gpu);
  std::vector<T> x(asked.x.begin(), asked.x.end()), y(asked.y.begin(), asked.y.end());
  Search query = {};
  query.side[1] = side_of(x, asked.batch, asked.type, arrays);
  query.one_set = y.empty();
  query.side[0] = y.empty() ? query.side[1] : side_of(y, asked.y_batch, asked.type, arrays);
  query.half = asked.half;
  query.self = asked.self;
  query.inclusive = asked.inclusive;
  query.systems = asked.systems;
  query.cells = arrays.put(asked.cells);
  query.periodic = arrays.put(asked.periodic);
  query.cutoff = asked.cutoff;
  query.cutoff_of_i = arrays.put(asked.cutoff_of_i);
  query.cutoff_of_types = arrays.put(asked.table);
  query.types = asked.table.empty() ? 0 : 2;
  query.excluded_first = arrays.put(asked.excluded_first);
  query.excluded_j = arrays.put(asked.excluded_j);
  Found found;
  found.count = with.search(query, sizeof(T) == 8, nullptr, true, {});
  const auto room = std::size_t(capacity < 0 ? found.count : capacity);
  found.i.resize(room + 1), found.j.resize(room + 1), found.shifts.resize(3 * room + 3);
  found.first.resize(x.size() / 3 + 1), found.told.resize(1);
  PairOutput output{Index(room),
                    arrays.put(found.i),
                    arrays.put(found.j),
                    arrays.put(found.shifts),
                    arrays.put(found.first),
                    arrays.put(found.told)};
  with.store(output);
  arrays.get(found.i, output.i), arrays.get(found.j, output.j), arrays.get(found.shifts, output.shifts);
  arrays.get(found.first, output.first), arrays.get(found.told, output.count);
  EXPECT_EQ(found.told[0], found.count);
  return found;
}

std::vector<double> uniform(std::size_t count, double low, double high, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> numbers(count);
  for (double& x : numbers) x = std::uniform_real_distribution<double>(low, high)(random);
  return numbers;
}

const std::vector<double> kSlanted{4, 0, 0, 7.5, 3, 0, -3, 8, 4}, kTiny{0.9, 0, 0, 0, 1.1, 0, 0, 0, 1.3},
    kLeftHanded{0, 5, 0, 4.5, 0, 0, 0, 0, 6};

std::vector<Asked> cases() {
  std::vector<Asked> all(14);
  all[0].x = uniform(3 * 300, 0, 5, 1);  // open
  all[1].x = uniform(3 * 150, -6, 9, 2), all[1].cells = kSlanted, all[1].cutoff = 1.7;
  all[2].x = uniform(3 * 8, -6, 9, 3), all[2].cells = kTiny, all[2].cutoff = 2.9, all[2].self = true;  // long rows
  all[3].x = uniform(3 * 90, -6, 9, 4), all[3].cells = kLeftHanded, all[3].half = true, all[3].periodic = {1, 0, 1};
  all[4].x = uniform(3 * 100, -6, 9, 5), all[4].y = uniform(3 * 70, -9, 20, 6), all[4].cells = kSlanted;
  all[4].cutoff = 2;
  Asked& batches = all[5];
  batches.x = uniform(3 * 400, -2, 6, 7), batches.systems = 300, batches.cutoff = 1.5;
  for (Index k = 0; k < 400; ++k) batches.batch.push_back(k % 3 == 0 ? 7 : k % 290);
  for (int k = 0; k < 300; ++k) {
    const std::vector<double>& cell = k % 3 == 0 ? kSlanted : k % 3 == 1 ? kTiny : kLeftHanded;
    batches.cells.insert(batches.cells.end(), cell.begin(), cell.end());
    for (int axis = 0; axis < 3; ++axis) batches.periodic.push_back((k >> axis & 1) != 0);
  }
  all[6].x = uniform(3 * 100, 0, 5, 8), all[6].cutoff_of_i = uniform(100, 0, 2, 9), all[6].cutoff = 2;
  all[7].x = uniform(3 * 100, 0, 5, 10), all[7].table = {1, 2, 2, 0}, all[7].cutoff = 2;
  for (Index k = 0; k < 100; ++k) all[7].type.push_back(k % 2);
  all[8].x = uniform(3 * 100, 0, 4, 11), all[8].cutoff = 1.2;
  for (Index k = 0; k <= 100; ++k) all[8].excluded_first.push_back(k);
  for (Index k = 0; k < 100; ++k) all[8].excluded_j.push_back((k + 1) % 100);
  // More bins than particles.
  all[9].x = uniform(3 * 400, -2, 2, 12), all[9].cells = {4e3, 0, 0, 7.5e3, 3e3, 0, -3e3, 8e3, 4e3};
  all[10].x = uniform(3 * 100, 0, 3, 13), all[10].y = uniform(3 * 300, 0, 3, 14);
  for (std::size_t k = 0; k < 100; ++k) all[10].x[k] += 1e4, all[10].y[k] += 1e4;
  all[11].x = uniform(3 * 300, 0, 40, 15), all[11].cells = {40, 0, 0, 0, 40, 0, 0, 0, 40}, all[11].cutoff = 1.5;
  all[12].x = uniform(3 * 5, -0.7, 0.7, 16), all[12].cells = {100, 0, 0, 0, 100, 0, 0, 0, 100};
  // A lattice, whose spacing is the cutoff.
  all[13].inclusive = true, all[13].cells = {3, 0, 0, 0, 3, 0, 0, 0, 3};
  for (int k = 0; k < 27; ++k) all[13].x.insert(all[13].x.end(), {k % 3 + 0.0, k / 3 % 3 + 0.0, k / 9 + 0.0});
  return all;
}

class PairSearchOnShim : public testing::Test {
 protected:
  PairSearchOnShim() { shim_.allow_minus_one(); }
  CudaShim shim_;
};

TEST_F(PairSearchOnShim, gpu_and_host_find_the_same_pairs) {
  using Kind = ShimOrder::Kind;
  CudaDevice device(shim_.driver(), shim_.compiler(), 0, "", "");
  const auto here = host_pair_search(in_turn), there = cuda_pair_search(device);
  for (const ShimOrder order : {ShimOrder{Kind::Forward}, ShimOrder{Kind::Backward}, ShimOrder{Kind::Shuffled, 5}}) {
    shim_.set_block_order(order);
    shim_.set_thread_order(order);
    std::size_t number = 0;
    for (const Asked& asked : cases()) {
      SCOPED_TRACE(number++);
      const Found expected = search<double>(*here, asked, nullptr);
      EXPECT_GT(expected.count, 10);
      EXPECT_EQ(search<double>(*there, asked, &device.gpu()), expected);
      const Found in_floats = search<float>(*here, asked, nullptr);
      EXPECT_GT(in_floats.count, 10);
      EXPECT_EQ(search<float>(*there, asked, &device.gpu()), in_floats);
      for (const Index capacity : {Index(0), expected.count / 2, expected.count + 100})
        EXPECT_EQ(search<double>(*there, asked, &device.gpu(), capacity),
                  search<double>(*here, asked, nullptr, capacity));
    }
  }
}

TEST_F(PairSearchOnShim, a_captured_search_finds_the_pairs_of_each_replay) {
  CudaDevice device(shim_.driver(), shim_.compiler(), 0, "", "");
  const auto here = host_pair_search(in_turn), there = cuda_pair_search(device);
  const CudaContextGuard guard(device.gpu());
  CudaOwnStream stream(device.gpu());
  constexpr Index kCapacity = 400;
  std::vector<double> x = uniform(3 * 100, 0, 5, 1);
  Arrays arrays(&device.gpu());
  std::vector<Index> none, i(kCapacity), j(kCapacity), first(101), count(1);
  std::vector<int> shifts(3 * kCapacity);
  Search query = {};
  query.side[0] = query.side[1] = side_of(x, none, none, arrays);
  query.one_set = 1;
  query.systems = 1;
  query.cutoff = 1;
  const PairOutput output{kCapacity,          arrays.put(i),     arrays.put(j),
                          arrays.put(shifts), arrays.put(first), arrays.put(count)};
  const auto capture = [&](bool waits) -> std::string {
    shim_.begin_capture(stream.get());
    std::string failure;
    try {
      there->search(query, true, stream.get(), waits, {});
      there->store(output);
    } catch (const DeviceError& error) {
      failure = error.what();
    }
    shim_.end_capture(stream.get());
    return failure;
  };
  EXPECT_NE(capture(false).find("first search of doubles compiles its kernels"), std::string::npos);
  there->search(query, true, stream.get(), true, {});
  for (Side& side : query.side) side.count = 1000000;
  EXPECT_NE(capture(false).find("search once before the capture, for as many particles"), std::string::npos);
  for (Side& side : query.side) side.count = 100;
  EXPECT_NE(capture(true).find("give a capacity"), std::string::npos);
  ASSERT_EQ(capture(false), "");
  Asked asked;
  for (unsigned seed = 2; seed < 5; ++seed) {
    // In the last replay there are more pairs than the capacity.
    asked.x = uniform(3 * 100, 0, seed == 4 ? 2 : 5, seed);
    arrays.of(query.side[0].x).put(asked.x.data(), 8 * asked.x.size());
    shim_.replay(stream.get());
    device.gpu().synchronize(stream.get());
    arrays.get(i, output.i), arrays.get(j, output.j), arrays.get(count, output.count);
    const Found expected = search<double>(*here, asked, nullptr, kCapacity);
    EXPECT_EQ(expected.count > kCapacity, seed == 4);
    EXPECT_EQ(count[0], expected.count);
    EXPECT_TRUE(std::equal(i.begin(), i.end(), expected.i.begin()));
    EXPECT_TRUE(std::equal(j.begin(), j.end(), expected.j.begin()));
  }
  asked.x[5] = std::numeric_limits<double>::infinity();
  arrays.of(query.side[0].x).put(asked.x.data(), 8 * asked.x.size());
  shim_.replay(stream.get());
  arrays.get(count, output.count);
  EXPECT_EQ(count[0], -1);
}

TEST(PairSearch, pairs_at_the_cutoff_are_found_if_it_is_inclusive) {
  const auto here = host_pair_search(in_turn);
  Asked asked = cases()[13];
  for (const bool of_each : {false, true}) {
    asked.cutoff_of_i = std::vector<double>(of_each ? 27 : 0, 1.0);
    for (const bool inclusive : {false, true}) {
      asked.inclusive = inclusive;
      EXPECT_EQ(search<double>(*here, asked, nullptr).count, inclusive ? 6 * 27 : 0);
      EXPECT_EQ(search<float>(*here, asked, nullptr).count, inclusive ? 6 * 27 : 0);
    }
  }
}

class PairSearchOnGpu : public OnGpu {};

TEST_F(PairSearchOnGpu, gpu_and_host_find_the_same_pairs) {
  const auto here = host_pair_search(in_turn), there = cuda_pair_search(*device_);
  std::size_t number = 0;
  for (const Asked& asked : cases()) {
    SCOPED_TRACE(number++);
    EXPECT_EQ(search<double>(*there, asked, &gpu()), search<double>(*here, asked, nullptr));
    EXPECT_EQ(search<float>(*there, asked, &gpu()), search<float>(*here, asked, nullptr));
  }
}

template <typename T>
std::string failure(PairSearch& with, const Asked& asked, const CudaGpu* gpu) {
  try {
    search<T>(with, asked, gpu);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_F(PairSearchOnShim, errors_are_those_of_the_host) {
  CudaDevice device(shim_.driver(), shim_.compiler(), 0, "", "");
  const auto here = host_pair_search(in_turn), there = cuda_pair_search(device);
  struct Case {
    std::function<void(Asked&)> change;
    std::string expected;
  };
  const std::vector<double> cube{1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::vector<Case> all{
      {[](Asked& a) { a.x[13] = std::numeric_limits<double>::quiet_NaN(); }, "particle 4 of x: expected a finite"},
      {[](Asked& a) { a.x[13] = 1.2e308; }, "within 1e+90 along open axes, got (0"},
      {[&](Asked& a) { a.cells = cube, a.x[13] = 0x1p29; }, "less than 2^29 cells away"},
      {[](Asked& a) { a.cells = std::vector<double>(9, 1.0); },
       "cell 0: expected finite vectors that are independent "
       "along the periodic axes, got (1, 1, 1), (1, 1, 1), "
       "(1, 1, 1)"},
      {[](Asked& a) { a.cells = {1, 0, 0, 0, 1, 0, 0, 0, 1e-3}, a.cutoff = 0.9995; },
       "of less than 999 cells along an "
       "axis, got 999.5 cells"},
      {[](Asked& a) { a.batch = {0, 0, 1, 0, 0, 0, 0, 2, 0, 0}, a.systems = 2; },
       "particle 7 of x: expected a batch "
       "from 0 to 1, got 2"},
      {[](Asked& a) { a.cutoff_of_i = std::vector<double>(10, 1.0), a.cutoff_of_i[3] = 1.5; },
       "particle 3 of x: expected a cutoff of 0, or 1.49e-154 to 1, the largest one, got 1.5"},
      {[](Asked& a) { a.cutoff_of_i = std::vector<double>(10, 1.0), a.cutoff_of_i[2] = -1; }, "got -1"},
      // Its square is 0, so that particles at one position would be no pair.
      {[](Asked& a) { a.cutoff_of_i = std::vector<double>(10, 1.0), a.cutoff_of_i[2] = 1e-170; }, "got 1e-170"},
      {[](Asked& a) { a.table = {1, 1, 2, 1}, a.type = std::vector<Index>(10, 1); },
       "cutoff of types 1 and 0: expected 0, or 1.49e-154 to 1, the largest cutoff, got 2"},
      {[](Asked& a) { a.table = {1, 1, 1, 1}, a.type = std::vector<Index>(10, 1), a.type[9] = 900000000000; },
       "particle 9 of x: expected a type from 0 to 1, got 900000000000"},
      {[](Asked& a) { a.excluded_first = std::vector<Index>(11, 0); }, "expected excluded_j with excluded_first"},
      {[](Asked& a) { a.cutoff = 1e-170; }, "got 1e-170"},
      {[](Asked& a) { a.cutoff = 1e160; }, "expected a cutoff from 1.49e-154 to 1.34e+154"}};
  for (const Case& one : all) {
    SCOPED_TRACE(one.expected);
    Asked asked;
    asked.x = uniform(30, 0, 1, 1);
    one.change(asked);
    const std::string message = failure<double>(*here, asked, nullptr);
    EXPECT_NE(message.find(one.expected), std::string::npos) << message;
    EXPECT_EQ(failure<double>(*there, asked, &device.gpu()), message);
    for (PairSearch* after : {here.get(), there.get()}) EXPECT_THROW(after->store({}), UsageError);
  }
  Asked asked;
  asked.x = uniform(30, 0, 1, 1), asked.cutoff = 1e-23;
  EXPECT_NE(failure<float>(*here, asked, nullptr).find("from 1.08e-19 to 1.84e+19"), std::string::npos);
  // A search after one that has failed.
  EXPECT_EQ(search<double>(*there, cases()[1], &device.gpu()), search<double>(*here, cases()[1], nullptr));
}

TEST(PairSearch, pairs_are_stored_after_a_search) {
  const auto here = host_pair_search(in_turn);
  EXPECT_THROW(here->store({}), UsageError);
}

TEST_F(PairSearchOnShim, positions_far_outside_are_wrapped_into_the_cell) {
  CudaDevice device(shim_.driver(), shim_.compiler(), 0, "", "");
  const auto here = host_pair_search(in_turn), there = cuda_pair_search(device);
  Asked asked;
  asked.cells = {0.7, 0, 0, 0, 0.7, 0, 0, 0, 0.7}, asked.cutoff = 1e-10, asked.self = true;
  for (const double cells : uniform(300, -5e8, 5e8, 1))
    asked.x.insert(asked.x.end(), {std::floor(cells) * 0.7, 0.3, 0.3});
  const Found found = search<double>(*here, asked, nullptr);
  std::size_t selves = 0;
  for (std::size_t p = 0; p < std::size_t(found.count); ++p) selves += found.i[p] == found.j[p] ? 1 : 0;
  EXPECT_EQ(selves, 300u);
  EXPECT_EQ(search<double>(*there, asked, &device.gpu()), found);
  asked.self = false;
  EXPECT_EQ(search<double>(*there, asked, &device.gpu()).count, found.count - 300);
  // The largest shifts.
  asked.cells = {1, 0, 0, 0, 1, 0, 0, 0, 1}, asked.cutoff = 0.1;
  asked.x = {0x1p29 - 0.75, 0.5, 0.5, -0x1p29 + 0.25, 0.5, 0.5};
  const Found two = search<double>(*here, asked, nullptr);
  ASSERT_EQ(two.count, 2);
  EXPECT_EQ(two.shifts[0], (1 << 30) - 1);
  EXPECT_EQ(two.shifts[3], 1 - (1 << 30));
  EXPECT_EQ(search<double>(*there, asked, &device.gpu()), two);
}

TEST_F(PairSearchOnShim, open_axes_may_be_long_or_short) {
  CudaDevice device(shim_.driver(), shim_.compiler(), 0, "", "");
  const auto here = host_pair_search(in_turn), there = cuda_pair_search(device);
  for (const double place : {1e30, -1e89, 5e-324}) {
    SCOPED_TRACE(place);
    Asked asked;
    asked.x = {place, 0, 0, place, 0.5, 0, 0, 3, 0, 0, 3.5, 0};
    const Found found = search<double>(*here, asked, nullptr);
    EXPECT_EQ(found.count, 4);
    EXPECT_EQ(search<double>(*there, asked, &device.gpu()), found);
  }
}

TEST(PairSearch, particles_in_a_corner_of_a_large_cell_have_the_pairs_of_open_space) {
  const auto here = host_pair_search(in_turn);
  Asked asked;
  for (const std::size_t count : {1u, 2u, 100u, 300u, 1000u}) {
    SCOPED_TRACE(count);
    asked.x = uniform(3 * count, -2, 2, 12), asked.self = true;
    asked.cells.clear();
    const Found open = search<double>(*here, asked, nullptr);
    asked.cells = {4e3, 0, 0, 7.5e3, 3e3, 0, -3e3, 8e3, 4e3};
    const Found in_cell = search<double>(*here, asked, nullptr);
    EXPECT_EQ(in_cell.i, open.i);
    EXPECT_EQ(in_cell.j, open.j);
    asked.cells = {1e30, 0, 0, 0, 1e15, 0, 0, 0, 1e30};
    const Found in_long_cell = search<double>(*here, asked, nullptr);
    EXPECT_EQ(in_long_cell.i, open.i);
    EXPECT_EQ(in_long_cell.j, open.j);
  }
}

TEST_F(PairSearchOnShim, numbers_of_pairs_are_added_up_in_64_bits) {
  CudaDevice device(shim_.driver(), shim_.compiler(), 0, "", "");
  const CudaGpu& gpu = device.gpu();
  const CudaContextGuard guard(gpu);
  const auto kernel = std::static_pointer_cast<const CudaKernel>(device.load(pair_search_source("float")));
  Arrays arrays(&gpu);
  Index count = 5000, blocks = 3;
  std::vector<unsigned> numbers(5000, unsigned(kMaxRow));
  std::vector<Index> sums(3), first(5001);
  const unsigned* const from = arrays.put(numbers);
  Index *const sums_there = arrays.put(sums), *const first_there = arrays.put(first);
  const unsigned* const none = nullptr;
  const auto launch = [&](const char* name, unsigned grid, std::vector<const void*> arguments) {
    std::vector<void*> addresses;
    for (const void* one : arguments) addresses.push_back(const_cast<void*>(one));
    launch_kernel(gpu, kernel->program().find(name), name, grid, 1, kThreads, addresses.data(), nullptr, false);
  };
  launch("nbcc_pairs_scan_sums", 3, {&from, &count, &sums_there});
  launch("nbcc_pairs_scan_top", 1, {&sums_there, &blocks});
  launch("nbcc_pairs_scan_store", 3, {&from, &count, &sums_there, &none, &first_there});
  arrays.get(first, first_there);
  for (Index k = 0; k <= count; ++k) ASSERT_EQ(first[std::size_t(k)], k * kMaxRow) << k;
}

TEST(PairSearch, c_arguments_are_checked) {
  nbcc_device* device = nullptr;
  nbcc_pair_search* search = nullptr;
  ASSERT_EQ(nbcc_device_open("cpu", nullptr, &device, nullptr), NBCC_OK);
  ASSERT_EQ(nbcc_pair_search_create(device, &search, nullptr), NBCC_OK);
  double x[6] = {0, 0, 0, 0.5, 0, 0};
  const auto failure_of = [&](const std::function<void(nbcc_pair_query&)>& change) -> std::string {
    nbcc_pair_query query = {};
    query.size = sizeof query;
    query.x.data = x, query.x.element = NBCC_DOUBLE_ELEMENT, query.x.count = 2;
    query.x.stride = 24, query.x.component_stride = 8;
    query.cutoff = 1;
    change(query);
    std::int64_t count = 0;
    nbcc_error* error = nullptr;
    if (nbcc_pair_search_run(search, &query, &count, &error) == NBCC_OK) return "";
    const std::string message = nbcc_error_message(error);
    nbcc_error_free(error);
    return message;
  };
  EXPECT_EQ(failure_of([](nbcc_pair_query&) {}), "");
  const auto expect = [&](const char* part, const std::function<void(nbcc_pair_query&)>& change) {
    const std::string message = failure_of(change);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect("x: expected positions of 2 particles", [](nbcc_pair_query& q) { q.x.data = nullptr; });
  expect("y: expected positions of 7 particles", [](nbcc_pair_query& q) { q.y.count = 7; });
  expect("2^31 - 1 batches, got 2147483648", [](nbcc_pair_query& q) { q.batches = 1ll << 31; });
  std::int64_t type[2] = {0, 0};
  expect("1 to 65535 types, got 0", [&](nbcc_pair_query& q) { q.cutoff_of_types = x, q.i_type = type; });
  nbcc_pair_search_destroy(search);
  nbcc_device_close(device);
}

TEST_F(PairSearchOnShim, nvrtc_compiles_the_kernels) {
  NBCC_NEEDS_NVRTC();
  for (const char* real : {"float", "double"})
    for (const char* architecture : {"sm_75", "sm_90"})
      EXPECT_FALSE(installed_nvrtc()->compile(pair_search_source(real).first().source, architecture, {}).image.empty());
}

}  // namespace
}  // namespace nbcc::test

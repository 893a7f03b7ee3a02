// PairSearch of nbcc.hpp: pairs against all pairs and images, the caller's arrays, arguments that are refused, a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/api/handles.h"
#include "runtime/api/nbcc.hpp"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/cuda_shim.h"

namespace nbcc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> uniform(std::size_t count, double high) {
  std::mt19937_64 random(1);
  std::vector<double> numbers(count);
  for (double& x : numbers) x = std::uniform_real_distribution<double>(0, high)(random);
  return numbers;
}

const std::vector<double> kCell{4, 0, 0, 1.5, 3, 0, -1, 2, 4};

// All pairs of x and y, with images of up to 3 cells along the periodic axes, without pairs of a particle and itself.
PairList brute(const std::vector<double>& x, const std::vector<double>& y, double cutoff, std::array<int, 3> periodic) {
  PairList found;
  found.first.push_back(0);
  for (std::size_t i = 0; i < x.size() / 3; ++i) {
    for (std::size_t j = 0; j < y.size() / 3; ++j) {
      for (int k = 0; k < 7 * 7 * 7; ++k) {
        const std::array<int, 3> shift{k / 49 - 3, k / 7 % 7 - 3, k % 7 - 3};
        double square = 0;
        bool exists = &x != &y || i != j || k != 3 * 57;
        for (std::size_t c = 0; c < 3; ++c) {
          double away = y[3 * j + c] - x[3 * i + c];
          for (std::size_t axis = 0; axis < 3; ++axis) away += shift[axis] * kCell[3 * axis + c];
          square += away * away;
          exists = exists && (periodic[c] || shift[c] == 0);
        }
        if (!exists || square >= cutoff * cutoff) continue;
        found.i.push_back(std::int64_t(i));
        found.j.push_back(std::int64_t(j));
        found.shifts.insert(found.shifts.end(), shift.begin(), shift.end());
      }
    }
    found.first.push_back(std::int64_t(found.i.size()));
  }
  return found;
}

void expect_equal(const PairList& found, const PairList& expected) {
  EXPECT_GT(found.i.size(), 10u);
  EXPECT_EQ(found.i, expected.i);
  EXPECT_EQ(found.j, expected.j);
  EXPECT_EQ(found.first, expected.first);
  EXPECT_EQ(found.shifts, expected.shifts);
}

TEST(PairSearch, finds_every_image_in_periodic_and_open_cells) {
  const Device device;
  PairSearch search(device);
  const std::vector<double> x = uniform(3 * 20, 4), y = uniform(3 * 7, 3);
  expect_equal(search.find(x, {.cutoff = 3, .cells = kCell}), brute(x, x, 3, {1, 1, 1}));
  const std::vector<std::int32_t> periodic{1, 0, 1};
  expect_equal(search.find(x, {.cutoff = 2, .cells = kCell, .periodic = periodic}), brute(x, x, 2, {1, 0, 1}));
  expect_equal(search.find(x, {.cutoff = 2}), brute(x, x, 2, {0, 0, 0}));
  expect_equal(search.find(x, {.cutoff = 2, .cells = kCell, .y = rows(y, 3)}), brute(x, y, 2, {1, 1, 1}));
}

TEST(PairSearch, passes_every_part_of_the_query) {
  const Device device;
  PairSearch search(device);
  // Four particles on a line, with distances of 1.
  const std::vector<float> x{0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0}, none;
  const auto j_of = [&](PairQuery query) {
    query.cutoff = 1.5;
    return search.find(x, query).j;
  };
  EXPECT_THAT(j_of({}), ElementsAre(1, 0, 2, 1, 3, 2));
  EXPECT_THAT(j_of({.half = true}), ElementsAre(1, 2, 3));
  EXPECT_THAT(j_of({.self = true}), ElementsAre(0, 1, 0, 1, 2, 1, 2, 3, 2, 3));
  EXPECT_THAT(j_of({.y = rows(none, 3)}), ElementsAre());
  const std::vector<std::int64_t> batch{0, 0, 1, 1}, y_batch{1, 1, 0, 0};
  EXPECT_THAT(j_of({.batches = 2, .i_batch = batch}), ElementsAre(1, 0, 3, 2));
  EXPECT_THAT(j_of({.y = rows(x, 3), .batches = 2, .i_batch = batch, .j_batch = y_batch}), ElementsAre(2, 1));
  EXPECT_THAT(j_of({.cutoff_of_i = std::array{1.5, 0.5, 1.5, 0.5}}), ElementsAre(1, 1, 3));
  const std::vector<double> table{1.5, 0.5, 1.5, 1.5};
  EXPECT_THAT(j_of({.cutoff_of_types = table, .i_type = batch}), ElementsAre(1, 0, 1, 3, 2));
  EXPECT_THAT(j_of({.y = rows(x, 3), .cutoff_of_types = table, .i_type = batch, .j_type = y_batch}),
              ElementsAre(0, 1, 2, 1, 2, 3, 2, 3));
  const std::vector<std::int64_t> first{0, 1, 1, 2, 2}, excluded{1, 3};
  EXPECT_THAT(j_of({.excluded_first = first, .excluded_j = excluded}), ElementsAre(0, 2, 1, 2));
}

TEST(PairSearch, stores_in_arrays_of_the_caller) {
  const Device device;
  PairSearch search(device);
  const std::vector<double> x{0, 0, 0, 1, 0, 0, 2, 0, 0};
  EXPECT_EQ(search.run(rows(x, 3), {.cutoff = 1.5}), 4);
  std::vector<std::int64_t> i(5), j(5), count(1);
  nbcc_pair_arrays arrays{};
  arrays.capacity = 5, arrays.i = i.data(), arrays.j = j.data(), arrays.count = count.data();
  search.store(arrays);
  EXPECT_THAT(i, ElementsAre(0, 1, 1, 2, 3));
  EXPECT_THAT(j, ElementsAre(1, 0, 2, 1, 3));
  EXPECT_EQ(count[0], 4);
  search.run_without_count(rows(x, 3), {.cutoff = 1.5, .half = true});
  search.store(arrays);
  EXPECT_THAT(i, ElementsAre(0, 1, 3, 3, 3));
  EXPECT_EQ(count[0], 2);
}

TEST(PairSearch, refuses_arrays_of_other_sizes_and_passes_errors_on) {
  const Device device;
  PairSearch search(device);
  const std::vector<double> x(3 * 4);
  const auto message = [&](const PairQuery& query) -> std::string {
    try {
      search.find(x, query);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), NBCC_ERROR_USAGE);
      return error.what();
    }
    return "no error";
  };
  const std::vector<double> three(3);
  const std::vector<std::int64_t> five(5);
  const std::vector<std::int32_t> two(2);
  EXPECT_EQ(message({.cutoff = 1, .cells = three}), "neighbours: cells: expected 9 numbers, got 3");
  EXPECT_EQ(message({.cutoff = 1, .cells = kCell, .batches = 2}), "neighbours: cells: expected 18 numbers, got 9");
  EXPECT_EQ(message({.cutoff = 1, .periodic = two}), "neighbours: periodic: expected 3 numbers, got 2");
  EXPECT_EQ(message({.cutoff = 1, .i_batch = five}), "neighbours: i_batch: expected 4 numbers, got 5");
  EXPECT_EQ(message({.cutoff = 1, .y = rows(three, 3), .j_batch = five}),
            "neighbours: j_batch: expected 1 numbers, got 5");
  EXPECT_EQ(message({.cutoff = 1, .cutoff_of_i = three}), "neighbours: cutoff_of_i: expected 4 numbers, got 3");
  EXPECT_EQ(message({.cutoff = 1, .cutoff_of_types = three}), "neighbours: cutoff_of_types: expected 4 numbers, got 3");
  EXPECT_EQ(message({.cutoff = 1, .i_type = five}), "neighbours: i_type: expected 4 numbers, got 5");
  EXPECT_EQ(message({.cutoff = 1, .j_type = five}), "neighbours: j_type: expected 4 numbers, got 5");
  EXPECT_EQ(message({.cutoff = 1, .excluded_j = five}), "neighbours: excluded_first: expected 5 numbers, got 0");
  EXPECT_THAT(message({.cutoff = -1}), HasSubstr("expected a finite cutoff > 0, got -1"));
  EXPECT_THAT(message({.cutoff = 1, .cells = std::vector<double>(9)}), HasSubstr("vectors that are independent"));
  EXPECT_EQ(message({.cutoff = 1}), "no error");
}

TEST(PairSearch, stores_in_the_memory_of_a_gpu) {
  CudaShim shim;
  shim.allow_minus_one();
  const Device device(new nbcc_device{std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "")});
  PairSearch search(device);
  const std::vector<double> x = uniform(3 * 20, 4);
  DeviceMemory there(device, 8 * x.size()), cell(device, 8 * 9);
  there.write(0, x.data(), there.bytes()), cell.write(0, kCell.data(), cell.bytes());
  const View view = nbcc::view(static_cast<const double*>(there.data()), 20, 24);
  const PairQuery query{.cutoff = 3, .cells = {static_cast<const double*>(cell.data()), 9}};
  const PairList expected = brute(x, x, 3, {1, 1, 1});
  const auto count = std::size_t(search.run(view, query));
  ASSERT_EQ(count, expected.i.size());
  DeviceMemory i(device, 8 * count), j(device, 8 * count);
  nbcc_pair_arrays arrays{};
  arrays.capacity = std::int64_t(count);
  arrays.i = static_cast<std::int64_t*>(i.data()), arrays.j = static_cast<std::int64_t*>(j.data());
  search.store(arrays);
  std::vector<std::int64_t> found(count);
  i.read(0, found.data(), i.bytes());
  EXPECT_EQ(found, expected.i);
  j.read(0, found.data(), j.bytes());
  EXPECT_EQ(found, expected.j);
  try {
    search.find(view, query);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("find(): expected a search on a CPU, got one on cuda:0"));
  }
}

}  // namespace
}  // namespace nbcc::test

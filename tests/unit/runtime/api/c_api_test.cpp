// nbcc.h through nbcc.hpp, on a device whose kernels are functions of the test program.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/api/handles.h"
#include "runtime/api/nbcc.h"
#include "runtime/api/nbcc.hpp"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/fake_toolchain.h"

namespace {

nbcc::Pipeline fake_pipeline(int threads = 2) {
  nbcc::CpuDevice device(threads, nbcc::detect_isa(), std::make_shared<nbcc::test::FakeToolchain>(), "", "");
  return nbcc::Pipeline(new nbcc_pipeline{device.load(nbcc::test::fake_source())});
}

// Two bodies of mass 1 and 3 at distance 2 on the x axis.
struct Pair {
  std::vector<double> x{0, 0, 0, 2, 0, 0}, m{1, 3}, acc = std::vector<double>(6), pot{7, 7};
  nbcc::Sum sum(const nbcc::Pipeline& pipeline) {
    nbcc::Sum made(pipeline);
    made.set("eps2", 1e-30).bind("xi", x).bind("xj", x).bind("mj", m).bind("acc", acc).bind("pot", pot);
    made.ignore("near").ignore("seen");
    return made;
  }
};

template <typename Call>
std::string message(Call call, nbcc_status status) {
  try {
    call();
  } catch (const nbcc::Error& e) {
    EXPECT_EQ(e.status(), status);
    return e.what();
  }
  return "no error";
}

TEST(CApi, RunsASum) {
  Pair pair;
  pair.sum(fake_pipeline()).run();
  EXPECT_NEAR(pair.acc[0], 3.0 / 4, 1e-15);
  EXPECT_NEAR(pair.acc[3], -1.0 / 4, 1e-15);
  EXPECT_NEAR(pair.pot[0], -1e15 - 1.5, 1.0);
}

TEST(CApi, AToleranceThatCannotBeIsNamed) {
  Pair pair;
  nbcc::Sum sum = pair.sum(fake_pipeline());
  sum.tolerance(0).run();
  const auto refusal = [&](double tolerance) { return message([&] { sum.tolerance(tolerance); }, NBCC_ERROR_USAGE); };
  const std::string range = "tolerance: it must be 0 (none) or from 1e-14 to 1, got ";
  EXPECT_EQ(refusal(-1e-3), range + "-0.001");
  EXPECT_EQ(refusal(1.5), range + "1.5");
  EXPECT_EQ(refusal(1e-15), range + "1e-15");
  EXPECT_EQ(refusal(std::nan("")), range + "nan");
  EXPECT_EQ(refusal(1e-3), "tolerance: pipeline 'fake' has no far field: the library has no kernel for it");
  const auto experiment = [&](int order, int leaf, double separation) {
    const nbcc_far_choice choice{sizeof choice, order, leaf, separation};
    nbcc_error* error = nullptr;
    EXPECT_EQ(nbcc_sum_set_tolerance(sum.get(), 0, &choice, &error), NBCC_ERROR_USAGE);
    const std::unique_ptr<nbcc_error, void (*)(nbcc_error*)> owner(error, nbcc_error_free);
    return std::string(nbcc_error_message(error));
  };
  EXPECT_EQ(experiment(14, 0, 0), "far field: order must be from 2 to 13, or 0 for no choice; got 14");
  EXPECT_EQ(experiment(0, -1, 0), "far field: leaf must be 1 or more, or 0 for no choice; got -1");
  EXPECT_EQ(experiment(0, 0, 1), "far field: separation must be between 0 and 1, or 0 for no choice; got 1");
  EXPECT_EQ(nbcc_sum_set_tolerance(nullptr, 0, nullptr, nullptr), NBCC_ERROR_USAGE);
}

TEST(CApi, StatisticsWithoutAFarFieldAreZeros) {
  Pair pair;
  nbcc::Sum sum = pair.sum(fake_pipeline());
  nbcc_statistics found = sum.run().statistics();
  EXPECT_STREQ(found.method, "all pairs");
  EXPECT_EQ(found.tolerance, 0);
  EXPECT_EQ(found.seconds_first, 0);
  EXPECT_STREQ(found.precision, "");
  // The struct of a caller that was compiled before there were far fields.
  found.size = offsetof(nbcc_statistics, tolerance);
  found.tolerance = 7;
  EXPECT_EQ(nbcc_sum_get_statistics(sum.get(), &found, nullptr), NBCC_OK);
  EXPECT_STREQ(found.method, "all pairs");
  EXPECT_EQ(found.tolerance, 7);
}

// So many that a run takes minutes; of the outputs few are looked at.
struct Crowd {
  std::vector<double> x = std::vector<double>(3 * 200'000), m = std::vector<double>(200'000, 1.0),
                      acc = std::vector<double>(3 * 200'000), pot = std::vector<double>(200'000);
  nbcc::Sum sum(const nbcc::Pipeline& pipeline) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(double(k));
    nbcc::Sum made(pipeline);
    made.set("eps2", 0.01).bind("xi", x).bind("xj", x).bind("mj", m).bind("acc", acc).bind("pot", pot);
    made.ignore("near").ignore("seen");
    return made;
  }
};

TEST(CApi, AProgressCallbackSeesARunAndEndsIt) {
  struct Seen {
    std::vector<double> fractions;
    std::thread::id thread;
    static int look(void* data, double done) {
      auto& self = *static_cast<Seen*>(data);
      self.fractions.push_back(done);
      self.thread = std::this_thread::get_id();
      return self.fractions.size() == 3 ? 5 : 0;
    }
  } seen;
  Crowd crowd;
  nbcc::Sum sum = crowd.sum(fake_pipeline());
  nbcc_error* error = nullptr;
  ASSERT_EQ(nbcc_sum_set_progress(sum.get(), &Seen::look, &seen, &error), NBCC_OK);
  EXPECT_EQ(nbcc_sum_run(sum.get(), nullptr, &error), NBCC_INTERRUPTED);
  EXPECT_STREQ(nbcc_error_message(error), "interrupted by the progress callback");
  nbcc_error_free(error);
  ASSERT_EQ(seen.fractions.size(), 3u);
  EXPECT_TRUE(std::is_sorted(seen.fractions.begin(), seen.fractions.end()));
  EXPECT_GE(seen.fractions.front(), 0);
  EXPECT_LT(seen.fractions.back(), 1);
  EXPECT_EQ(seen.thread, std::this_thread::get_id());

  Crowd other;
  other.sum(fake_pipeline()).run(10, 3);
  sum.run(10, 3);
  EXPECT_TRUE(std::equal(&crowd.acc[30], &crowd.acc[39], &other.acc[30]));
  ASSERT_EQ(nbcc_sum_set_progress(sum.get(), nullptr, nullptr, &error), NBCC_OK);
  EXPECT_EQ(nbcc_sum_wait(sum.get(), &error), NBCC_OK);
  EXPECT_EQ(nbcc_sum_set_progress(nullptr, &Seen::look, &seen, nullptr), NBCC_ERROR_USAGE);
}

TEST(CApi, InCppACallbackAsksForTheEndOrThrows) {
  Crowd crowd;
  nbcc::Sum sum = crowd.sum(fake_pipeline());
  int calls = 0;
  sum.progress([&](double) { return ++calls == 2; });
  nbcc::Sum moved = std::move(sum);
  EXPECT_THROW(moved.run(), nbcc::v0::Interrupted);
  EXPECT_EQ(calls, 2);
  moved.progress([](double done) { throw std::out_of_range(std::to_string(done)); });
  EXPECT_THROW(moved.run(), std::out_of_range);
  // What it has thrown is not thrown again.
  moved.progress([&](double) { return true; });
  EXPECT_EQ(message([&] { moved.run(); }, NBCC_INTERRUPTED), "interrupted by the progress callback");
  moved.progress(nullptr).run(0, 3);
}

TEST(CApi, RunsOnASubsetAndAccumulates) {
  Pair pair;
  nbcc::Sum sum = pair.sum(fake_pipeline());
  sum.set("eps2", 12.0);  // distances of 4 and of sqrt(12)
  const std::vector<std::int64_t> second{1};
  sum.run(second);
  EXPECT_EQ(pair.pot[0], 7.0);
  EXPECT_NEAR(pair.pot[1], -1.0 / 4 - 3 / std::sqrt(12.0), 1e-15);
  sum.accumulate(0, 1);
  EXPECT_NEAR(pair.pot[0], 7 - 3.0 / 4 - 1 / std::sqrt(12.0), 1e-15);
  const std::vector<double> before = pair.pot;
  sum.run(std::vector<std::int64_t>{});
  EXPECT_EQ(pair.pot, before);
}

TEST(CApi, BindsViewsOfEveryShape) {
  struct Body {
    float x[3];
    int tag;
  };
  std::array<Body, 2> bodies{{{{0, 0, 0}, 1}, {{2, 0, 0}, 2}}};
  const std::array<double, 6> by_component{0, 2, 0, 0, 0, 0};
  Pair pair;
  nbcc::Sum sum = pair.sum(fake_pipeline());
  sum.run();
  const std::vector<double> expected = pair.acc;
  sum.bind("xi", nbcc::view(&bodies[0].x[0], 2, sizeof(Body))).run();
  EXPECT_EQ(pair.acc, expected);
  sum.bind("xj", nbcc::columns(by_component, 3)).run();
  EXPECT_EQ(pair.acc, expected);
  sum.bind("xj", nbcc::rows(pair.x, 3)).run();
  EXPECT_EQ(pair.acc, expected);
}

TEST(CApi, TellsTheFields) {
  const nbcc::Pipeline pipeline = fake_pipeline();
  EXPECT_EQ(pipeline.name(), "fake");
  EXPECT_EQ(pipeline.operations(), 38);
  EXPECT_EQ(pipeline.neighbours(), "|xj - xi| < 1");
  EXPECT_EQ(pipeline.no_neighbours(), "line 1: both are told");
  const std::vector<nbcc::Field> fields = pipeline.fields();
  ASSERT_EQ(fields.size(), 9u);
  EXPECT_EQ(fields[0].name, "xi");
  EXPECT_EQ(fields[0].type, "vec3");
  EXPECT_EQ(fields[0].components, 3);
  EXPECT_EQ(fields[4].role, NBCC_PARAM);
  EXPECT_EQ(fields[4].defaults, std::vector<double>{1.0});
  EXPECT_EQ(fields[5].comment, "acceleration");
  EXPECT_EQ(fields[7].reduction, NBCC_ARGMIN);
  EXPECT_TRUE(fields[7].integral);
  nbcc_field field;
  ASSERT_EQ(nbcc_pipeline_field(pipeline.get(), 0, &field), 0);
  EXPECT_EQ(field.scalar, NBCC_SCALAR_REAL);
  EXPECT_EQ(field.width, 3);
  EXPECT_EQ(field.rows, 0);
  EXPECT_EQ(field.histogram, 0);
  EXPECT_EQ(field.is_read, 1);
  EXPECT_EQ(nbcc_pipeline_index_use(pipeline.get()), NBCC_INDEX_VALUE);
  EXPECT_EQ(nbcc_pipeline_index_use(nullptr), NBCC_INDEX_VALUE);
  EXPECT_EQ(nbcc_pipeline_field(pipeline.get(), -1, &field), -1);
  EXPECT_EQ(nbcc_pipeline_field(pipeline.get(), 9, &field), -1);
}

TEST(CApi, ErrorsNameTheField) {
  Pair pair;
  const nbcc::Pipeline pipeline = fake_pipeline();
  nbcc::Sum sum = pair.sum(pipeline);
  EXPECT_EQ(message([&] { sum.set("mass", 1.0); }, NBCC_ERROR_USAGE),
            "pipeline 'fake' has no field 'mass'; its fields are xi, xj, mj, eps2, g, acc, pot, near, seen");
  EXPECT_EQ(message([&] { sum.set("eps2", true); }, NBCC_ERROR_USAGE),
            "param 'eps2' is of type real: only a bool is true or false");
  EXPECT_EQ(message([&] { nbcc::Sum(pipeline).run(); }, NBCC_ERROR_USAGE),
            "input_i 'xi' of pipeline 'fake' is not bound to an array");
  EXPECT_EQ(message([&] { sum.bind("xi", pair.m); }, NBCC_ERROR_USAGE),
            "an array of 2 numbers has no whole number of rows of 3");
  const std::vector<double> fixed(2);
  EXPECT_EQ(message([&] { sum.bind("pot", fixed); }, NBCC_ERROR_USAGE),
            "output 'pot' cannot be bound to a const array");
  EXPECT_EQ(message([&] { sum.run(1, -1); }, NBCC_ERROR_USAGE), "a range of i has a count of -1");
}

TEST(CApi, NullPointersAreUsageErrors) {
  const nbcc::Pipeline pipeline = fake_pipeline();
  const nbcc::Sum sum(pipeline);
  nbcc_error* error = nullptr;
  const auto expect = [&](nbcc_status status, const char* text) {
    EXPECT_EQ(status, NBCC_ERROR_USAGE);
    EXPECT_EQ(nbcc_error_status(error), NBCC_ERROR_USAGE);
    EXPECT_STREQ(nbcc_error_message(error), text);
    nbcc_error_free(error);
  };
  nbcc_sum* made = nullptr;
  expect(nbcc_sum_create(nullptr, &made, &error), "pipeline is a null pointer");
  EXPECT_EQ(made, nullptr);
  expect(nbcc_sum_create(pipeline.get(), nullptr, &error), "sum is a null pointer");
  expect(nbcc_sum_run(nullptr, nullptr, &error), "sum is a null pointer");
  expect(nbcc_sum_bind(sum.get(), "xi", nullptr, &error), "view is a null pointer");
  const nbcc_view plain{nullptr, NBCC_FLOAT, 0, 0, 0};
  nbcc_view view = plain;
  const int no_element = 9;
  std::memcpy(&view.element, &no_element, sizeof no_element);
  expect(nbcc_sum_bind(sum.get(), nullptr, &plain, &error), "name is a null pointer");
  expect(nbcc_sum_set_param(sum.get(), "eps2", nullptr, 1, &error), "values is a null pointer");
  expect(nbcc_sum_set_param(sum.get(), "eps2", nullptr, -1, &error),
         "param 'eps2': count must not be negative, got -1");
  expect(nbcc_sum_bind(sum.get(), "xi", &view, &error), "view: 9 is no element type");
  const nbcc_run_options zero{};
  expect(nbcc_sum_run(sum.get(), &zero, &error), "options: `size` must be the size of the struct");
  EXPECT_EQ(nbcc_sum_run(nullptr, nullptr, nullptr), NBCC_ERROR_USAGE);
}

TEST(CApi, FreeingNothingIsFine) {
  nbcc_error_free(nullptr);
  nbcc_sum_destroy(nullptr);
  nbcc_pipeline_close(nullptr);
  nbcc_device_close(nullptr);
  EXPECT_STREQ(nbcc_error_message(nullptr), "");
  EXPECT_STREQ(nbcc_device_name(nullptr), "");
  EXPECT_EQ(nbcc_pipeline_field_count(nullptr), 0);
}

TEST(CApi, OptionsOfAnOlderCallerKeepTheirDefaults) {
  nbcc_run_options older{};
  older.size = offsetof(nbcc_run_options, i_list);
  older.i_count = 5;
  older.accumulate = 1;  // behind the end that the caller knows
  const nbcc_run_options read =
      nbcc::read_options(&older, nbcc_run_options{sizeof older, 0, -1, nullptr, 0, nullptr, NBCC_WHOLE, 0});
  EXPECT_EQ(read.i_count, 5);
  EXPECT_EQ(read.accumulate, 0);
}

TEST(CApi, ExceptionsBecomeStatuses) {
  const auto status_of = [](auto exception, const std::string& text) {
    nbcc_error* error = nullptr;
    try {
      throw exception;
    } catch (...) {
      nbcc::fail_with_current_exception(&error);
    }
    EXPECT_EQ(nbcc_error_message(error), text);
    const nbcc_status status = nbcc_error_status(error);
    nbcc_error_free(error);
    return status;
  };
  EXPECT_EQ(status_of(nbcc::UsageError("u"), "u"), NBCC_ERROR_USAGE);
  EXPECT_EQ(status_of(nbcc::DeviceError("d"), "d"), NBCC_ERROR_DEVICE);
  EXPECT_EQ(status_of(std::bad_alloc(), "out of memory"), NBCC_ERROR_DEVICE);
  EXPECT_EQ(status_of(std::logic_error("l"), "internal error: l"), NBCC_ERROR_INTERNAL);
  EXPECT_EQ(status_of(7, "internal error: an exception of unknown type"), NBCC_ERROR_INTERNAL);
}

TEST(CApi, TooManyParticlesAreOutOfMemory) {
  double zero[3] = {};
  nbcc::Sum sum(fake_pipeline());
  const nbcc::View one{{zero, NBCC_DOUBLE_ELEMENT, 1, 24, 8}}, endless{{zero, NBCC_DOUBLE_ELEMENT, 1ll << 58, 0, 8}};
  sum.set("eps2", 1.0).bind("xi", one).bind("acc", one).bind("pot", one).ignore("near").ignore("seen");
  sum.bind("xj", endless).bind("mj", endless);
  EXPECT_EQ(message([&] { sum.run(); }, NBCC_ERROR_DEVICE), "out of memory");
  EXPECT_EQ(zero[0], 0.0);
}

TEST(CApi, SumsOutliveDeviceAndPipeline) {
  Pair pair;
  auto sum = std::make_unique<nbcc::Sum>([&] {
    const nbcc::Pipeline pipeline = fake_pipeline();
    return pair.sum(pipeline);
  }());
  sum->run();
  EXPECT_NEAR(pair.acc[0], 3.0 / 4, 1e-15);
}

TEST(CApi, SumsOfOnePipelineRunOnSeveralThreads) {
  const nbcc::Pipeline pipeline = fake_pipeline(2);
  constexpr int n = 300;
  std::vector<double> x, m(n, 1.0), expected(3 * n), pot(n);
  for (int k = 0; k < 3 * n; ++k) x.push_back(std::sin(k));
  const auto run = [&](std::vector<double>& acc, std::vector<double>& p) {
    nbcc::Sum(pipeline)
        .set("eps2", 0.1)
        .bind("xi", x)
        .bind("xj", x)
        .bind("mj", m)
        .bind("acc", acc)
        .bind("pot", p)
        .ignore("near")
        .ignore("seen")
        .run();
  };
  run(expected, pot);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        std::vector<double> acc(3 * n), p(n);
        run(acc, p);
        EXPECT_EQ(acc, expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CApi, ALaunchConfigurationIsWithoutEffectOnTheCpu) {
  Pair pair;
  nbcc::Sum sum = pair.sum(fake_pipeline());
  sum.launch_configuration({.threads = 64, .j_slices = 3}).run();
  EXPECT_NEAR(pair.acc[0], 3.0 / 4, 1e-15);
  EXPECT_EQ(sum.launch_configuration(2, 2), nbcc::LaunchConfiguration{});
  EXPECT_NE(message([&] { sum.launch_configuration({.unroll = -1}); }, NBCC_ERROR_USAGE).find("unroll"),
            std::string::npos);
}

void write_and_read_memory_of(const nbcc::Device& device) {
  nbcc::DeviceMemory memory(device, 4 * sizeof(double));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0U);
  const std::array<double, 4> numbers{1, 2, 3, 4};
  const double seven = 7;
  memory.write(0, numbers.data(), sizeof numbers);
  memory.write(2 * sizeof(double), &seven, sizeof seven);
  std::array<double, 3> read{};
  memory.read(sizeof(double), read.data(), sizeof read);
  EXPECT_EQ(read, (std::array<double, 3>{2, 7, 4}));
  memory.write(4 * sizeof(double), nullptr, 0);
  EXPECT_EQ(message([&] { memory.write(25, numbers.data(), 8); }, NBCC_ERROR_USAGE),
            "8 bytes from 25 on of 32 bytes of a device's memory");
  EXPECT_NE(nbcc::DeviceMemory(device, 0).data(), nullptr);
}

TEST(CApi, MemoryOfTheCpuIsTheHosts) {
  const nbcc::Device device("cpu");
  write_and_read_memory_of(device);
  const nbcc::DeviceMemory memory(device, sizeof(double));
  const double one = 1;
  ASSERT_EQ(nbcc_device_write(device.get(), memory.data(), &one, sizeof one, nullptr), NBCC_OK);
  EXPECT_EQ(*static_cast<const double*>(memory.data()), 1);
}

TEST(CApi, MemoryOfAGpuIsWrittenAndReadAndGivenBack) {
  nbcc::test::CudaShim shim;  // which reports leaks
  const nbcc::Device device(
      new nbcc_device{std::make_shared<nbcc::CudaDevice>(shim.driver(), shim.compiler(), 0, "", "")});
  write_and_read_memory_of(device);
  EXPECT_EQ(shim.allocated(), 0U);
  shim.fail("mem_alloc", 1, nbcc::kCudaOutOfMemory);
  EXPECT_NE(message([&] { nbcc::DeviceMemory(device, 8); }, NBCC_ERROR_DEVICE).find("allocating memory of the GPU"),
            std::string::npos);
}

TEST(CApi, MoreMemoryThanThereAreAddressesIsRefused) {
  nbcc::test::CudaShim shim;
  const nbcc::Device devices[] = {
      nbcc::Device("cpu"),
      nbcc::Device(new nbcc_device{std::make_shared<nbcc::CudaDevice>(shim.driver(), shim.compiler(), 0, "", "")})};
  for (const nbcc::Device& device : devices) {
    for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2 + 1}) {
      void* memory = &shim;
      EXPECT_EQ(nbcc_device_allocate(device.get(), bytes, &memory, nullptr), NBCC_ERROR_DEVICE) << bytes;
      EXPECT_EQ(memory, nullptr);
    }
  }
}

TEST(CApi, MemoryOfNoDeviceIsRefused) {
  const nbcc::Device device("cpu");
  double number = 0;
  void* memory = &number;
  EXPECT_EQ(nbcc_device_allocate(nullptr, 8, &memory, nullptr), NBCC_ERROR_USAGE);
  EXPECT_EQ(nbcc_device_allocate(device.get(), 8, nullptr, nullptr), NBCC_ERROR_USAGE);
  EXPECT_EQ(nbcc_device_write(device.get(), nullptr, &number, 8, nullptr), NBCC_ERROR_USAGE);
  EXPECT_EQ(nbcc_device_read(device.get(), &number, nullptr, 8, nullptr), NBCC_ERROR_USAGE);
  nbcc_device_free(device.get(), nullptr);
}

}  // namespace

// every_image() and output(pair) with arrays in GPU memory: the copies are made there, with the bits of the host's, in
// any stream, without copies of particles to the host.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/backend.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/group/cuda_group.h"
#include "runtime/error.h"
#include "runtime/sum/derived/for_callers.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/device_array.h"

namespace nbcc::test {
namespace {

// Arrays of doubles, on the host or on a GPU.
class Arrays {
 public:
  Arrays(SumState& sum, const CudaGpu* gpu) : sum_(sum), gpu_(gpu) {}
  void bind(const std::string& field, std::vector<double>& numbers, std::int64_t components) {
    void* data = numbers.data();
    const std::size_t bytes = 8 * numbers.size();
    if (gpu_) {
      DeviceArray& there = *arrays_.emplace_back(std::make_unique<DeviceArray>(*gpu_, bytes));
      there.put(data, bytes);
      data = there.data();
      copies_.push_back({&numbers, &there});
    }
    sum_.bind(field, {data, Element::Double, std::int64_t(numbers.size()) / components, 8 * components, 8});
  }
  void put() {
    for (const auto& [here, there] : copies_) there->put(here->data(), 8 * here->size());
  }
  void get() {
    for (const auto& [here, there] : copies_) there->get(here->data(), 8 * here->size());
  }

 private:
  SumState& sum_;
  const CudaGpu* gpu_;
  std::vector<std::unique_ptr<DeviceArray>> arrays_;
  std::vector<std::pair<std::vector<double>*, DeviceArray*>> copies_;
};

std::vector<double> uniform(std::size_t count, double low, double high, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> numbers(count);
  for (double& x : numbers) x = std::uniform_real_distribution<double>(low, high)(random);
  return numbers;
}

constexpr const char* kImages =
    "input_i vec3 xi; input_j vec3 xj; input_j real hj; input_j real qj; param vec3 a; param vec3 b; param vec3 c;\n"
    "param real rc; output(sum) vec3 force; output(count) int n; output(sum) int moved; output(argmin) index near;\n"
    "vec3 d = every_image(xj - xi, a, b, c);\nreal r2 = dot(d, d);\nskip_if(self_pair || r2 >= rc * rc * hj * hj);\n"
    "force += qj * d; n += r2 > 0.0; moved += image_index(0) + 3 * image_index(1) + 7 * image_index(2) + "
    "int(j_index);\n"
    "near = argmin(near, r2);\n";

class DeviceCopiesOnShim : public testing::Test {
 protected:
  DeviceCopiesOnShim() {
    shim_.set_device_count(2);
    shim_.allow_minus_one();
    for (int k = 0; k < 2; ++k)
      gpus_.push_back(std::make_shared<CudaDevice>(shim_.driver(), shim_.compiler(), k, "", ""));
  }
  std::shared_ptr<const Kernel> load(KernelDevice& device, const std::string& text) {
    return for_callers(device.load(build_cuda_kernel(parse({"copies.pipe", text}), {Precision::Double}, "")));
  }

  CudaShim shim_;
  std::vector<std::shared_ptr<CudaDevice>> gpus_;
};

struct ImageRun {
  static constexpr std::int64_t kCount = 40;
  std::vector<double> x = uniform(3 * kCount, -4, 4, 1), h = uniform(kCount, 0.5, 1, 2), q = uniform(kCount, -1, 1, 3);
  std::vector<double> force = std::vector<double>(3 * kCount), n = std::vector<double>(kCount),
                      moved = std::vector<double>(kCount), near = std::vector<double>(kCount);
  // Skewed: the reduced basis is another one.
  std::array<std::array<double, 3>, 3> cell{{{3, 0, 0}, {4, 2.5, 0}, {-0.5, 6.25, 2}}};

  void bind(SumState& sum, Arrays& arrays) {
    arrays.bind("xi", x, 3), arrays.bind("xj", x, 3), arrays.bind("hj", h, 1), arrays.bind("qj", q, 1);
    arrays.bind("force", force, 3), arrays.bind("n", n, 1), arrays.bind("moved", moved, 1),
        arrays.bind("near", near, 1);
    set_cell(sum);
    sum.set_param("rc", std::array{2.0});
  }
  void set_cell(SumState& sum) const {
    for (std::size_t k = 0; k < 3; ++k) sum.set_param(std::string(1, "abc"[k]), cell[k]);
  }
  std::vector<std::vector<double>> results() const { return {force, n, moved, near}; }
};

TEST_F(DeviceCopiesOnShim, OfImagesHaveTheBitsOfTheHosts) {
  const auto kernel = load(*gpus_[0], kImages);
  for (const PairChoice pairs : {PairChoice::All, PairChoice::Cutoff})
    for (const bool excludes : {false, true}) {
      ImageRun on_host, on_gpu;
      SumState host(kernel), gpu(kernel);
      Arrays host_arrays(host, nullptr), gpu_arrays(gpu, &gpus_[0]->gpu());
      CudaOwnStream stream(gpus_[0]->gpu());
      const CudaContextGuard guard(gpus_[0]->gpu());
      std::vector<std::int64_t> first(ImageRun::kCount + 1, 2), j{3, 5}, images{0, 0, 0, 1, 0, -1};
      first[0] = 0;
      for (auto [sum, arrays, run] : {std::tuple{&host, &host_arrays, &on_host}, {&gpu, &gpu_arrays, &on_gpu}}) {
        run->bind(*sum, *arrays);
        sum->set_pairs(pairs);
        if (excludes) sum->set_exclusions(ImageRun::kCount, first.data(), 2, j.data(), images.data());
      }
      for (int step = 0; step < 3; ++step) {
        host.run();
        shim_.forget_calls();
        gpu.run({.stream = stream.get()});
        if (!excludes) EXPECT_EQ(shim_.calls("memcpy_dtoh_async"), 2);  // a skewed cell: the copies, their multiples
        gpu.wait();
        gpu_arrays.get();
        EXPECT_EQ(on_gpu.results(), on_host.results());
        EXPECT_GT(on_host.n[0], 5);
        for (ImageRun* run : {&on_host, &on_gpu}) {
          for (double& x : run->x) x += 0.25;
          if (step == 1) run->cell[2][2] = 2.25;
        }
        gpu_arrays.put();
        on_host.set_cell(host), on_gpu.set_cell(gpu);
      }
    }
}

// The copies of a run with a skin serve until a particle has moved by half of it.
TEST_F(DeviceCopiesOnShim, OfImagesAreKept) {
  const auto kernel = load(*gpus_[0], kImages);
  ImageRun run;
  SumState kept(kernel), fresh(kernel);
  Arrays arrays(kept, &gpus_[0]->gpu()), fresh_arrays(fresh, nullptr);
  run.bind(kept, arrays);
  kept.set_pairs(PairChoice::Cutoff);
  kept.set_skin(0.5);
  ImageRun again;
  again.bind(fresh, fresh_arrays);
  std::int64_t searches = 0;
  const auto expect_searches = [&](std::int64_t more) {
    arrays.put();
    kept.run();
    kept.wait();
    arrays.get();
    again.x = run.x, again.h = run.h;
    fresh.run();
    EXPECT_EQ(run.n, again.n);
    EXPECT_EQ(run.moved, again.moved);
    for (std::size_t k = 0; k < run.force.size(); ++k) EXPECT_NEAR(run.force[k], again.force[k], 1e-9);
    EXPECT_EQ(kept.statistics().searches, searches += more);
  };
  expect_searches(1);
  const std::vector<double> start = run.x;
  for (int step = 0; step < 3; ++step) {
    for (std::size_t k = 0; k < start.size(); ++k) run.x[k] = start[k] + 0.1 * std::sin(double(k) + step);
    expect_searches(0);
  }
  run.x[7] = start[7] + 0.4;
  expect_searches(1);
  run.h[3] += 0.5;
  expect_searches(1);
}

TEST_F(DeviceCopiesOnShim, WhatIsWrongIsReportedAsOnTheHost) {
  const auto kernel = load(*gpus_[0], kImages);
  ImageRun run;
  SumState sum(kernel);
  Arrays arrays(sum, &gpus_[0]->gpu());
  run.x[6] = 1e30;
  run.bind(sum, arrays);
  const auto message = [&](const RunChoice& choice) -> std::string {
    try {
      sum.run(choice);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message({}).find("i-particle 2 is"), std::string::npos) << message({});
  run.x[6] = NAN;
  arrays.put();
  EXPECT_EQ(message({}), "no error");
  CudaOwnStream stream(gpus_[0]->gpu());
  const CudaContextGuard guard(gpus_[0]->gpu());
  shim_.begin_capture(stream.get());
  EXPECT_NE(message({.stream = stream.get()}).find("cannot be done while a stream is captured"), std::string::npos);
  shim_.end_capture(stream.get());
}

// On two GPUs the one that has the arrays makes the copies.
TEST_F(DeviceCopiesOnShim, OfImagesOnSeveralGpus) {
  CudaGroup group({gpus_[0], gpus_[1]}, true);
  ImageRun one, several;
  SumState alone(load(*gpus_[0], kImages)), shared(load(group, kImages));
  Arrays arrays_of_one(alone, nullptr), arrays(shared, &gpus_[1]->gpu());
  one.bind(alone, arrays_of_one);
  several.bind(shared, arrays);
  alone.run();
  shared.run();
  shared.wait();
  arrays.get();
  EXPECT_EQ(several.results(), one.results());
}

constexpr const char* kPairs =
    "input_i vec3 xi; input_j vec3 xj; input_j real mj; input_pair vec3 before; param real dt = 0.5;\n"
    "output(sum) vec3 force; output(pair) vec3 after; output(pair) real who;\n"
    "vec3 d = xj - xi; force += mj * d; after = before + dt * d * mj; who = 100.0 * i_index; who += j_index;\n";

struct PairRun {
  static constexpr std::int64_t kCount = 12;
  std::vector<std::int64_t> first{0}, j;
  std::vector<double> x = uniform(3 * kCount, -1, 1, 4), m = uniform(kCount, 0, 1, 5), force, history, who;
  PairRun() {
    for (std::int64_t i = 0; i < kCount; ++i) {
      for (std::int64_t k = 0; k < i % 5; ++k) j.push_back((i * 3 + k * 5) % kCount);
      first.push_back(std::int64_t(j.size()));
    }
    force.resize(3 * kCount), history.resize(3 * j.size(), 0.25), who.resize(j.size());
  }
  // The history is input and result, and the forces replace the positions of i.
  void bind(SumState& sum, Arrays& arrays) {
    arrays.bind("xi", x, 3), arrays.bind("xj", x, 3), arrays.bind("mj", m, 1), arrays.bind("force", force, 3);
    arrays.bind("before", history, 3);
    sum.bind("after", sum.bound("before"));
    arrays.bind("who", who, 1);
    sum.set_listed_pairs(kCount, first.data(), std::int64_t(j.size()), j.data());
  }
};

TEST_F(DeviceCopiesOnShim, OfPairsStayOnTheDevice) {
  CudaGroup group({gpus_[0], gpus_[1]}, true);
  for (KernelDevice* const device : {static_cast<KernelDevice*>(gpus_[0].get()), static_cast<KernelDevice*>(&group)}) {
    PairRun on_host, on_gpu;
    SumState host(load(*gpus_[0], kPairs)), gpu(load(*device, kPairs));
    Arrays host_arrays(host, nullptr), gpu_arrays(gpu, &gpus_[0]->gpu());
    on_host.bind(host, host_arrays), on_gpu.bind(gpu, gpu_arrays);
    CudaOwnStream stream(gpus_[0]->gpu());
    const CudaContextGuard guard(gpus_[0]->gpu());
    for (int step = 0; step < 3; ++step) {
      const RunChoice some{.i_begin = step, .i_count = PairRun::kCount - step};
      RunChoice in_stream = some;
      in_stream.stream = stream.get();
      host.run(some);
      shim_.forget_calls();
      gpu.run(in_stream);
      EXPECT_EQ(shim_.calls("memcpy_dtoh_async"), 0);
      gpu.wait();
      gpu_arrays.get();
      EXPECT_EQ(on_gpu.force, on_host.force);
      EXPECT_EQ(on_gpu.history, on_host.history);
      EXPECT_EQ(on_gpu.who, on_host.who);
    }
    // A graph continues the history.
    shim_.begin_capture(stream.get());
    gpu.run({.stream = stream.get()});
    shim_.end_capture(stream.get());
    for (int step = 0; step < 2; ++step) {
      shim_.replay(stream.get());
      host.run();
    }
    gpus_[0]->gpu().synchronize(stream.get());
    gpu_arrays.get();
    EXPECT_EQ(on_gpu.history, on_host.history);
  }
}

}  // namespace
}  // namespace nbcc::test

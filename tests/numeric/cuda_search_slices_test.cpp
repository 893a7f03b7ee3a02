// Groups of i that see all j, whose sums on a GPU are those of several warps: on several GPUs of the shim.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/group/cuda_group.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cuda_shim.h"

namespace nbcc::test {
namespace {

// Sums of groups that see all j have the bits of one GPU on three.
TEST(SearchOfGroupOnShim, OfReachesBeyondAllOthersHasTheSameBits) {
  constexpr std::int64_t kCount = 4200;
  std::mt19937_64 random(15);
  std::uniform_real_distribution<double> place(0, 16), mass(0.5, 1.5);
  std::vector<double> x, m, h(kCount, 0.5);
  for (std::int64_t k = 0; k < 3 * kCount; ++k) x.push_back(place(random));
  for (std::int64_t k = 0; k < kCount; ++k) m.push_back(mass(random));
  for (std::size_t k = 100; k < std::size_t(kCount); k += 700) h[k] = 1e20;
  std::vector<std::vector<double>> sums;
  for (const int count : {1, 3}) {
    CudaShim shim;
    shim.set_device_count(3);
    std::vector<std::shared_ptr<CudaDevice>> gpus;
    for (int k = 0; k < count; ++k)
      gpus.push_back(std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), k, "", ""));
    std::shared_ptr<KernelDevice> device = gpus.front();
    if (count > 1) device = std::make_shared<CudaGroup>(gpus);
    const Pipeline pipeline =
        parse({"far.pipe",
               "input_i vec3 xi; input_i real hi; input_j vec3 xj; input_j real mj; output(sum) real s;\n"
               "vec3 d = xj - xi; real r2 = dot(d, d); skip_if(r2 >= hi * hi); s += mj / (1 + r2);\n"});
    SumState sum(device->load(build_cuda_kernel(pipeline, {.precision = Precision::Single}, "")));
    std::vector<double>& found = sums.emplace_back(std::size_t(kCount));
    for (const char* const name : {"xi", "xj"}) sum.bind(name, {x.data(), Element::Double, kCount, 24, 8});
    sum.bind("hi", {h.data(), Element::Double, kCount, 8, 8});
    sum.bind("mj", {m.data(), Element::Double, kCount, 8, 8});
    sum.bind("s", {found.data(), Element::Double, kCount, 8, 8});
    sum.set_pairs(PairChoice::Cutoff);
    sum.run();
    sum.wait();
    EXPECT_EQ(sum.statistics().searches, 1) << count;
  }
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_GT(sums[0][100], 20);
}

}  // namespace
}  // namespace nbcc::test

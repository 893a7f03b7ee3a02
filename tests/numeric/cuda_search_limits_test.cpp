// What a search on a GPU cannot number is refused.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "jit/build_kernel.h"
#include "runtime/cuda/group/cuda_group.h"
#include "runtime/error.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/device_array.h"

namespace nbcc::test {
namespace {

constexpr const char* kText = R"(
input_i vec3 xi; input_j vec3 xj; param real rc = 0.3; output(sum) vec3 f; output(sum) real n;
vec3 dx = xj - xi; real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc || i_index == j_index);
f += (rc * rc - r2) * dx; n += 1.0;
)";

// pairs = cutoff searches or says that it cannot: rows of stride 0, of which there may be more than a search can
// number.
TEST(CudaSearchOfTooMany, IsRefused) {
  CudaShim shim;
  shim.set_device_count(2);
  const auto device = std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "");
  const auto other = std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 1, "", "");
  const KernelSource source = build_cuda_kernel(Source{"cutoff.pipe", kText}, Options{}, "");
  for (const auto& one :
       {std::shared_ptr<KernelDevice>(device),
        std::shared_ptr<KernelDevice>(std::make_shared<CudaGroup>(std::vector{device, other}, true))}) {
    SumState sum(one->load(source));
    DeviceArray x(device->gpu(), 24), f(device->gpu(), 24), n(device->gpu(), 8);
    sum.bind("xi", {x.data(), Element::Double, 1, 24, 8});
    sum.bind("xj", {x.data(), Element::Double, (std::int64_t(1) << 30) + 1, 0, 8});
    sum.bind("f", {f.data(), Element::Double, 1, 24, 8});
    sum.bind("n", {n.data(), Element::Double, 1, 8, 8});
    sum.set_pairs(PairChoice::Cutoff);
    try {
      sum.run();
      ADD_FAILURE() << "it must be refused";
    } catch (const UsageError& e) {
      EXPECT_STREQ(
          e.what(),
          "pairs = cutoff: on a GPU a search takes at most 1073741568 i- and j-particles, got 1 and 1073741825");
    }
  }
}

}  // namespace
}  // namespace nbcc::test

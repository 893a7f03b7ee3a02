// Compiled libraries on the first GPU: their machine code, PTX and text give the bits of a pipeline that is compiled
// there. Skipped, with the reason, where there is no GPU or no NVRTC.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "jit/build_kernel.h"
#include "jit/build_library.h"
#include "jit/read_library.h"
#include "runtime/error.h"
#include "runtime/image/cuda_programs.h"
#include "runtime/image/image_kernel.h"
#include "runtime/sum/run/sum.h"
#include "runtime/tolerance/tolerance.h"
#include "tests/support/baseline_isa.h"
#include "tests/support/folders.h"
#include "tests/support/random_source.h"

namespace nbcc::test {
namespace {

class CompiledLibraryOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    try {
      compiler_ = make_nvrtc();
      device_ = std::make_unique<CudaDevice>(cuda_driver(), compiler_, 0, "", "");
    } catch (const DeviceError& e) {
      GTEST_SKIP() << e.what();
    }
  }

  // What a library for these architectures says of gravity.
  PipelineImage image_for(const std::vector<std::string>& architectures,
                          const std::vector<std::string>& with = {}) const {
    LibraryRequest request;
    request.with = with;
    request.sources = {gravity_};
    request.isas = {baseline_isa()};
    request.architectures = architectures;
    request.cuda_compiler = compiler_;
    return read_image(sections_of_library(build_library(request).library, kImageSectionPrefix).at(0));
  }

  // Of so many particles, from arrays on the host; one bit pattern for each number. `choose` sets the options of the
  // sum, which then runs by `method`.
  static std::vector<double> sums(
      const std::shared_ptr<const Kernel>& kernel, std::int64_t n,
      const std::function<void(SumState&)>& choose = [](SumState& sum) { sum.set_symmetric(SymmetricChoice::Off); },
      std::string_view method = "all pairs") {
    RandomSource random(7);
    std::vector<double> x(std::size_t(3 * n)), m(std::size_t(n), 1.0 / double(n)), acc(x.size()), pot(m.size());
    for (double& value : x) value = double(random.next() >> 11) / 9007199254740992.0;
    SumState sum(kernel);
    choose(sum);
    const auto bind = [&](const char* field, std::vector<double>& values) {
      const std::int64_t bytes = std::int64_t(values.size()) / n * 8;
      sum.bind(field, {values.data(), Element::Double, n, bytes, 8});
    };
    bind("xi", x);
    bind("xj", x);
    bind("mj", m);
    bind("acc", acc);
    bind("pot", pot);
    sum.run();
    sum.wait();
    EXPECT_EQ(sum.method(), method) << sum.statistics().reason;
    acc.insert(acc.end(), pot.begin(), pot.end());
    return acc;
  }

  void expect_same_sums(const PipelineImage& image, const OpenCompiler& compiler, std::int64_t n) {
    const std::vector<double> held = sums(load_image(*device_, image, compiler), n);
    const std::vector<double> now = sums(device_->load(build_cuda_kernel(gravity_, {}, "")), n);
    EXPECT_EQ(std::memcmp(held.data(), now.data(), held.size() * sizeof(double)), 0) << n;
    EXPECT_NE(held[0], 0);
  }

  static std::shared_ptr<const CudaCompiler> no_compiler() { throw DeviceError("none is allowed here"); }

  const Source gravity_ = read_source(test::source_folder() + "/pipelines/gravity.pipe");
  std::shared_ptr<const CudaCompiler> compiler_;
  std::unique_ptr<CudaDevice> device_;
};

// Few particles and many, for which the model cuts differently.
TEST_F(CompiledLibraryOnGpu, MachineCodeIsThatOfNow) {
  const PipelineImage image = image_for({device_->arch()});
  for (const std::int64_t n : {31, 2048, 20000}) expect_same_sums(image, no_compiler, n);
}

TEST_F(CompiledLibraryOnGpu, PtxIsTranslatedByTheDriver) {
  PipelineImage image = image_for({compiler_->architectures().front()});
  std::erase_if(image.cuda_images, [](const CudaImage& one) { return !one.ptx; });
  ASSERT_EQ(std::int64_t(image.cuda_images.size()),
            std::ranges::count_if(all_variants(image.cuda),
                                  [&](const CudaVariant& variant) { return !is_choice_by_size(image.cuda, variant); }));
  const std::vector<double> held = sums(load_image(*device_, image, no_compiler), 2048);
  const std::vector<double> now = sums(device_->load(build_cuda_kernel(gravity_, {}, "")), 2048);
  // The one shape that is there cuts the sum otherwise: the order of its terms is another.
  for (std::size_t k = 0; k < held.size(); ++k) EXPECT_NEAR(held[k], now[k], 1e-4 * (1 + std::abs(now[k]))) << k;
}

TEST_F(CompiledLibraryOnGpu, TheTextIsCompiledByNvrtc) {
  const PipelineImage image = image_for({});
  expect_same_sums(image, [this] { return compiler_; }, 2048);
}

// ... with --with: machine code, or PTX, of an exact run, of each pair once and of a tolerance.
TEST_F(CompiledLibraryOnGpu, MoreKernelsNeedNoNvrtc) {
  PipelineImage image = image_for({device_->arch()}, {"symmetric", "tolerance"});
  for (const bool ptx : {false, true}) {
    SCOPED_TRACE(ptx);
    if (ptx) std::erase_if(image.cuda_images, [](const CudaImage& one) { return !one.ptx; });
    const std::shared_ptr<const Kernel> kernel = load_image(*device_, image, no_compiler);
    EXPECT_EQ(kernel->derived("symmetric").obstacle, "");
    for (const Precision precision : {Precision::Single, Precision::Mixed, Precision::Double})
      EXPECT_EQ(kernel->derived("far", precision).obstacle, "");
    const std::vector<double> exact = sums(kernel, 20000);
    const std::vector<double> once =
        sums(kernel, 20000, [](SumState& sum) { sum.set_symmetric(SymmetricChoice::Always); }, "symmetric");
    const std::vector<double> far = sums(
        kernel, 20000, [](SumState& sum) { set_tolerance(sum, 1e-3, {.order = 4, .leaf = 64, .separation = 0.5}); },
        "far field");
    // The last are potentials, of one sign.
    for (std::size_t k = 60000; k < exact.size(); ++k) {
      EXPECT_NEAR(once[k], exact[k], 1e-5 * std::abs(exact[k])) << k;
      EXPECT_NEAR(far[k], exact[k], 2e-2 * std::abs(exact[k])) << k;
    }
  }
}

TEST_F(CompiledLibraryOnGpu, WithoutTheirCodeMoreKernelsNeedNvrtc) {
  const PipelineImage image = image_for({}, {"symmetric"});
  EXPECT_EQ(load_image(*device_, image, [this] { return compiler_; })->derived("symmetric").obstacle, "");
  PipelineImage other = image_for({device_->arch()}, {"symmetric"});
  const CudaProgramSource lacking = programs_of_row(other.rows.back()).back();
  const std::uint64_t source = source_hash(source_of(*lacking.kernel, lacking.variant));
  std::erase_if(other.cuda_images, [&](const CudaImage& one) { return one.text == source; });
  EXPECT_EQ(load_image(*device_, other, no_compiler)->derived("symmetric").obstacle,
            "the library holds no code of its kernels for " + device_->arch() + ", and these need NVRTC");
}

}  // namespace
}  // namespace nbcc::test

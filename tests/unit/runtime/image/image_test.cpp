// Compiled pipelines as bytes, and which of their codes a device takes.
#include "runtime/image/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/derived_kernels.h"
#include "jit/build_kernel.h"
#include "jit/cpu_jit.h"
#include "runtime/cuda/group/cuda_group.h"
#include "runtime/error.h"
#include "runtime/image/image_kernel.h"
#include "runtime/image/stored_rows.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"

namespace nbcc {
namespace {

using testing::HasSubstr;

const Source kPull{"pull.pipe",
                   "input_i real xi;\ninput_j real xj;\nparam real p = 2;\noutput(sum) real s;\ns += (xj - xi) * p;\n"};

PipelineImage image_of_pull() {
  PipelineImage image;
  image.made_by = "nbcc 7";
  image.precision = "single";
  for (const Isa isa : {Isa::Avx512, Isa::Avx2, Isa::Sse2}) {
    image.cpu.push_back(build_cpu_kernel(kPull, {}, isa, ""));
    image.cpu.back().variants.clear();
  }
  image.cuda = build_cuda_kernel(kPull, {}, "");
  SearchLayout& search = image.cpu[1].search;
  search.axes = 2;
  search.periodic = {true, false};
  search.triclinic = true;
  search.reach = SearchLayout::Reach::Max;
  search.mirrored = {{0, 2}};
  search.reach_uniform.steps = {{Formula::Op::Param, 3, 0.5, {-1, 0, 1}}};
  search.lengths = {{}, {{{Formula::Op::Constant, 0, 8}}}};
  search.j_positions = {2, 1};
  image.cuda.search.bound = "|xj - xi| < 1";
  image.cuda.search.obstacle = "line 3: why not";
  return image;
}

// The runtime makes the centres of products in place of differences, whose vectors the facts name.
TEST(Image, RowsKeepTheCentresOfProducts) {
  const KernelSource kernel = build_cpu_kernel(
      Source{"wide.pipe",
             "input_i real x[40];\ninput_j real y[45];\noutput(sum) real s;\nreal r2 = 0;\n"
             "for (int k = 0; k < 40; ++k) r2 += (y[k + 2] - x[k]) * (y[k + 2] - x[k]);\ns += exp(-r2);\n"},
      {}, Isa::Avx2, "");
  PipelineImage image = image_of_pull();
  const std::vector<std::string> choices{"tolerance"};
  image.rows = store_rows(kernel, choices, Precision::Single);
  const PipelineImage again = read_image(write_image(image));
  const auto derivations = stored_derivations(again.rows, kernel.target);
  const DerivedKernels& row = derivations->row("matrix units", Precision::Single);
  ASSERT_NE(row.find("products"), nullptr);
  const std::vector<Centre>& centres = row.as<MatrixFacts>().centres;
  ASSERT_EQ(centres.size(), 1U);
  EXPECT_EQ(centres[0], (Centre{"nbcc_centre0", "y", "x", 2, 40, 0}));
}

TEST(Image, WhatIsWrittenIsWhatIsRead) {
  PipelineImage image = image_of_pull();
  image.cuda_images = {{"sm_90", {64, 2, 256, 0, 4}, true, 77, 13010, std::string("\0bytes\n", 7)}};
  const std::string bytes = write_image(image);
  const PipelineImage again = read_image(bytes);
  EXPECT_EQ(write_image(again), bytes);
  EXPECT_EQ(again.made_by, "nbcc 7");
  ASSERT_EQ(again.cpu.size(), 3U);
  EXPECT_EQ(again.cpu[1].target, "cpu-avx2");
  EXPECT_EQ(again.cpu[1].lanes, 8);
  EXPECT_EQ(again.cpu[1].fields[2].defaults, std::vector<double>{2});
  for (std::size_t f = 0; f < image.cpu[1].fields.size(); ++f)
    EXPECT_EQ(FieldType(again.cpu[1].fields[f]), FieldType(image.cpu[1].fields[f])) << f;
  EXPECT_EQ(again.cpu[1].columns.i.size(), image.cpu[1].columns.i.size());
  ASSERT_EQ(again.cuda.variants.size(), image.cuda.variants.size());
  for (std::size_t v = 0; v < again.cuda.variants.size(); ++v) {
    EXPECT_EQ(again.cuda.variants[v].frame, image.cuda.variants[v].frame);
    EXPECT_EQ(again.cuda.variants[v].source, image.cuda.variants[v].source);
    EXPECT_EQ(again.cuda.variants[v].launches, image.cuda.variants[v].launches);
    EXPECT_EQ(again.cuda.variants[v].packed_bytes, image.cuda.variants[v].packed_bytes);
  }
  EXPECT_EQ(again.cpu[1].search.axes, 2);
  EXPECT_EQ(again.cpu[1].search.periodic, (std::vector{true, false}));
  EXPECT_EQ(again.cpu[1].search.reach, SearchLayout::Reach::Max);
  EXPECT_TRUE(again.cpu[1].search.triclinic);
  EXPECT_EQ(again.cpu[1].search.mirrored, image.cpu[1].search.mirrored);
  EXPECT_EQ(again.cpu[1].search.reach_uniform.steps.at(0).component, 3);
  EXPECT_EQ(again.cpu[1].search.lengths.at(1).steps.at(0).constant, 8);
  EXPECT_TRUE(again.cpu[1].search.lengths.at(0).steps.empty());
  EXPECT_EQ(again.cpu[1].search.j_positions, (std::vector{2, 1}));
  EXPECT_EQ(again.cuda_images[0].text, 77U);
  EXPECT_EQ(again.cuda.search.bound, "|xj - xi| < 1");
  EXPECT_EQ(again.cuda.search.obstacle, "line 3: why not");
  EXPECT_EQ(again.cuda.on_gpu.statements, image.cuda.on_gpu.statements);
  EXPECT_EQ(again.cuda_images[0].config, (LaunchConfig{64, 2, 256, 0, 4}));
  EXPECT_EQ(again.cuda_images[0].bytes, std::string("\0bytes\n", 7));
}

TEST(Image, BytesThatAreCutOffAreRefused) {
  PipelineImage image = image_of_pull();
  for (KernelVariant& variant : image.cuda.variants) variant.source = "short";
  const std::string bytes = write_image(image);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(read_image(bytes.substr(0, length)), UsageError) << length;
  }
  EXPECT_THROW(read_image(bytes + "x"), UsageError);
}

// What a description says (a column's component, the lanes of a vector) is believed by all that runs its kernels.
TEST(Image, AByteThatHasBeenChangedIsNoticed) {
  PipelineImage image = image_of_pull();
  for (KernelVariant& variant : image.cuda.variants) variant.source = "short";
  const std::string bytes = write_image(image);
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    for (const int change : {1, 0x80}) {
      std::string damaged = bytes;
      damaged[k] = char(damaged[k] ^ change);
      EXPECT_THROW(read_image(damaged), UsageError) << k;
    }
  }
}

TEST(Image, AnotherVersionIsNamed) {
  std::string bytes = write_image(image_of_pull());
  bytes[std::string("nbcc pipeline\n").size()] = 99;
  try {
    read_image(bytes);
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_THAT(e.what(), HasSubstr("a newer nbcc"));
  }
}

// ---- on the CPU

void nothing() {}
nbcc_image_kernel kernel_for(const char* isa) {
  return {isa,     nothing, nothing, nothing, nothing, nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, nullptr, nothing, nothing};
}

std::string target_taken(Isa device_isa, const std::vector<nbcc_image_kernel>& kernels) {
  CpuDevice device(1, device_isa, nullptr, "", "");
  return load_image(device, image_of_pull(), kernels)->source.target;
}

TEST(ImageOnCpu, TheBestInstructionSetOfTheDeviceIsTaken) {
  if (detect_isa() == Isa::Neon) GTEST_SKIP() << "not an x86 processor";
  const std::vector<nbcc_image_kernel> all{kernel_for("avx512"), kernel_for("avx2"), kernel_for("sse2")};
  EXPECT_EQ(target_taken(Isa::Sse2, all), "cpu-sse2");
  if (detect_isa() == Isa::Sse2) GTEST_SKIP() << "the rest needs AVX2";
  EXPECT_EQ(target_taken(Isa::Avx2, all), "cpu-avx2");
  EXPECT_EQ(target_taken(Isa::Avx2, {kernel_for("avx512"), kernel_for("sse2")}), "cpu-sse2");
}

TEST(ImageOnCpu, WhereNoneIsThereTheErrorSaysWhichThereAre) {
  if (detect_isa() == Isa::Neon) GTEST_SKIP() << "not an x86 processor";
  try {
    target_taken(Isa::Sse2, {kernel_for("avx512"), kernel_for("avx2")});
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_THAT(e.what(), HasSubstr("avx512, avx2"));
    EXPECT_THAT(e.what(), HasSubstr("cpu, sse2"));
  }
}

TEST(ImageOnCpu, ADeviceWithoutACompilerSaysSoOnlyWhenATextComes) {
  CpuDevice device(1, detect_isa(), nullptr, "", "");
  EXPECT_THROW(device.load(build_cpu_kernel(kPull, {}, detect_isa(), "")), UsageError);
  device.provide(make_cpu_toolchain());
  EXPECT_NO_THROW(device.load(build_cpu_kernel(kPull, {}, detect_isa(), "")));
}

// ---- on a GPU, which is the shim's

// Nothing is compiled where code is there; what else is asked for is counted.
class ImageOnShim : public testing::Test {
 protected:
  ImageOnShim() : image_(image_of_pull()) {}

  void hold(const std::string& architecture, bool ptx = false, int toolkit = 12000) {
    for (const LaunchConfig& config : image_.cuda.first().launches) hold(architecture, config, ptx, toolkit);
  }
  void hold(const std::string& architecture, const LaunchConfig& config, bool ptx, int toolkit) {
    image_.cuda_images.push_back({architecture, config, ptx, source_hash(image_.cuda.first().source), toolkit,
                                  shim_.compiler()->compile(image_.cuda.first().source, "sm_90", config).image});
  }
  void set_architecture(int major, int minor) {
    test::CudaShim::Device kind;
    kind.major = major;
    kind.minor = minor;
    shim_.set_device(kind);
  }

  // The sum over j of (xj - xi) * 2 for two i-particles, in the shim.
  std::vector<double> run() {
    CudaDevice device(shim_.driver(), shim_.compiler(), 0, "", "");
    const std::shared_ptr<const Kernel> kernel = load_image(device, image_, [this] {
      ++compilers_asked_for_;
      if (!has_compiler_) throw DeviceError("no NVRTC here");
      return shim_.compiler();
    });
    double xi[2] = {1, 2}, xj[3] = {10, 20, 30}, s[2] = {0, 0};
    SumState sum(kernel);
    sum.bind("xi", {xi, Element::Double, 2, 8, 8});
    sum.bind("xj", {xj, Element::Double, 3, 8, 8});
    sum.bind("s", {s, Element::Double, 2, 8, 8});
    sum.run();
    return {s[0], s[1]};
  }

  test::CudaShim shim_;
  PipelineImage image_;
  bool has_compiler_ = false;
  int compilers_asked_for_ = 0;
};

const std::vector<double> kSums{2 * (60 - 3), 2 * (60 - 6)};

TEST_F(ImageOnShim, CodeForItsArchitectureNeedsNoCompiler) {
  hold("sm_90");
  EXPECT_EQ(run(), kSums);
  EXPECT_EQ(compilers_asked_for_, 0);
}

// A kernel on each of several.
TEST_F(ImageOnShim, SeveralGpusTakeIt) {
  hold("sm_90");
  std::vector<std::shared_ptr<CudaDevice>> gpus;
  for (int k = 0; k < 2; ++k) gpus.push_back(std::make_shared<CudaDevice>(shim_.driver(), shim_.compiler(), k, "", ""));
  CudaGroup group(gpus, true);
  const std::shared_ptr<const Kernel> kernel =
      group.load_each([&](const CudaDevice& gpu) { return load_image(gpu, image_, [&] { return shim_.compiler(); }); });
  const std::vector<double> xi(600, 1), xj{10, 20, 30};
  std::vector<double> s(600);
  SumState sum(kernel);
  sum.bind("xi", {const_cast<double*>(xi.data()), Element::Double, 600, 8, 8});
  sum.bind("xj", {const_cast<double*>(xj.data()), Element::Double, 3, 8, 8});
  sum.bind("s", {s.data(), Element::Double, 600, 8, 8});
  sum.run();
  EXPECT_EQ(s, std::vector<double>(600, 2 * (60 - 3)));
}

TEST_F(ImageOnShim, CodeOfTheSameGenerationRunsOnLaterOnes) {
  set_architecture(8, 9);
  hold("sm_80");
  EXPECT_EQ(run(), kSums);
  EXPECT_EQ(compilers_asked_for_, 0);
}

TEST_F(ImageOnShim, CodeForLaterOnesDoesNotRunOnEarlierOnes) {
  set_architecture(8, 0);
  hold("sm_86");
  hold("sm_90", true);
  EXPECT_THROW(run(), DeviceError);
  has_compiler_ = true;
  EXPECT_EQ(run(), kSums);
  EXPECT_GT(compilers_asked_for_, 0);
}

TEST_F(ImageOnShim, PtxServesNewerGenerations) {
  set_architecture(10, 0);
  hold("sm_80");
  EXPECT_THROW(run(), DeviceError);
  hold("sm_90", true);
  compilers_asked_for_ = 0;
  EXPECT_EQ(run(), kSums);
  EXPECT_EQ(compilers_asked_for_, 0);
}

TEST_F(ImageOnShim, OneShapeIsEnoughWhereThereIsNoCompiler) {
  hold("sm_90", image_.cuda.first().launches.front(), false, 12000);
  EXPECT_EQ(run(), kSums);
}

TEST_F(ImageOnShim, CodeOfANewerToolkitThanTheDriversIsPassedOver) {
  shim_.set_driver_version(12040);
  hold("sm_90", false, 13000);
  try {
    run();
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_THAT(e.what(), HasSubstr("CUDA 13.0"));
    EXPECT_THAT(e.what(), HasSubstr("no NVRTC here"));
  }
  hold("sm_90", false, 12060);
  EXPECT_EQ(run(), kSums);
}

TEST_F(ImageOnShim, WithoutCodeTheTextIsCompiledWhereNvrtcIs) {
  EXPECT_THROW(run(), DeviceError);
  has_compiler_ = true;
  EXPECT_EQ(run(), kSums);
}

}  // namespace
}  // namespace nbcc

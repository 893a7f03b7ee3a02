#include "jit/cpu_jit.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "compiler/source/parse.h"
#include "compiler/text/diagnostic.h"
#include "jit/build_kernel.h"
#include "runtime/error.h"
#include "tests/support/folders.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/sampling.h"

namespace nbcc {
namespace {

std::string object_of(const KernelSource& kernel) { return make_cpu_toolchain()->compile(kernel, kernel.first()); }

int machine_of(const std::string& object) {
  Elf64_Ehdr header{};
  if (object.size() < sizeof header) return EM_NONE;
  std::memcpy(&header, object.data(), sizeof header);
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_REL ? header.e_machine : EM_NONE;
}

void expect_objects(const Pipeline& pipeline, const Options& options, const std::string& what) {
  EXPECT_EQ(machine_of(object_of(build_cpu_kernel(pipeline, options, Isa::Neon, ""))), EM_AARCH64) << what;
  EXPECT_EQ(machine_of(object_of(build_cpu_kernel(pipeline, options, Isa::Avx512, ""))), EM_X86_64) << what;
}

Options some_options(std::uint64_t k) {
  return {.precision = Precision(k % 3), .math = k % 2 ? Math::Fast : Math::Precise};
}

// Where no machine can run them, kernels are at least accepted, and are for the machine that they name.
TEST(cpu_jit, the_library_compiles_for_machines_that_this_is_not) {
  for (const std::string& name : test::sampled(test::library(), 4)) {
    const Pipeline pipeline = parse(read_source(test::source_folder() + "/pipelines/" + name + ".pipe"));
    expect_objects(pipeline, {}, name);
    expect_objects(pipeline, some_options(test::turn_of(name)), name);
  }
}

TEST(cpu_jit, random_pipelines_compile_for_machines_that_this_is_not) {
  for (const std::uint64_t seed : test::sampled_range<std::uint64_t>(5000, 5020, 4)) {
    const std::string text = test::random_pipeline_text(seed);
    expect_objects(parse({"random.pipe", text}), some_options(seed), text);
  }
}

KernelSource small_kernel() {
  return build_cpu_kernel(
      Source{"small.pipe", "input_i real xi; input_j real xj; output(sum) real s;\ns += sqrt(xj * xj + xi * xi);"}, {},
      Isa::Sse2, "");
}

TEST(cpu_jit, assembly_has_the_kernels_functions) {
  const std::string text = cpu_assembly(small_kernel());
  for (const char* name : {"nbcc_prepare_i:", "nbcc_prepare_j:", "nbcc_interact:", "nbcc_finish:", "sqrtps"})
    EXPECT_NE(text.find(name), std::string::npos) << name;
}

TEST(cpu_jit, refused_text_is_our_bug_and_quotes_the_compiler) {
  KernelSource source = small_kernel();
  source.first().source = "int f() { return not_there; }\n";
  try {
    object_of(source);
    FAIL() << "accepted";
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("not_there"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("'small'"), std::string::npos) << e.what();
  }
}

TEST(cpu_jit, an_unknown_target_is_refused) {
  KernelSource source = small_kernel();
  source.target = "cpu-vax";
  EXPECT_THROW(object_of(source), InternalError);
}

TEST(cpu_jit, what_is_no_object_is_a_device_error) {
  EXPECT_THROW(make_cpu_toolchain()->load("not an object"), DeviceError);
  EXPECT_THROW(make_cpu_toolchain()->load(""), DeviceError);
  std::string cut = object_of(small_kernel());
  cut.resize(cut.size() / 2);
  EXPECT_THROW(make_cpu_toolchain()->load(cut), DeviceError);
}

// A kernel may call mathematics and nothing else of the process that it is loaded into.
TEST(cpu_jit, kernels_cannot_reach_the_process) {
  KernelSource source = small_kernel();
  source.first().source +=
      "extern \"C\" int system(const char*);\nextern \"C\" int escape() { return system(\"true\"); }\n";
  const std::string object = object_of(source);
  testing::internal::CaptureStderr();
  try {
    make_cpu_toolchain()->load(object);
    ADD_FAILURE() << "loaded";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("system"), std::string::npos) << e.what();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(cpu_jit, loaded_code_has_all_four_functions) {
  const auto toolchain = make_cpu_toolchain();
  const auto code = toolchain->load(object_of(small_kernel()));
  EXPECT_TRUE(code->prepare_i && code->prepare_j && code->interact && code->finish);
}

// It is part of the cache's key: an option that it left out would leave old code in use.
TEST(CpuToolchain, NamesEveryOptionThatItCompilesWith) {
  const std::string identity = make_cpu_toolchain()->identity();
  for (const char* option : {"-O3", "-fno-builtin", "-ffp-contract=off", "-fwrapv", "-mstackrealign",
                             "-mrelocation-model pic", "-target-cpu x86-64-v4 -mprefer-vector-width=512"})
    EXPECT_NE(identity.find(option), std::string::npos) << option;
}

}  // namespace
}  // namespace nbcc

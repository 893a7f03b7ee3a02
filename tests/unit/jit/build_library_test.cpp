// Whole libraries: the same bytes each time, the same sums as without them, the texts that they are used by.
#include "jit/build_library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <thread>

#include "bindings/cpp/cpp_binding.h"
#include "bindings/fortran/fortran_binding.h"
#include "compiler/passes/facts/text_facts.h"
#include "compiler/source/parse.h"
#include "compiler/text/diagnostic.h"
#include "jit/build_kernel.h"
#include "jit/read_library.h"
#include "runtime/api/nbcc.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/program/cuda_variants.h"
#include "runtime/error.h"
#include "runtime/image/image.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/folders.h"
#include "tests/support/installed_nvrtc.h"
#include "tests/support/library_device.h"
#include "tests/support/sampling.h"
#include "tests/support/scratch_folder.h"

namespace nbcc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Source pipeline(const std::string& name) { return read_source(test::source_folder() + "/pipelines/" + name + ".pipe"); }

LibraryRequest request_of(std::vector<Source> sources, std::vector<Isa> isas) {
  LibraryRequest request;
  request.sources = std::move(sources);
  request.isas = std::move(isas);
  request.file_name = "libforces.so";
  request.rpath = {"$ORIGIN"};
  return request;
}

bool is_x86() { return detect_isa() != Isa::Neon; }
std::vector<Isa> every_isa() {
  return is_x86() ? std::vector{Isa::Avx512, Isa::Avx2, Isa::Sse2} : std::vector{Isa::Neon};
}

TEST(BuildLibrary, TwiceTheSameBytes) {
  LibraryRequest request = request_of({pipeline("gravity"), pipeline("ewald_real")}, every_isa());
  const LibraryFiles once = build_library(request), twice = build_library(request);
  EXPECT_EQ(once.library, twice.library);
  EXPECT_EQ(once.texts, twice.texts);
  request.is_static = true;
  request.file_name = "libforces.a";
  EXPECT_EQ(build_library(request).library, build_library(request).library);
}

// Its elementary functions are part of it: of the system it asks for nothing but the C library. The gamma function is
// libm's.
TEST(BuildLibrary, NeedsNoLibraryOfMathematics) {
  const auto of = [](const char* term) {
    const std::string text = std::string("input_i real x; input_j real y; output(sum) real u; u += ") + term + ";";
    return build_library(request_of({{"forces.pipe", text}}, every_isa())).library;
  };
  for (const char* term : {"exp(x * y)", "sin(x) + erfc(y)", "pow(x, y)", "bessel_j0(x * y)"}) {
    const std::string library = of(term);
    EXPECT_EQ(library.find("libm.so"), std::string::npos) << term;
    EXPECT_EQ(library.find("libmvec"), std::string::npos) << term;
  }
  EXPECT_NE(of("lgamma(x * y)").find("libm.so.6"), std::string::npos);
}

TEST(BuildLibrary, HoldsWhatWasAskedFor) {
  const test::CudaShim shim;
  LibraryRequest request = request_of({pipeline("gravity"), pipeline("potential")}, every_isa());
  request.options.precision = Precision::Double;
  request.architectures = {"sm_80", "sm_90"};
  request.cuda_compiler = shim.compiler();
  for (const bool is_static : {false, true}) {
    request.is_static = is_static;
    const LibraryFiles files = build_library(request);
    const std::vector<std::string> sections = sections_of_library(files.library, kImageSectionPrefix);
    ASSERT_EQ(sections.size(), 2U) << is_static;
    const PipelineImage gravity = read_image(sections[0]), potential = read_image(sections[1]);
    EXPECT_EQ(gravity.cuda.pipeline, "gravity");
    EXPECT_EQ(potential.cuda.pipeline, "potential");
    EXPECT_EQ(gravity.precision, "double");
    EXPECT_EQ(gravity.cpu.size(), every_isa().size());
    EXPECT_EQ(gravity.cuda.first().source, build_cuda_kernel(pipeline("gravity"), request.options, "").first().source);
    std::vector<std::string> codes;
    for (const CudaImage& image : gravity.cuda_images) {
      const std::string code = (image.ptx ? "PTX of " : "") + image.architecture;
      if (codes.empty() || codes.back() != code) codes.push_back(code);
    }
    EXPECT_THAT(codes, ElementsAre("sm_80", "sm_90", "PTX of sm_90"));
  }
}

// Child processes compile, as NVRTC compiles one text at a time. The images are those of calls in this process.
TEST(BuildLibrary, TheCodesOfChildProcessesAreThoseOfOne) {
  NBCC_NEEDS_NVRTC();
  LibraryRequest request =
      request_of({{"forces.pipe", "input_i real x; input_j real y; output(sum) real u; u += 1.0 / (x * y);"}},
                 {every_isa().back()});
  request.architectures = {"sm_80", "sm_90"};
  request.cuda_compiler = make_nvrtc();
  const PipelineImage image = read_image(sections_of_library(build_library(request).library, kImageSectionPrefix)[0]);
  const std::vector<CudaVariant> variants = all_variants(image.cuda);
  ASSERT_GT(image.cuda_images.size(), 2 * variants.size());
  std::size_t k = 0;
  const auto expect_next = [&](const CudaVariant& variant, const std::string& architecture, bool ptx) {
    const CudaImage& one = image.cuda_images.at(k++);
    const auto form = ptx ? CudaCompiler::Form::Ptx : CudaCompiler::Form::Cubin;
    const std::string source = source_of(image.cuda, variant);
    EXPECT_EQ(one.architecture, architecture) << k;
    EXPECT_EQ(one.config, variant.config) << k;
    EXPECT_EQ(one.text, source_hash(source)) << k;
    EXPECT_TRUE(one.bytes == request.cuda_compiler->compile(source, architecture, variant.config, form).image) << k;
  };
  for (const char* architecture : {"sm_80", "sm_90"})
    for (const CudaVariant& variant : variants) expect_next(variant, architecture, false);
  for (const CudaVariant& variant : variants)
    if (!is_choice_by_size(image.cuda, variant)) expect_next(variant, "sm_90", true);
  EXPECT_EQ(k, image.cuda_images.size());
}

// The functions are compiled together with the header, which is therefore one that compiles.
TEST(BuildLibrary, EveryPipelineBecomesAFunction) {
  std::vector<Source> sources;
  ASSERT_GT(test::library().size(), 20U);
  for (const std::string& name : test::sampled(test::library(), 4))
    sources.push_back(read_source(test::source_folder() + "/pipelines/" + name + ".pipe"));
  const std::size_t count = sources.size();
  const LibraryFiles files = build_library(request_of(sources, {every_isa().back()}));
  const std::vector<std::string> images = sections_of_library(files.library, kImageSectionPrefix);
  ASSERT_EQ(images.size(), count);
  // It knows of its texts what a process knows that compiles them.
  for (std::size_t k = 0; k < count; ++k) {
    SCOPED_TRACE(sources[k].path);
    const PipelineImage image = read_image(images[k]);
    const TextFacts facts = text_facts(parse(sources[k]));
    EXPECT_EQ(image.facts.index_guard, facts.index_guard);
    EXPECT_EQ(image.facts.index_use, facts.index_use);
    EXPECT_EQ(image.facts.is_read, facts.is_read);
    EXPECT_EQ(image.facts.digest, facts.digest);
    const KernelSource now = build_cpu_kernel(sources[k], {}, every_isa().back(), "");
    const DerivedKernels& symmetric = now.derivations->row("symmetric", Precision::Single);
    const KernelSource later = test::as_in_library(now, Precision::Single);
    const DerivedKernels& held = later.derivations->row("symmetric", Precision::Single);
    EXPECT_EQ(held.obstacle, symmetric.obstacle);
    ASSERT_EQ(held.facts != nullptr, symmetric.facts != nullptr);
    if (held.facts) EXPECT_EQ(held.as<SymmetricFacts>().partners, symmetric.as<SymmetricFacts>().partners);
  }
}

// ... whatever its fields are called: as what stands in the functions' bodies, words of languages, the other side's
// count.
TEST(BuildLibrary, NamesOfFieldsHideNothing) {
  const Source source{"names.pipe",
                      "input_i vec3 lambda;\ninput_i int end[2];\ninput_j real nbcc_arrays;\ninput_j vec2 self[2];\n"
                      "param int k[3] = {1, 2, 3};\nparam int nbcc_k = 3;\nparam vec3 nj[2] = {vec3(1), vec3(2)};\n"
                      "output(argmin) index device;\noutput(sum) int restrict;\noutput(max) real pipeline[2];\n"
                      "output(sum) real nbcc_result;\n"
                      "device = argmin(device, nbcc_arrays + lambda.x);\nrestrict += end[0] + k[2] + nbcc_k;\n"
                      "pipeline[1] = max(pipeline[1], self[1].y + nj[1].x);\nnbcc_result += 1.0;\n"};
  const LibraryFiles files = build_library(request_of({source}, {every_isa().back()}));
  EXPECT_THAT(files.texts.at("forces.h"), HasSubstr("const int32_t k[3], int32_t nbcc_k_, const double nj_[2][3],"));
}

TEST(BuildLibrary, WhatIsNoLibraryIsRefused) {
  EXPECT_THROW(sections_of_library("", ".nbcc."), UsageError);
  EXPECT_THROW(sections_of_library("text", ".nbcc."), UsageError);
}

TEST(BuildLibrary, WrongRequests) {
  EXPECT_THROW(build_library(request_of({}, every_isa())), UsageError);
  EXPECT_THROW(build_library(request_of({pipeline("gravity")}, {})), UsageError);
  EXPECT_THROW(build_library(request_of({pipeline("gravity")}, {Isa::Neon, Isa::Sse2})), UsageError);
  EXPECT_THROW(build_library(request_of({pipeline("gravity"), pipeline("gravity")}, every_isa())), UsageError);
  EXPECT_THROW(build_library(request_of({{"broken.pipe", "input_i real"}}, every_isa())), CompileError);
}

TEST(BuildLibrary, NamesOfLibraries) {
  EXPECT_EQ(library_name("libforces.so"), "forces");
  EXPECT_EQ(library_name("forces.so"), "forces");
  EXPECT_EQ(library_name("lib.so"), "lib");
  EXPECT_EQ(library_name("libmy-forces.2.a"), "my_forces_2");
  EXPECT_EQ(library_name("lib2d.so"), "lib2d");
}

TEST(BuildLibrary, AModuleDoesNotHaveTheNameOfAFunction) {
  LibraryRequest request = request_of({pipeline("gravity")}, {every_isa().back()});
  request.file_name = "libgravity.so";
  request.bindings = {cpp_binding("it"), fortran_binding("it")};
  const LibraryFiles files = build_library(request);
  EXPECT_THAT(files.texts.at("it.f90"), HasSubstr("module gravity_library\n"));
  EXPECT_THAT(files.texts.at("it.hpp"), HasSubstr("namespace gravity_library {"));
  request.cxx_namespace = "my::own";
  EXPECT_THAT(build_library(request).texts.at("it.hpp"), HasSubstr("namespace my::own {"));
  for (const char* const name : {"gravity", "gravity_open::own", "my::class"}) {
    request.cxx_namespace = name;
    EXPECT_THROW(build_library(request), UsageError) << name;
  }
  request.cxx_namespace.clear();
  for (const char* const name : {"class", "nbcc"}) {
    request.file_name = std::string("lib") + name + ".so";
    EXPECT_THAT(build_library(request).texts.at("it.hpp"), HasSubstr("namespace " + std::string(name) + "_library {"));
  }
}

// ---- a library that is loaded. This program holds a runtime of its own; the library brings the shared one along.

class LoadedLibrary {
 public:
  explicit LoadedLibrary(const LibraryFiles& files) {
    // By its name, which the library asks for.
    runtime_ = ::dlopen((test::build_folder() + "/lib/libnbcc_runtime.so.0").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!runtime_) throw std::runtime_error(::dlerror());
    const std::string path = folder_.write("libforces.so", files.library);
    library_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw std::runtime_error(::dlerror());
  }
  ~LoadedLibrary() { ::dlclose(library_); }
  template <typename Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(library_, name));
  }
  template <typename Function>
  Function* of_runtime(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(runtime_, name));
  }
  std::string last_error() const { return of_runtime<const char*()>("nbcc_last_error")(); }
  std::string last_warning() const { return of_runtime<const char*()>("nbcc_last_warning")(); }

 private:
  test::ScratchFolder folder_;
  void *runtime_ = nullptr, *library_ = nullptr;
};

template <typename T>
using Gravity = int(std::int64_t ni, const T (*xi)[3], std::int64_t nj, const T (*xj)[3], const T* mj, double eps2,
                    T (*acc)[3], T* pot);
using LennardJones = int(std::int64_t ni, const double (*xi)[3], std::int64_t nj, const double (*xj)[3], double sigma,
                         double eps, double rc, double shift, const double box[3], double (*force)[3], double* energy,
                         double* virial);

constexpr int kCount = 733;

template <typename T>
std::vector<T> numbers(std::size_t count, unsigned seed) {
  std::vector<T> values;
  std::uint64_t state = seed;
  for (std::size_t k = 0; k < count; ++k) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    values.push_back(T(double(state >> 11) / 9007199254740992.0 * 8));
  }
  return values;
}

template <typename T>
T (*rows(std::vector<T>& values))
[3] {
  return reinterpret_cast<T(*)[3]>(values.data());
}

// The same pipeline without a library.
class CompiledNow {
 public:
  CompiledNow(const std::string& name, const Options& options, Isa isa)
      : device_(2, isa, make_cpu_toolchain(), "", ""),
        sum_(device_.load(build_cpu_kernel(pipeline(name), options, isa, ""))) {}
  CompiledNow& set(const char* param, std::vector<double> values) {
    sum_.set_param(param, values);
    return *this;
  }
  template <typename T>
  CompiledNow& bind(const char* field, std::vector<T>& values) {
    const std::int64_t bytes = sizeof(T), width = std::int64_t(values.size()) / kCount;
    sum_.bind(field, {values.data(), bytes == 4 ? Element::Float : Element::Double, kCount, width * bytes, bytes});
    return *this;
  }
  CompiledNow& ignore(const char* field) {
    sum_.ignore(field);
    return *this;
  }
  void run() { sum_.run(); }

 private:
  CpuDevice device_;
  SumState sum_;
};

class LibraryOfOneIsa : public testing::TestWithParam<std::pair<Isa, Precision>> {
 protected:
  static CompiledNow compiled_now(const std::string& name) {
    Options options;
    options.precision = GetParam().second;
    return {name, options, GetParam().first};
  }
  static LibraryFiles build() {
    LibraryRequest request = request_of({pipeline("gravity"), pipeline("lennard_jones")}, {GetParam().first});
    request.options.precision = GetParam().second;
    return build_library(request);
  }
};

// To the last bit: it is the same text, compiled the same way.
TEST_P(LibraryOfOneIsa, SumsAsThePipelineThatIsCompiledNow) {
  const LoadedLibrary library(build());
  std::vector<double> x = numbers<double>(3 * kCount, 1), m = numbers<double>(kCount, 2), acc(3 * kCount), pot(kCount);
  std::vector<double> acc_now(3 * kCount), pot_now(kCount), energy(kCount), energy_now(kCount);
  ASSERT_EQ(library.function<Gravity<double>>("gravity")(kCount, rows(x), kCount, rows(x), m.data(), 1e-3, rows(acc),
                                                         pot.data()),
            NBCC_OK)
      << library.last_error();
  CompiledNow gravity = compiled_now("gravity");
  gravity.set("eps2", {1e-3}).bind("xi", x).bind("xj", x).bind("mj", m).bind("acc", acc_now).bind("pot", pot_now).run();
  EXPECT_EQ(acc, acc_now);
  EXPECT_EQ(pot, pot_now);
  EXPECT_NE(pot[0], 0);

  const double box[3] = {8, 8, 8};
  ASSERT_EQ(library.function<LennardJones>("lennard_jones")(kCount, rows(x), kCount, rows(x), 0.3, 1, 2.5, 1, box,
                                                            rows(acc), energy.data(), nullptr),
            NBCC_OK)
      << library.last_error();
  CompiledNow lennard_jones = compiled_now("lennard_jones");
  lennard_jones.set("sigma", {0.3})
      .set("rc", {2.5})
      .set("shift", {1})
      .set("box", {8, 8, 8})
      .bind("xi", x)
      .bind("xj", x);
  lennard_jones.bind("force", acc_now).bind("energy", energy_now).ignore("virial").run();
  EXPECT_EQ(acc, acc_now);
  EXPECT_EQ(energy, energy_now);
}

TEST_P(LibraryOfOneIsa, ArraysOfFloat) {
  const LoadedLibrary library(build());
  std::vector<float> x = numbers<float>(3 * kCount, 1), m = numbers<float>(kCount, 2), acc(3 * kCount), pot(kCount),
                     acc_now(3 * kCount);
  ASSERT_EQ(library.function<Gravity<float>>("gravity_f")(kCount, rows(x), kCount, rows(x), m.data(), 1e-3, rows(acc),
                                                          pot.data()),
            NBCC_OK);
  CompiledNow gravity = compiled_now("gravity");
  gravity.set("eps2", {1e-3}).bind("xi", x).bind("xj", x).bind("mj", m).bind("acc", acc_now).ignore("pot").run();
  EXPECT_EQ(acc, acc_now);
}

INSTANTIATE_TEST_SUITE_P(Here, LibraryOfOneIsa, testing::ValuesIn(test::isas_with_precisions()), [](const auto& info) {
  return std::string(name(info.param.first)) + "_" + std::string(name(info.param.second));
});

// Functions of the C library come along, in the version that is the loader's own choice.
TEST(BuildLibrary, PipelinesThatCallTheMathematicsLibraryLoad) {
  LibraryRequest request = request_of({pipeline("ewald_real"), pipeline("gaussian_rbf")}, test::runnable_isas());
  const LoadedLibrary library(build_library(request));
  EXPECT_NE(library.function<int()>("ewald_real"), nullptr);
}

TEST(BuildLibrary, ThreadsCallAtOnce) {
  const LoadedLibrary library(build_library(request_of({pipeline("gravity")}, {test::runnable_isas().back()})));
  const auto gravity = library.function<Gravity<double>>("gravity");
  std::vector<double> x = numbers<double>(3 * kCount, 1), m = numbers<double>(kCount, 2), alone(3 * kCount);
  ASSERT_EQ(gravity(kCount, rows(x), kCount, rows(x), m.data(), 1e-3, rows(alone), nullptr), NBCC_OK);
  std::vector<std::vector<double>> together(4, std::vector<double>(3 * kCount));
  std::vector<std::thread> threads;
  for (std::vector<double>& acc : together) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) gravity(kCount, rows(x), kCount, rows(x), m.data(), 1e-3, rows(acc), nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<double>& acc : together) EXPECT_EQ(acc, alone);
}

TEST(BuildLibrary, NotANumberDisturbsNobodyElse) {
  const LoadedLibrary library(build_library(request_of({pipeline("gravity")}, {test::runnable_isas().back()})));
  const auto gravity = library.function<Gravity<double>>("gravity");
  std::vector<double> x = numbers<double>(30, 1), at = x, m = numbers<double>(10, 2), acc(30), expected(30);
  ASSERT_EQ(gravity(10, rows(at), 10, rows(x), m.data(), 1e-3, rows(expected), nullptr), NBCC_OK);
  at[3 * 4] = std::nan("");
  ASSERT_EQ(gravity(10, rows(at), 10, rows(x), m.data(), 1e-3, rows(acc), nullptr), NBCC_OK);
  for (int k = 0; k < 30; ++k) {
    if (k / 3 == 4) {
      EXPECT_TRUE(std::isnan(acc[k])) << k;
    } else {
      EXPECT_EQ(acc[k], expected[k]) << k;
    }
  }
}

TEST(BuildLibrary, MistakesAreToldByLastError) {
  const LoadedLibrary library(build_library(request_of({pipeline("gravity")}, {test::runnable_isas().back()})));
  const auto gravity = library.function<Gravity<double>>("gravity");
  std::vector<double> x = numbers<double>(6, 1), acc(6, 5.0), pot(2, 5.0);
  EXPECT_EQ(gravity(-2, rows(x), 2, rows(x), x.data(), 1e-3, rows(acc), pot.data()), NBCC_ERROR_USAGE);
  EXPECT_THAT(library.last_error(), HasSubstr("-2"));
  EXPECT_EQ(gravity(2, rows(x), 2, rows(x), nullptr, 1e-3, rows(acc), pot.data()), NBCC_ERROR_USAGE);
  EXPECT_THAT(library.last_error(), HasSubstr("mj"));
  EXPECT_EQ(acc, std::vector<double>(6, 5.0));
  EXPECT_EQ(pot, std::vector<double>(2, 5.0));
}

// Functions without handles check their results as nbcc_sum_run does.
TEST(BuildLibrary, ResultsThatAreDoubtfulAreTold) {
  const Source source{
      "doubtful.pipe",
      "input_i real xi; input_j real xj; output(sum) int n; output(sum) real s; output(total) int all;\n"
      "skip_if(i_index == j_index);\nn += 1000000000; s += 1.0 / (xj - xi); all += 1;\n"};
  const LoadedLibrary library(build_library(request_of({source}, {test::runnable_isas().back()})));
  const auto doubtful = library.function<int(std::int64_t, const double*, std::int64_t, const double*, std::int32_t*,
                                             double*, std::int32_t*)>("doubtful");
  std::vector<double> x{0, 1, 2}, other{0, 5, 7}, s(4);
  std::vector<std::int32_t> n(4);
  std::int32_t all = 0;
  ASSERT_EQ(doubtful(3, x.data(), 3, x.data(), n.data(), s.data(), &all), NBCC_OK) << library.last_error();
  EXPECT_EQ(library.last_warning(), "");
  EXPECT_EQ(all, 6);
  ASSERT_EQ(doubtful(3, x.data(), 3, other.data(), n.data(), s.data(), &all), NBCC_OK);
  EXPECT_THAT(library.last_warning(), HasSubstr("are two sets of particles"));
  other = {4, 2, 2};
  ASSERT_EQ(doubtful(3, x.data(), 3, other.data(), nullptr, s.data(), nullptr), NBCC_OK);
  EXPECT_THAT(library.last_warning(), HasSubstr("two sets of particles"));
  x = {0, 2, 2};
  ASSERT_EQ(doubtful(3, x.data(), 3, x.data(), nullptr, s.data(), nullptr), NBCC_OK);
  EXPECT_THAT(library.last_warning(), HasSubstr("output 's' is NaN or infinite in 2 of 3 rows"));
  x = {0, 1, 3, 7};
  EXPECT_EQ(doubtful(4, x.data(), 4, x.data(), n.data(), s.data(), &all), NBCC_ERROR_USAGE);
  EXPECT_THAT(library.last_error(), HasSubstr("row 0 of the int32 array is at the limit 2147483647"));
}

// ... and each call has the numbers of its own run, whatever calls were before.
TEST(BuildLibrary, WarningsAreThoseOfTheLastCall) {
  const LoadedLibrary library(build_library(request_of({pipeline("lennard_jones")}, {test::runnable_isas().back()})));
  std::vector<double> x = numbers<double>(30, 1), energy(10);
  for (const double length : {4.0, 4.5, 6.0}) {
    const double box[3] = {length, length, length};
    ASSERT_EQ(library.function<LennardJones>("lennard_jones")(10, rows(x), 10, rows(x), 0.3, 1, 2.5, 1, box, nullptr,
                                                              energy.data(), nullptr),
              NBCC_OK)
        << library.last_error();
    if (length == 6)
      EXPECT_EQ(library.last_warning(), "");
    else
      EXPECT_THAT(library.last_warning(), HasSubstr(length == 4 ? "4" : "4.5"));
  }
}

// Two instruction sets are in it, and this machine has neither the first nor, perhaps, the second.
TEST(BuildLibrary, AProcessorWithoutAKernelIsADeviceError) {
  if (!is_x86() || detect_isa() == Isa::Avx512) GTEST_SKIP() << "this processor has them all";
  const LoadedLibrary library(build_library(request_of({pipeline("gravity")}, {Isa::Avx512})));
  std::vector<double> x = numbers<double>(6, 1), acc(6);
  EXPECT_EQ(library.function<Gravity<double>>("gravity")(2, rows(x), 2, rows(x), x.data(), 0, rows(acc), nullptr),
            NBCC_ERROR_DEVICE);
  EXPECT_THAT(library.last_error(), HasSubstr("avx512"));
}

}  // namespace
}  // namespace nbcc

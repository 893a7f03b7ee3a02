// The instructions that the CUDA templates write themselves (asm), as NVRTC hands them on to the assembler: each is
// there, in a kernel that needs it. What they compute is seen on a GPU alone; the shim has functions of its own
// instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/passes/optimize/element_loops.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/source/parse.h"
#include "runtime/cuda/far/cuda_far_source.h"
#include "tests/support/folders.h"
#include "tests/support/installed_nvrtc.h"

namespace nbcc {
namespace {

// asm("max.NaN.f32 %0, ..." -> "max.NaN.f32"; of asm(NBCC_IF "add.rn.f32 ...") what stands behind the condition.
std::set<std::string> instructions_of_templates() {
  std::set<std::string> found;
  const std::regex statement("asm(?: volatile)?\\((?:[A-Z_]+ )?\"([a-z0-9]+\\.[A-Za-z0-9_.]+)");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_folder() + "/templates")) {
    if (!entry.is_regular_file()) continue;
    const std::string text = read_source(entry.path().string()).text;
    for (std::sregex_iterator at(text.begin(), text.end(), statement), end; at != end; ++at) found.insert((*at)[1]);
  }
  return found;
}

std::set<std::string> instructions_of_source(const std::string& kernel) {
  const CudaCompiler* const nvrtc = test::installed_nvrtc();
  EXPECT_GT(nvrtc->compile(kernel, "sm_90", {}).registers, 0);  // the assembler takes them, too
  const std::string ptx = nvrtc->compile(kernel, "sm_90", {}, CudaCompiler::Form::Ptx).image;
  std::set<std::string> found;
  const std::regex block("// begin inline asm\\s+(?:\\{[^}]*@%?p )?([a-z0-9]+\\.[A-Za-z0-9_.]+)");
  for (std::sregex_iterator at(ptx.begin(), ptx.end(), block), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

// Of a kernel whose products are computed by matrix instructions.
std::set<std::string> instructions_of_products(const std::string& text) {
  const Options options{.matrix_units = MatrixUnits::TwoHalves};
  const Pipeline pipeline = with_element_loops(parse({"t.pipe", text}), options.math);
  const KernelSource source = emit_cuda(optimize(pipeline, options, cuda_target()), options, nullptr);
  return instructions_of_source(source.first().source);
}

std::set<std::string> instructions_of_kernel(const std::string& text, Precision precision, bool search = false) {
  const Options options{.precision = precision};
  const Pipeline pipeline = parse({"t.pipe", text});
  const NeighbourhoodProof proof = prove_neighbourhood(pipeline);
  const KernelSource source = emit_cuda(optimize(pipeline, options, cuda_target()), options,
                                        proof.neighbourhood ? &*proof.neighbourhood : nullptr);
  return instructions_of_source((search ? *source.find(Frame::Search) : source.first()).source);
}

TEST(inline_ptx, stands_in_kernels_that_need_it) {
  NBCC_NEEDS_NVRTC();
  const std::string fields =
      "input_i real xi; input_j real xj; input_j real mj; output(sum) real s; output(sum) real t; output(sum) real u; "
      "output(max) real m; output(min) real n;\nreal d = xj - xi; real r2 = d * d;\n";
  const std::string guarded = fields + "if (d < 2.0) { s += mj; t += mj * d; }\n";
  std::set<std::string> found;
  for (const std::string& text :
       {guarded + "u += d / (mj + xi);\nm = max(m, sqrt(r2 + xi) * min(d, mj)); n = min(n, max(mj, 1.0 / (r2 + 1.0)));",
        guarded + "u += rsqrt(r2 + xi) * exp(d); m = max(m, d); n = min(n, d);"}) {
    for (const Precision precision : {Precision::Single, Precision::Double})
      found.merge(instructions_of_kernel(text, precision));
  }
  for (const char* const reach : {"1.5", "max(hi, hj)"})
    found.merge(
        instructions_of_kernel(std::string("input_i vec3 xi; input_j vec3 xj; input_i real hi; input_j real hj; "
                                           "output(sum) real s;\nvec3 d = xj - xi; real h = ") +
                                   reach + "; real r2 = dot(d, d); if (r2 < h * h) s += r2;",
                               Precision::Single, true));
  found.merge(instructions_of_source(
      cuda_far_source("grids", "#define NBCC_AXES 3\n#define NBCC_ORDER 6\n", {"cuda_far_grids.cu"}).first().source));
  found.merge(instructions_of_products(
      "input_i real xi[40]; input_j real xj[40]; output(sum) real g[40];\nreal e = dot(xi, xj);\n"
      "for (int k = 0; k < 40; ++k) g[k] += e * xj[k];\n"));
  // optimize() makes a quotient of floats a product with a reciprocal.
  found.insert("div.full.ftz.f32");
  const std::set<std::string> written = instructions_of_templates();
  EXPECT_GE(written.size(), 8u);
  for (const std::string& instruction : written) EXPECT_EQ(found.count(instruction), 1u) << instruction;
}

}  // namespace
}  // namespace nbcc

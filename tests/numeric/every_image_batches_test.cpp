// Sums over every periodic image in batches, beside sums over each batch by itself.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "compiler/source/parse.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/sum/derived/for_callers.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"

namespace nbcc::test {
namespace {

// Small crystals: the images of each batch's particles are those of its own cell, and act on its own i alone.
void expect_images_of_batches(KernelDevice& device, const KernelSource& source) {
  const auto kernel = for_callers(device.load(source));
  const std::vector<double> x{0.25, 1.5, 0.5, 2, 3.75, 7, 1}, sides{2, 5, 1.5};
  const std::vector<std::int64_t> ids{0, 0, 1, 1, 1, 1, 2}, first{0, 1, 1, 2, 2, 2, 2, 2}, j{1, 3},
      images{1, 0, 0, 0, 0, 0}, begins{0, 2, 6, 7};
  const auto bind = [](SumState& sum, const double* at, std::vector<double>& out, std::int64_t count) {
    for (const char* field : {"xi", "xj"}) sum.bind(field, {const_cast<double*>(at), Element::Double, count, 8, 8});
    sum.bind("s", {out.data(), Element::Double, count, 8, 8});
    sum.bind("least", {out.data() + count, Element::Double, count, 8, 8});
  };
  for (const auto& [skin, pairs] :
       {std::pair{0.0, PairChoice::Auto}, {0.25, PairChoice::Cutoff}, {0.0, PairChoice::All}}) {
    SumState sum(kernel);
    std::vector<double> all(14, 100.0);
    bind(sum, x.data(), all, 7);
    sum.set_batches(3, 7, ids.data(), 7, ids.data());
    sum.set_param_of_groups("side", sides);
    sum.set_exclusions(7, first.data(), 2, j.data(), images.data());
    sum.set_skin(skin);
    sum.set_pairs(pairs);
    const std::vector<std::int64_t> chosen{6, 0, 3, 2};
    sum.run({.i_count = 4, .i_list = chosen.data(), .accumulate = true});
    EXPECT_EQ(all[1], 100);
    EXPECT_EQ(all[4], 100);
    sum.run();
    for (std::size_t b = 0; b < 3; ++b) {
      const std::int64_t begin = begins[b], count = begins[b + 1] - begin;
      SumState one(kernel);
      std::vector<double> own(std::size_t(2 * count), -1.0);
      bind(one, x.data() + begin, own, count);
      one.set_param("side", {&sides[b], 1});
      one.set_pairs(pairs);
      one.set_offsets(begin, begin);
      const std::vector<std::int64_t> rows(first.begin() + begin, first.begin() + begin + count + 1);
      std::vector<std::int64_t> own_first, own_j;
      for (const std::int64_t at : rows) own_first.push_back(at - rows.front());
      for (std::int64_t at = rows.front(); at < rows.back(); ++at) own_j.push_back(j[std::size_t(at)] - begin);
      one.set_exclusions(count, own_first.data(), std::int64_t(own_j.size()), own_j.data(),
                         images.data() + 3 * rows.front());
      one.run();
      for (std::int64_t i = 0; i < count; ++i) {
        EXPECT_EQ(all[std::size_t(begin + i)], own[std::size_t(i)]) << "i " << begin + i << ", skin " << skin;
        EXPECT_EQ(all[std::size_t(7 + begin + i)], own[std::size_t(count + i)]) << "i " << begin + i;
      }
    }
  }
}

const char* const kImagesOfBatches =
    "input_i real xi; input_j real xj; param real side; output(sum) real s; output(min) real least;\n"
    "real d = every_image(xj - xi, side);\nskip_if(self_pair || d * d > 9.0); s += d * d * (1.0 + i_index);\n"
    "least = min(least, d * d);\nvoid finish() { s += 2.0; }\n";

TEST(EveryImageOnCpu, ActsWithinEachBatch) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(2, isa, cpu_toolchain(), "", "");
  expect_images_of_batches(device,
                           build_cpu_kernel(parse({"batches.pipe", kImagesOfBatches}), {Precision::Double}, isa, ""));
}

TEST(EveryImageOnShim, ActsWithinEachBatch) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_images_of_batches(device,
                           build_cuda_kernel(parse({"batches.pipe", kImagesOfBatches}), {Precision::Double}, ""));
}

}  // namespace
}  // namespace nbcc::test

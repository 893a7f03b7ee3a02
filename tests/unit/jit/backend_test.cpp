// The rows of the backends, and what the runtime has of the same ones.
#include "jit/backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/api/open_device.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

const Pipeline& count_within() {
  static const Pipeline pipeline =
      parse({"near.pipe",
             "input_i vec3 xi; input_j vec3 xj; param real rc; output(sum) real n; vec3 d = xj - xi;\n"
             "if (dot(d, d) < rc * rc) n += 1.0;"});
  return pipeline;
}

TEST(backend, each_has_devices) {
  ASSERT_EQ(backends().size(), device_kinds().size());
  for (const DeviceKind& kind : device_kinds()) EXPECT_EQ(backend_named(kind.backend).name, kind.backend);
}

TEST(backend, devices_are_found_by_name) {
  EXPECT_EQ(kind_of_device("cpu").backend, "cpu");
  for (const char* name : {"cuda", "cuda:3", "cuda:all", "cuda:0,2"}) EXPECT_EQ(kind_of_device(name).backend, "cuda");
  try {
    kind_of_device("rocm");
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_EQ(std::string(e.what()), "there is no device 'rocm'; there are " + all_device_names());
  }
}

TEST(backend, one_that_is_unknown_is_refused) { EXPECT_THROW(backend_named("rocm"), UsageError); }

TEST(backend, targets_begin_with_its_name) {
  for (const Backend& backend : backends())
    EXPECT_TRUE(build_kernel(backend, count_within(), {}, Isa{}, "").target.starts_with(backend.name)) << backend.name;
}

const Pipeline& sum_of_products() {
  static const Pipeline pipeline =
      parse({"wide.pipe", "input_i real xi[40]; input_j real xj[40];\noutput(sum) real s;\ns += exp(-dot(xi, xj));\n"});
  return pipeline;
}

TEST(backend, stages_have_distinct_names_and_texts) {
  std::set<std::string> names, texts;
  for (const Backend& backend : backends()) {
    for (const KernelStage& stage : backend.stages) {
      EXPECT_TRUE(names.insert(std::string(stage.name)).second) << stage.name;
      // Only wide loops have kernels with matrix instructions.
      const bool is_wide = stage.name.find("-hal") != stage.name.npos || stage.name.find("-two") != stage.name.npos;
      const Pipeline& pipeline = is_wide ? sum_of_products() : count_within();
      EXPECT_TRUE(texts.insert(stage_text(pipeline, stage.name, {}, Isa{})).second) << stage.name;
    }
  }
}

}  // namespace
}  // namespace nbcc

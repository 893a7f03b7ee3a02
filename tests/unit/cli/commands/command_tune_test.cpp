// `nbcc tune` and `nbcc bench --sweep` on the shim's GPU, whose times say nothing: what is measured, shown and kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/sum/particle_sum.h"
#include "particles/initial_conditions/random_particles.h"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/command.h"
#include "tests/support/cuda_shim.h"

namespace nbcc::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kText =
    "input_i real xi;\ninput_j real xj;\nparam real eps2 = 1.0;\noutput(sum) real s;\n"
    "real dx = xj - xi;\ns += dx * rsqrt(dx * dx + eps2);\n";

class CommandTune : public testing::Test {
 protected:
  CommandTune() {
    folder_.write("small.pipe", kText);
    setenv("NBCC_CACHE_DIR", folder_.path("cache").c_str(), 1);
  }
  ~CommandTune() override { unsetenv("NBCC_CACHE_DIR"); }

  std::shared_ptr<KernelDevice> device() {
    return std::make_shared<CudaDevice>(shim_.driver(), shim_.compiler(), 0, "", "");
  }
  // What the command says that these words are, after the pipeline's file.
  std::string said(const std::string& command, const std::string& words) {
    CLI::App app("", "nbcc");
    Invocation invocation;
    invocation.device = device();
    add_commands(app, invocation);
    testing::internal::CaptureStdout();
    app.parse(command + " " + folder_.path("small.pipe") + " --device cuda " + words);
    return testing::internal::GetCapturedStdout();
  }
  // In a second, in which the shim's compiler makes three kernels or so.
  json tune(const std::string& words = "") { return json::parse(said("tune", "--n 40 --budget 1 --json " + words))[0]; }
  std::vector<CudaTunings::Entry> kept() const { return CudaTunings(folder_.path("cache")).list(); }

  CudaShim shim_;
  ScratchFolder folder_;
};

TEST_F(CommandTune, MeasuresAndKeepsWhatItFinds) {
  const json row = tune();
  EXPECT_EQ(row["pipeline"], "small");
  EXPECT_EQ(row["ni"], 40);
  EXPECT_GE(row["measured"].get<int>(), 1);
  for (const char* number : {"threads", "i_per_thread", "j_tile", "unroll", "j_slices", "j_splits"}) {
    EXPECT_GT(row["model"][number].get<int>(), 0) << number;
  }
  EXPECT_GT(row["model_interactions_per_s"].get<double>(), 0.0);
  // Where there is no time for all kernels, what is faster is kept, but not that nothing is.
  const bool unfinished = row["out_of_time"], same = row["best"].is_null();
  EXPECT_EQ(row["outcome"], !unfinished ? "kept" : same ? "out of time" : "kept, out of time");
  const std::vector<CudaTunings::Entry> entries = kept();
  ASSERT_EQ(entries.size(), unfinished && same ? 0u : 1u);
  if (entries.empty()) return;
  const CudaTuned* const tuned = entries[0].table.measured({5, 5});
  ASSERT_NE(tuned, nullptr);
  EXPECT_EQ(tuned->config == LaunchConfig{}, same);
  EXPECT_EQ(tuned->gain() >= 1.02, !same);
}

TEST_F(CommandTune, WhatIsKnownIsNotMeasuredAgainUnlessForced) {
  const ParticleSum sum(folder_.path("small.pipe"), {}, {}, device());
  const LaunchConfig choice{64, 2, 64, 8, 1, 3};
  CudaTunings(folder_.path("cache")).store(sum.cuda_kernel().tuning_subject(), {5, 5}, {choice, 3e9, 2e9});
  const json known = tune();
  EXPECT_EQ(known["measured"], 0);
  EXPECT_EQ(known["outcome"], "known");
  EXPECT_EQ(known["best"]["j_splits"], 3);
  EXPECT_EQ(known["gain"], 1.5);
  EXPECT_GT(tune("--force")["measured"].get<int>(), 0);
}

TEST_F(CommandTune, WhatCannotBeKeptIsSaid) {
  folder_.write("cache", "in the way");
  const json row = tune();
  EXPECT_THAT(row["outcome"].get<std::string>(), testing::AnyOf("out of time", "cannot be kept"));
}

TEST_F(CommandTune, ADryRunKeepsNothing) {
  EXPECT_GT(tune("--dry-run")["measured"].get<int>(), 0);
  EXPECT_TRUE(kept().empty());
}

TEST_F(CommandTune, ATableHasALineForEachSize) {
  const std::string text = said("tune", "--n 30,40 --budget 1 --dry-run");
  EXPECT_THAT(text, HasSubstr("small on cuda:0, Shim GPU, sm_90, single precision, fast math"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
}

TEST_F(CommandTune, SweepsBlocksUnrollingAndLanes) {
  const json cells = json::parse(said("bench", "--sweep --n 40 --json"));
  std::set<std::pair<std::string, int>> seen;
  for (const json& cell : cells) {
    seen.emplace(cell["choice"], cell["value"]);
    EXPECT_EQ(cell["nj"], 40);
    EXPECT_GT(cell["interactions_per_s"].get<double>(), 0.0) << cell;
  }
  EXPECT_EQ(seen.size(), cells.size());
  EXPECT_TRUE(seen.contains({"threads", 32}) && seen.contains({"threads", 512}));
  EXPECT_TRUE(seen.contains({"unroll", 1}) && seen.contains({"unroll", 32}));
  EXPECT_TRUE(seen.contains({"j_slices", 1}) && seen.contains({"j_slices", 32}));
}

TEST_F(CommandTune, AnotherConfigurationGivesTheSameSum) {
  ParticleSum sum(folder_.path("small.pipe"), {}, {{"eps2", {0.25}}}, device());
  const RandomSides i = random_particles(sum.inputs(), 50, 1), j = random_particles(sum.inputs(), 300, 2);
  sum.bind(bind_particles(sum.inputs(), {&i.i, "i"}, {&j.j, "j"}, {}), 50, 300);
  sum.run();
  sum.wait();
  const auto before = std::get<std::vector<double>>(sum.outputs()[0].data);
  sum.set_launch({64, 1, 64, 4, 1, 2});
  auto& after = std::get<std::vector<double>>(sum.outputs()[0].data);
  std::fill(after.begin(), after.end(), -7.0);
  sum.run();
  sum.wait();
  EXPECT_EQ(shim_.last_launch(), (std::vector<unsigned>{1, 2, 1, 64, 1, 1}));
  for (std::size_t k = 0; k < before.size(); ++k) EXPECT_NEAR(after[k], before[k], 1e-4);
}

}  // namespace
}  // namespace nbcc::test

#include "compiler/emit/cuda/launch/launch_configs.h"

#include <gtest/gtest.h>

namespace nbcc {
namespace {

TEST(LaunchConfigs, HeavierParticlesAreFewerPerThread) {
  CudaNeeds needs;
  int last = 4;
  for (needs.accumulators = 1; needs.accumulators <= 40; ++needs.accumulators) {
    const int now = launch_configs(needs).front().i_per_thread;
    EXPECT_LE(now, last) << needs.accumulators;
    last = now;
  }
  EXPECT_EQ(launch_configs({}).front().i_per_thread, 4);
  EXPECT_EQ(last, 1);
}

TEST(LaunchConfigs, LongLoopsAreWrittenOutLess) {
  EXPECT_EQ(launch_configs({.instructions = 10}).front().unroll, 32);
  EXPECT_LT(launch_configs({.instructions = 100}).front().unroll, 32);
  EXPECT_EQ(launch_configs({.instructions = 100000}).front().unroll, 1);
  EXPECT_LT(launch_configs({.precision = Precision::Double, .instructions = 16}).front().unroll,
            launch_configs({.instructions = 16}).front().unroll);
}

TEST(LaunchConfigs, LongBodiesAndKeptIndicesHaveTwoIPerThread) {
  EXPECT_EQ(launch_configs({.instructions = 32}).front().i_per_thread, 4);
  EXPECT_EQ(launch_configs({.instructions = 33}).front().i_per_thread, 2);
  EXPECT_EQ(launch_configs({.keeps_index = true}).front().i_per_thread, 2);
  // Not behind a cutoff, and not where it was not measured.
  EXPECT_EQ(launch_configs({.cutoff = true, .instructions = 8, .keeps_index = true}).front().i_per_thread, 4);
  EXPECT_EQ(launch_configs({.precision = Precision::Mixed, .instructions = 33}).front().i_per_thread, 4);
}

TEST(LaunchConfigs, BehindACutoffThreadsAreAsManyAsTheirRegistersAllow) {
  const CudaNeeds lennard_jones{.cutoff = true, .accumulators = 5, .i_words = 3, .pair_words = 3};
  const CudaNeeds sph_force{.cutoff = true, .accumulators = 5, .i_words = 4, .pair_words = 23};
  EXPECT_EQ(resident_threads(lennard_jones, 2), 1024);
  EXPECT_EQ(resident_threads(sph_force, 2), 640);
  EXPECT_EQ(resident_threads(sph_force, 4), 512);
  EXPECT_EQ(resident_threads_text(sph_force), "(NBCC_I_PER_THREAD > 2 ? 512 : NBCC_I_PER_THREAD > 1 ? 640 : 896)");
  EXPECT_EQ(resident_threads_text({.cutoff = true, .accumulators = 80}), "0");
}

TEST(LaunchConfigs, PlainArithmeticWithSeveralIPerThreadGetsFewerRegistersThanTheCompilerWouldTake) {
  const CudaNeeds gravity{.accumulators = 3, .i_words = 3, .pair_words = 4};
  EXPECT_EQ(resident_threads_text(gravity), "(NBCC_I_PER_THREAD > 2 ? 512 : NBCC_I_PER_THREAD > 1 ? 640 : 0)");
  CudaNeeds gravity_jerk{.accumulators = 7, .i_words = 6, .pair_words = 7};
  EXPECT_EQ(resident_threads_text(gravity_jerk), "(NBCC_I_PER_THREAD > 2 ? 0 : NBCC_I_PER_THREAD > 1 ? 768 : 0)");
  gravity_jerk.guarded = true;
  EXPECT_EQ(resident_threads_text(gravity_jerk), "(NBCC_I_PER_THREAD > 2 ? 0 : NBCC_I_PER_THREAD > 1 ? 640 : 0)");
  EXPECT_EQ(resident_threads_text({.accumulators = 3, .plain = false}), "0");
  EXPECT_EQ(resident_threads_text({.precision = Precision::Mixed, .accumulators = 3}), "0");
  EXPECT_EQ(resident_threads_text({.precision = Precision::Double, .accumulators = 3}), "0");
  EXPECT_EQ(resident_threads_text({.accumulators = 30}), "0");
}

TEST(LaunchConfigs, WhatABlockHoldsFitsIntoSharedMemory) {
  for (const bool cutoff : {false, true}) {
    for (const int accumulators : {1, 3, 7, 30, 300}) {
      for (const int staged : {0, 16, 80, 400}) {
        for (const int cold : {0, 48, 160}) {
          const int tables = staged == 16 ? 16 << 10 : 0;
          for (const LaunchConfig& config : launch_configs({.cutoff = cutoff,
                                                            .accumulators = accumulators,
                                                            .staged_bytes = staged,
                                                            .cold_bytes = cold,
                                                            .table_bytes = tables})) {
            const std::int64_t of_i = cold * config.i_per_block() + tables;
            EXPECT_LE(8 * accumulators * config.threads * config.i_per_thread + of_i, 48 << 10);
            EXPECT_LE(staged * config.j_tile + of_i, 48 << 10);
            EXPECT_GE(config.threads, 1);
            EXPECT_EQ(config.threads % config.j_slices, 0);
          }
        }
      }
    }
  }
}

TEST(LaunchConfigs, SlicesTakeLongerTilesAndFewerIPerThread) {
  const std::vector<LaunchConfig> configs = launch_configs({.accumulators = 3, .staged_bytes = 16});
  ASSERT_EQ(configs.size(), 6u);
  EXPECT_EQ(configs[0], (LaunchConfig{128, 4, 128, 16, 1}));
  EXPECT_EQ(configs[1], (LaunchConfig{128, 2, 128, 16, 1}));
  EXPECT_EQ(configs[2], (LaunchConfig{256, 2, 512, 16, 4}));
  EXPECT_EQ(configs[5], (LaunchConfig{256, 1, 512, 16, 32}));
  // Behind a cutoff two of half the tile as well.
  EXPECT_EQ(launch_configs({.cutoff = true, .accumulators = 3, .instructions = 10, .staged_bytes = 16}).size(), 8u);
}

}  // namespace
}  // namespace nbcc

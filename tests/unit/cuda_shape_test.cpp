#include "compiler/emit/cuda/cuda_shape.h"

#include <gtest/gtest.h>

namespace nbcc {
namespace {

TEST(CudaShape, HeavierParticlesAreFewerPerThread) {
  CudaNeeds needs;
  int last = 4;
  for (needs.slots = 1; needs.slots <= 40; ++needs.slots) {
    const int now = default_shape(needs).i_per_thread;
    EXPECT_LE(now, last) << needs.slots;
    last = now;
  }
  EXPECT_EQ(default_shape({}).i_per_thread, 4);
  EXPECT_EQ(last, 1);
}

TEST(CudaShape, LongLoopsAreWrittenOutLess) {
  EXPECT_EQ(default_shape({.written = 10}).unroll, 32);
  EXPECT_LT(default_shape({.written = 100}).unroll, 32);
  EXPECT_EQ(default_shape({.written = 100000}).unroll, 1);
  EXPECT_LT(default_shape({.precision = Precision::Double, .written = 16}).unroll,
            default_shape({.written = 16}).unroll);
}

TEST(CudaShape, BehindACutoffThreadsAreAsManyAsTheirRegistersAllow) {
  const CudaNeeds lennard_jones{.cutoff = true, .slots = 5, .i_words = 3, .pair_words = 3};
  const CudaNeeds sph_force{.cutoff = true, .slots = 5, .i_words = 4, .pair_words = 23};
  EXPECT_EQ(resident_threads(lennard_jones, 2), 1024);
  EXPECT_EQ(resident_threads(sph_force, 2), 640);
  EXPECT_EQ(resident_threads(sph_force, 4), 512);
  EXPECT_EQ(resident_threads_text(sph_force), "(NBCC_I_PER_THREAD > 2 ? 512 : NBCC_I_PER_THREAD > 1 ? 640 : 896)");
  EXPECT_EQ(resident_threads_text({.cutoff = true, .slots = 80}), "0");
}

TEST(CudaShape, PlainArithmeticWithSeveralIPerThreadGetsFewerRegistersThanTheCompilerWouldTake) {
  const CudaNeeds gravity{.slots = 3, .i_words = 3, .pair_words = 4};
  EXPECT_EQ(resident_threads_text(gravity), "(NBCC_I_PER_THREAD > 2 ? 512 : NBCC_I_PER_THREAD > 1 ? 640 : 0)");
  CudaNeeds gravity_jerk{.slots = 7, .i_words = 6, .pair_words = 7};
  EXPECT_EQ(resident_threads_text(gravity_jerk), "(NBCC_I_PER_THREAD > 2 ? 0 : NBCC_I_PER_THREAD > 1 ? 768 : 0)");
  gravity_jerk.guarded = true;
  EXPECT_EQ(resident_threads_text(gravity_jerk), "(NBCC_I_PER_THREAD > 2 ? 0 : NBCC_I_PER_THREAD > 1 ? 640 : 0)");
  EXPECT_EQ(resident_threads_text({.slots = 3, .plain = false}), "0");
  EXPECT_EQ(resident_threads_text({.precision = Precision::Mixed, .slots = 3}), "0");
  EXPECT_EQ(resident_threads_text({.precision = Precision::Double, .slots = 3}), "0");
  EXPECT_EQ(resident_threads_text({.slots = 30}), "0");
}

TEST(CudaShape, WhatABlockHoldsFitsIntoSharedMemory) {
  for (const bool cutoff : {false, true}) {
    for (const int slots : {1, 3, 7, 30, 300}) {
      for (const int staged : {0, 16, 80, 400}) {
        for (const int rest : {0, 48, 160}) {
          const CudaDefaults shape =
              default_shape({.cutoff = cutoff, .slots = slots, .staged_bytes = staged, .rest_bytes = rest});
          const int width = shape.threads * shape.i_per_thread;
          EXPECT_LE(8 * slots * width + rest * width, 48 << 10);
          EXPECT_LE(staged * shape.j_tile + rest * width, 48 << 10);
          EXPECT_GE(shape.threads, 1);
        }
      }
    }
  }
}

}  // namespace
}  // namespace nbcc

// The shim's memory: what it begins as, what a copy or a free that is wrong becomes, and what a pointer tells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/cuda_shim.h"

namespace nbcc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CudaShimMemory : public testing::Test {
 protected:
  CudaShimMemory() : driver(shim.driver()) {
    CudaContext* context = nullptr;
    ok(driver.device_primary_ctx_retain(&context, 0));
    ok(driver.ctx_push_current(context));
  }
  ~CudaShimMemory() override {
    for (CudaDevicePointer block : blocks) ok(driver.mem_free(block));
    ok(driver.ctx_pop_current(nullptr));
    ok(driver.device_primary_ctx_release(0));
  }
  static void ok(CudaResult result) { EXPECT_EQ(result, kCudaSuccess); }

  CudaDevicePointer block(std::size_t bytes) {
    CudaDevicePointer made = 0;
    ok(driver.mem_alloc(&made, bytes));
    blocks.push_back(made);
    return made;
  }

  CudaShim shim;
  const CudaDriver& driver;
  std::vector<CudaDevicePointer> blocks;
};

TEST_F(CudaShimMemory, memory_begins_as_nan) {
  float values[10] = {};
  ok(driver.memcpy_dtoh_async(values, block(40), sizeof values, nullptr));
  for (const float x : values) EXPECT_TRUE(std::isnan(x));
  void* pinned = nullptr;
  ok(driver.mem_host_alloc(&pinned, 8, 0));
  EXPECT_TRUE(std::isnan(*static_cast<double*>(pinned)));
  ok(driver.mem_free_host(pinned));
}

TEST_F(CudaShimMemory, copies_beyond_an_end_are_reported) {
  float host[12] = {};
  const CudaDevicePointer at = block(40);
  EXPECT_EQ(driver.memcpy_htod_async(at, host, 44, nullptr), 1);
  EXPECT_EQ(driver.memcpy_dtoh_async(host, at + 4, 40, nullptr), 1);
  EXPECT_EQ(driver.memset_d32_async(at, 0, 11, nullptr), 1);
  EXPECT_THAT(shim.take_failures(), ElementsAre("memcpy_htod: 44 bytes from byte 0 on of a device block of 40 bytes",
                                                "memcpy_dtoh: 40 bytes from byte 4 on of a device block of 40 bytes",
                                                "memset_d32: 44 bytes from byte 0 on of a device block of 40 bytes"));
  void* pinned = nullptr;
  ok(driver.mem_host_alloc(&pinned, 16, 0));
  EXPECT_EQ(driver.memcpy_htod_async(at, pinned, 20, nullptr), 1);
  EXPECT_EQ(shim.take_failures().size(), 1u);
  ok(driver.mem_free_host(pinned));
}

TEST_F(CudaShimMemory, copies_of_what_nobody_wrote_are_reported) {
  void* pinned = nullptr;
  ok(driver.mem_host_alloc(&pinned, 16, 0));
  const CudaDevicePointer at = block(16);
  ok(driver.memset_d32_async(at, 0, 2, nullptr));
  ok(driver.memcpy_dtoh_async(pinned, at, 8, nullptr));
  EXPECT_TRUE(shim.take_failures().empty());
  ok(driver.memcpy_dtoh_async(pinned, at, 16, nullptr));
  EXPECT_THAT(shim.take_failures(), ElementsAre("memcpy_dtoh: of 16 bytes some were never written"));
  ok(driver.mem_free_host(pinned));
}

TEST_F(CudaShimMemory, host_and_device_are_not_confused) {
  float host = 0;
  const CudaDevicePointer at = block(4), other = block(4);
  driver.memcpy_htod_async(CudaDevicePointer(&host), &host, 4, nullptr);
  driver.memcpy_htod_async(at, reinterpret_cast<void*>(other), 4, nullptr);
  EXPECT_THAT(shim.take_failures(), ElementsAre(HasSubstr("is no memory of the shim's"), HasSubstr("not the host's")));
}

TEST_F(CudaShimMemory, wrong_frees_are_reported) {
  CudaDevicePointer at = 0;
  ok(driver.mem_alloc(&at, 4));
  ok(driver.mem_free(at));
  float host = 0;
  EXPECT_EQ(driver.mem_free(at), 1);
  EXPECT_EQ(driver.mem_free(CudaDevicePointer(&host)), 1);
  EXPECT_EQ(driver.mem_free_host(reinterpret_cast<void*>(block(4))), 1);
  EXPECT_EQ(shim.take_failures().size(), 3u);
}

TEST_F(CudaShimMemory, memory_runs_out) {
  shim.set_device({.memory = 1000});
  block(600);
  CudaDevicePointer at = 0;
  EXPECT_EQ(driver.mem_alloc(&at, 401), kCudaOutOfMemory);
  std::size_t free = 0, total = 0;
  ok(driver.mem_get_info(&free, &total));
  EXPECT_EQ(free, 400u);
  EXPECT_EQ(total, 1000u);
  EXPECT_EQ(shim.allocated(), 600u);
}

TEST_F(CudaShimMemory, pointers_tell_what_they_are) {
  const auto ask = [&](CudaDevicePointer pointer) {
    unsigned type = 7;
    int device = 7;
    bool managed = true;
    int which[] = {kCudaDeviceOrdinal, kCudaMemoryType, kCudaIsManaged};
    void* values[] = {&device, &type, &managed};
    ok(driver.pointer_get_attributes(3, which, values, pointer));
    return std::vector<int>{int(type), device, managed};
  };
  const CudaDevicePointer at = block(40);
  CudaDevicePointer managed = 0;
  ok(driver.mem_alloc_managed(&managed, 40, kCudaGlobal));
  EXPECT_THAT(ask(at + 39), ElementsAre(kCudaDeviceMemory, 0, false));
  EXPECT_THAT(ask(managed), ElementsAre(kCudaDeviceMemory, 0, true));
  EXPECT_THAT(ask(at + 40), ElementsAre(0, -2, false));
  EXPECT_THAT(ask(CudaDevicePointer(&managed)), ElementsAre(0, -2, false));
  ok(driver.mem_free(managed));
}

}  // namespace
}  // namespace nbcc::test

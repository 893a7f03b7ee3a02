// The driver's table: what is said where there is no driver, and what its errors become. Needs no GPU and no driver.
#include "runtime/cuda/driver/cuda_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "runtime/error.h"

namespace nbcc {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

template <typename Call>
std::string problem_of(const Call& call) {
  try {
    call();
  } catch (const DeviceError& e) {
    return e.what();
  }
  return "";
}

TEST(CudaDriver, WithoutItsLibraryEveryNameThatWasTriedIsSaid) {
  const std::string problem =
      problem_of([] { open_cuda_driver({"libcuda-that-is-not-there.so.1", "/nowhere/libcuda.so"}); });
  EXPECT_THAT(problem, HasSubstr("no NVIDIA driver"));
  EXPECT_THAT(problem, HasSubstr("\n  libcuda-that-is-not-there.so.1: "));
  EXPECT_THAT(problem, HasSubstr("\n  /nowhere/libcuda.so: "));
}

TEST(CudaDriver, ALibraryThatLacksAFunctionIsNamedWithIt) {
  const std::string problem = problem_of([] { open_cuda_driver({"libcuda-that-is-not-there.so.1", "libm.so.6"}); });
  EXPECT_THAT(problem, HasSubstr("(libm.so.6)"));
  EXPECT_THAT(problem, HasSubstr("lacks cuInit"));
}

// Whether this machine has a driver or not: the answer stays, and is the same for all who ask at once.
TEST(CudaDriver, IsOpenedOnceAndAnswersTheSameEachTime) {
  struct Answer {
    const CudaDriver* driver = nullptr;
    std::string problem;
    bool operator==(const Answer&) const = default;
  };
  const auto ask = [] {
    Answer answer;
    answer.problem = problem_of([&] { answer.driver = &cuda_driver(); });
    return answer;
  };
  std::vector<Answer> answers(4);
  std::vector<std::thread> threads;
  for (Answer& answer : answers) threads.emplace_back([&] { answer = ask(); });
  for (std::thread& thread : threads) thread.join();
  const Answer later = ask();
  for (const Answer& answer : answers) EXPECT_EQ(answer, later);
  EXPECT_NE(later.driver == nullptr, later.problem.empty());
}

CudaDriver driver_that_knows_one_error() {
  CudaDriver driver{};
  driver.get_error_name = [](CudaResult error, const char** text) {
    *text = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : nullptr;
    return error == 700 ? kCudaSuccess : 1;
  };
  driver.get_error_string = [](CudaResult error, const char** text) {
    *text = error == 700 ? "an illegal memory access was encountered" : nullptr;
    return error == 700 ? kCudaSuccess : 1;
  };
  return driver;
}

TEST(CudaDriver, AnErrorCarriesItsNameAndText) {
  const CudaDriver driver = driver_that_knows_one_error();
  EXPECT_EQ(problem_of([&] { check(driver, 700, "gravity: cuLaunchKernel"); }),
            "gravity: cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered");
  EXPECT_EQ(problem_of([&] { check(driver, 4711, "cuMemAlloc"); }), "cuMemAlloc: CUDA error 4711");
  EXPECT_NO_THROW(check(driver, kCudaSuccess, "cuMemAlloc"));
}

}  // namespace
}  // namespace nbcc

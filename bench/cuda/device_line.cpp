// A GPU -> its name and the versions that made the kernels. Entry points: describe_machine(), machine_line().
#include "bench/cuda/device_line.h"

#include <fmt/core.h>

namespace nbcc::bench {

Row describe_machine(const Gpu& gpu) {
  int driver = 0;
  gpu.gpu.require(gpu.gpu.driver().driver_get_version(&driver), "asking for the driver's version");
  return {{"device", gpu.gpu.model()},
          {"architecture", gpu.gpu.architecture()},
          {"multiprocessors", gpu.gpu.multiprocessors()},
          {"driver", fmt::format("{}.{}", driver / 1000, driver % 1000 / 10)},
          {"nvrtc", gpu.compiler.version()}};
}

std::string machine_line(const Row& machine) {
  const auto text = [&](const char* key) { return machine.at(key).get<std::string>(); };
  return fmt::format("{}, {}, {} multiprocessors; driver {}, NVRTC {}", text("device"), text("architecture"),
                     machine.at("multiprocessors").get<int>(), text("driver"), text("nvrtc"));
}

}  // namespace nbcc::bench

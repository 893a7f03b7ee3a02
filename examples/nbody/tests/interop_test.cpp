// Positions on their way to the picture: through the host in software, within the GPU where it draws itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "examples/nbody/draw/offscreen.h"
#include "examples/nbody/draw/vertices.h"
#include "examples/nbody/simulation.h"
#include "examples/support/failure.h"
#include "examples/support/plummer.h"

namespace examples {
namespace {

constexpr std::int64_t kBodies = 1000;

std::unique_ptr<Offscreen> open_screen() {
  try {
    return open_offscreen(0, 200, 150);
  } catch (const Missing&) {
    return nullptr;
  }
}

bool is_drawn_by_nvidia(const Offscreen& screen) {
  return std::string(reinterpret_cast<const char*>(screen.gl().GetString(GL_VENDOR))).starts_with("NVIDIA");
}

// A cluster on a device, and in a picture.
class Shown {
 public:
  Shown(const char* device, const Offscreen& screen)
      : screen_(screen),
        device_(device),
        simulation_(device_, {.bodies = bodies_}, {.precision = NBCC_DOUBLE}),
        sprites_(screen.gl(), kBodies),
        vertices_(screen.gl(), device_, sprites_) {}

  Image after(int steps) {
    for (int k = 0; k < steps; ++k) simulation_.step(1.0 / 64);
    vertices_.update(simulation_.scene());
    const Camera camera = camera_for(bodies_);
    sprites_.draw(camera, look_for(bodies_, camera), {0, 0, screen_.width(), screen_.height()});
    return screen_.read();
  }
  const std::string& path() const { return vertices_.path(); }

 private:
  const Offscreen& screen_;
  Bodies bodies_ = plummer(kBodies, 1);
  nbcc::Device device_;
  Simulation simulation_;
  Sprites sprites_;
  Vertices vertices_;
};

int largest_difference(const Image& a, const Image& b) {
  int largest = 0;
  for (std::size_t k = 0; k < a.rgb.size(); ++k) largest = std::max(largest, std::abs(a.rgb[k] - b.rgb[k]));
  return largest;
}

TEST(Interop, WhyABufferIsNotSharedIsTold) {
  const auto screen = open_screen();
  if (!screen || is_drawn_by_nvidia(*screen)) GTEST_SKIP() << "nothing here draws in software alone";
  const Sprites sprites(screen->gl(), 4);
  try {
    const SharedBuffer buffer(screen->gl(), sprites.buffer(), 0);
    FAIL();
  } catch (const std::runtime_error& error) {
    const std::string reason = error.what();
    EXPECT_TRUE(reason == "there is no libcuda.so.1" || reason == "the GPU does not draw, but " + screen->renderer())
        << reason;
  }
}

TEST(Interop, BodiesOfTheCpuPassThroughTheHost) {
  const auto screen = open_screen();
  if (!screen) GTEST_SKIP() << "nothing here draws";
  Shown cluster("cpu", *screen);
  EXPECT_EQ(cluster.path(), "positions pass through the host");
  const Image start = cluster.after(0);
  EXPECT_GT(*std::max_element(start.rgb.begin(), start.rgb.end()), 200);
  EXPECT_GT(largest_difference(start, cluster.after(16)), 50);
}

TEST(InteropOnGpu, ThePictureIsTheOneThroughTheHost) {
  int count = 0;
  if (nbcc_cuda_count(&count, nullptr) != NBCC_OK || count == 0) GTEST_SKIP() << "there is no GPU";
  const auto screen = open_screen();
  if (!screen || !is_drawn_by_nvidia(*screen)) GTEST_SKIP() << "the GPU does not draw";
  Shown on_gpu("cuda:0", *screen), on_cpu("cpu", *screen);
  EXPECT_EQ(on_gpu.path(), "positions stay on the GPU");
  EXPECT_LE(largest_difference(on_gpu.after(0), on_cpu.after(0)), 1);
  const Image later = on_gpu.after(16);
  EXPECT_LE(largest_difference(later, on_cpu.after(16)), 3);
  EXPECT_GT(largest_difference(later, on_gpu.after(16)), 50);
}

}  // namespace
}  // namespace examples

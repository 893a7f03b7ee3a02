// Positions and velocities or values -> the buffer of the sprites, by sprites.pipe or coloured.pipe. Entry point:
// Vertices. Draws nothing.
#include "examples/nbody/draw/vertices.h"

#include <cctype>
#include <cstdlib>
#include <stdexcept>

#include "examples/support/open_sum.h"

namespace examples {
namespace {

constexpr std::int64_t kStride = 4 * std::int64_t(sizeof(float));

}  // namespace

std::optional<int> cuda_ordinal(const nbcc::Device& device) {
  const std::string name = device.name();
  if (!name.starts_with("cuda:")) return {};
  char* end = nullptr;
  const long ordinal = std::strtol(name.c_str() + 5, &end, 10);
  if (*end == ',' && std::isdigit(static_cast<unsigned char>(end[1]))) return {};  // several, "cuda:0,1, 2 x ..."
  return int(ordinal);
}

Vertices::Vertices(const Gl& gl, const nbcc::Device& device, const Sprites& sprites)
    : gl_(gl), sprites_(sprites), device_(device), sum_(open_sum(device, "examples/nbody/sprites.pipe", NBCC_SINGLE)) {
  sum_.counts(sprites.count(), 0);
  if (const std::optional<int> ordinal = cuda_ordinal(device)) {
    try {
      shared_ = std::make_unique<SharedBuffer>(gl, sprites.buffer(), *ordinal);
      shared_->map();
      shared_->unmap();
      path_ = "positions stay on the GPU";
      return;
    } catch (const std::runtime_error& error) {
      shared_.reset();
      path_ += std::string(" (") + error.what() + ")";
    }
  }
  host_.resize(std::size_t(4 * sprites.count()));
}

void Vertices::update(const Scene& particles) {
  // The first of all particles.
  const auto first = [&](nbcc::View view) {
    view.where.count = sprites_.count();
    return view;
  };
  if (!particles.values) {
    sum_.bind("xi", first(particles.positions)).bind("vi", first(particles.velocities));
    return run(sum_);
  }
  if (!coloured_) {
    coloured_.emplace(open_sum(device_, "examples/nbody/pipeline/coloured.pipe", NBCC_SINGLE));
    coloured_->counts(sprites_.count(), 0);
  }
  coloured_->bind("xi", first(particles.positions)).bind("value", first(*particles.values));
  coloured_->set("low", particles.low).set("high", particles.high);
  run(*coloured_);
}

void Vertices::run(nbcc::Sum& sum) {
  if (shared_) {
    float* const buffer = static_cast<float*>(shared_->map());
    sum.bind("sprite", nbcc::view(buffer, sprites_.count(), kStride)).run();
    return shared_->unmap();
  }
  sum.bind("sprite", nbcc::view(host_.data(), sprites_.count(), kStride)).run();
  gl_.BindBuffer(GL_ARRAY_BUFFER, sprites_.buffer());
  gl_.BufferSubData(GL_ARRAY_BUFFER, 0, std::ptrdiff_t(host_.size() * sizeof(float)), host_.data());
}

}  // namespace examples

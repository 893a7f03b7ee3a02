// Predicts j-particles, each with its own time, to one common time, in arrays on a device. Entry points: JMemory,
// pieces_of().
#include "bindings/grape/j_memory.h"

#include <algorithm>
#include <type_traits>

#include "bindings/grape/common.h"

namespace nbcc::g6 {
namespace {

// Up to this many unchanged particles between two changed ones are copied with them, because another copy costs more.
constexpr std::size_t kMaxGap = 256;

static_assert(std::is_trivially_copyable_v<JParticle> && std::is_trivially_copyable_v<Predicted>);

template <typename Struct>
constexpr std::int64_t kStride = sizeof(Struct);

}  // namespace

std::vector<AddressRange> pieces_of(std::vector<std::size_t> addresses) {
  std::ranges::sort(addresses);
  std::vector<AddressRange> pieces;
  for (const std::size_t address : addresses) {
    if (!pieces.empty() && address <= pieces.back().end + kMaxGap) {
      pieces.back().end = std::max(pieces.back().end, address + 1);
    } else {
      pieces.push_back({address, address + 1});
    }
  }
  return pieces;
}

// Predicts in double, whatever the precision of the forces, because forces need differences of exact positions.
JMemory::JMemory(const Device& device)
    : device_(device), pipeline_(grape::pipeline_of(device, "predict", NBCC_DOUBLE)), prediction_(pipeline_) {}

void JMemory::set(std::size_t address, const JParticle& particle) {
  if (address >= particles_.size()) particles_.resize(address + 1);
  particles_[address] = particle;
  // Remove duplicates, for programs that write again and again without computing forces.
  if (unsent_.size() >= 2 * particles_.size()) {
    std::ranges::sort(unsent_);
    const auto [first, last] = std::ranges::unique(unsent_);
    unsent_.erase(first, last);
  }
  unsent_.push_back(address);
  is_predicted_ = false;
}

std::size_t JMemory::leading() {
  while (leading_ < particles_.size() && particles_[leading_].is_set) ++leading_;
  return leading_;
}

// Allocates device memory for all particles. New memory is uninitialized, so all particles become unsent.
void JMemory::reserve() {
  if (predicted_ && particles_.size() <= capacity_) return;
  const std::size_t capacity = std::max(particles_.size(), 2 * capacity_);
  // Free the old memory first, because a GPU may not have enough for both.
  capacity_ = 0;
  on_device_.reset();
  predicted_.reset();
  on_device_.emplace(device_, capacity * sizeof(JParticle));
  predicted_.emplace(device_, capacity * sizeof(Predicted));
  capacity_ = capacity;
  unsent_.resize(particles_.size());
  for (std::size_t k = 0; k < unsent_.size(); ++k) unsent_[k] = k;
}

void JMemory::send() {
  reserve();
  sent_index_.resize(particles_.size());
  for (const AddressRange& piece : pieces_of(unsent_)) {
    on_device_->write(piece.begin * sizeof(JParticle), &particles_[piece.begin],
                      (piece.end - piece.begin) * sizeof(JParticle));
    for (std::size_t k = piece.begin; k < piece.end; ++k) sent_index_[k] = particles_[k].index;
  }
  unsent_.clear();
}

bool JMemory::predict(double time, std::size_t nj) {
  if (is_predicted_ && time == time_ && nj == nj_) return false;
  is_predicted_ = false;
  nj_ = 0;
  send();
  JParticle* const from = static_cast<JParticle*>(on_device_->data());
  Predicted* const to = static_cast<Predicted*>(predicted_->data());
  const std::int64_t n = std::int64_t(nj);
  const auto bind = [&](const char* field, Vec3 JParticle::* member) {
    prediction_.bind(field, view((from->*member).data(), n, kStride<JParticle>));
  };
  bind("x0", &JParticle::x);
  bind("v0", &JParticle::v);
  bind("a2", &JParticle::a2);
  bind("j6", &JParticle::j6);
  bind("k18", &JParticle::k18);
  prediction_.bind("t0", view(&from->time, n, kStride<JParticle>));
  prediction_.bind("x", view(to->x.data(), n, kStride<Predicted>));
  prediction_.bind("v", view(to->v.data(), n, kStride<Predicted>));
  prediction_.set("ti", time).counts(n, 0).run();
  time_ = time;
  nj_ = nj;
  is_predicted_ = true;
  return true;
}

void JMemory::bind_to(Sum& force) const {
  JParticle* const from = static_cast<JParticle*>(on_device_->data());
  Predicted* const at = static_cast<Predicted*>(predicted_->data());
  const std::int64_t n = std::int64_t(nj_);
  force.bind("xj", view(at->x.data(), n, kStride<Predicted>)).bind("vj", view(at->v.data(), n, kStride<Predicted>));
  force.bind("mj", view(&from->mass, n, kStride<JParticle>)).bind("idj", view(&from->index, n, kStride<JParticle>));
}

std::vector<Predicted> JMemory::predicted() const {
  std::vector<Predicted> all(nj_);
  if (nj_ > 0) predicted_->read(0, all.data(), nj_ * sizeof(Predicted));
  return all;
}

}  // namespace nbcc::g6

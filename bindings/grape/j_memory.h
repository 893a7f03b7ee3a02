// The j-particles of a GRAPE-6, in host and device memory: changed particles are copied to the device when needed, and
// predicted on the device. Every function may throw nbcc::Error. Used by one thread at a time. Test:
// tests/grape/j_memory_test.cpp.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/api/nbcc.hpp"

namespace nbcc::g6 {

using Vec3 = std::array<double, 3>;

// A j-particle as the caller gave it, at its own time. is_set: false for an address that was never written.
struct JParticle {
  bool is_set = false;
  int index = 0;
  double time = 0, mass = 0;
  Vec3 k18{}, j6{}, a2{}, v{}, x{};
};

struct Predicted {
  Vec3 x, v;
};

// Addresses [begin, end).
struct AddressRange {
  std::size_t begin, end;
  bool operator==(const AddressRange&) const = default;
};
// The ranges to copy to the device for addresses that were written. Addresses that are near each other are in one
// range, which includes the unchanged particles between them.
std::vector<AddressRange> pieces_of(std::vector<std::size_t> addresses);

class JMemory {
 public:
  explicit JMemory(const Device& device);

  // Stores a particle in host memory; the next predict() copies it to the device.
  void set(std::size_t address, const JParticle& particle);
  // The largest n such that all addresses below n are set.
  std::size_t leading();

  // Predicts the first nj particles, which must all be set, to `time`. Returns false if the last prediction still
  // holds.
  bool predict(double time, std::size_t nj);
  // Binds the particles of the last predict() to the fields of g6.pipe.
  void bind_to(Sum& force) const;

  // These refer to the last predict(), not to later calls of set().
  int index(std::size_t address) const { return sent_index_[address]; }
  std::size_t count() const { return nj_; }
  std::vector<Predicted> predicted() const;

 private:
  void send();
  void reserve();

  const Device& device_;
  Pipeline pipeline_;
  Sum prediction_;
  std::vector<JParticle> particles_;
  std::size_t leading_ = 0;
  std::vector<std::size_t> unsent_;  // addresses, in the order in which they were written
  std::vector<int> sent_index_;
  std::optional<DeviceMemory> on_device_, predicted_;
  std::size_t capacity_ = 0;  // particles that on_device_ and predicted_ can hold
  double time_ = 0;
  std::size_t nj_ = 0;
  bool is_predicted_ = false;
};

}  // namespace nbcc::g6

// The j-particles of a GRAPE-6, in the memory of a device: what was written is sent when it is needed, and predicted
// there. Every function may throw nbcc::Error. Used by one thread at a time. Test: tests/grape/j_memory_test.cpp.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/api/nbcc.hpp"

namespace nbcc::g6 {

using Vec3 = std::array<double, 3>;

// As the caller gave it, at its own time. is_set: an address that was never written holds none.
struct JParticle {
  bool is_set = false;
  int index = 0;
  double time = 0, mass = 0;
  Vec3 k18{}, j6{}, a2{}, v{}, x{};
};

struct Predicted {
  Vec3 x, v;
};

// Addresses from begin to before end.
struct AddressRange {
  std::size_t begin, end;
  bool operator==(const AddressRange&) const = default;
};
// What is sent for addresses that were written: those that are not far apart in one piece, with what lies between.
std::vector<AddressRange> pieces_of(std::vector<std::size_t> addresses);

class JMemory {
 public:
  explicit JMemory(const Device& device);

  // In the host's memory; the device sees it with the next predict().
  void set(std::size_t address, const JParticle& particle);
  // How many addresses are set without a gap, from 0 on.
  std::size_t leading();

  // The first nj particles at `time`, all of them set. False: they are there already.
  bool predict(double time, std::size_t nj);
  // Gives the particles of the last predict() to the fields of g6.pipe.
  void bind_to(Sum& force) const;

  // Of the last predict(), whatever was set since.
  int index(std::size_t address) const { return sent_index_[address]; }
  std::size_t count() const { return nj_; }
  std::vector<Predicted> predicted() const;

 private:
  void send();
  void make_room();

  const Device& device_;
  Pipeline pipeline_;
  Sum prediction_;
  std::vector<JParticle> particles_;
  std::size_t leading_ = 0;
  std::vector<std::size_t> unsent_;  // addresses, in the order in which they were written
  std::vector<int> sent_index_;
  std::optional<DeviceMemory> on_device_, predicted_;
  std::size_t room_ = 0;  // particles in either
  double time_ = 0;
  std::size_t nj_ = 0;
  bool is_predicted_ = false;
};

}  // namespace nbcc::g6

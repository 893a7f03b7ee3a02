// Numbers of every particle, in the memory of a device, where sums read and write them.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/api/nbcc.hpp"

namespace examples {

template <typename T>
class DeviceArray {
 public:
  // `width` numbers of each particle, all of them 0. shared: in memory of the host, which reads and writes them at
  // data() when no run does, and a GPU over the bus.
  DeviceArray(const nbcc::Device& device, std::int64_t count, int width = 1, bool shared = false)
      : count_(count), width_(width), memory_(device, sizeof(T) * std::size_t(width * count), shared) {
    clear();
  }

  // For Sum::bind().
  nbcc::View view() const { return nbcc::view(data(), count_, width_ * std::int64_t(sizeof(T))); }
  T* data() const { return static_cast<T*>(memory_.data()); }

  // The first ones, as many as there are.
  void write(const std::vector<T>& values) { memory_.write(0, values.data(), sizeof(T) * values.size()); }
  void read(std::vector<T>& values) const { memory_.read(0, values.data(), sizeof(T) * values.size()); }
  void clear() { write(std::vector<T>(std::size_t(width_ * count_))); }
  std::vector<T> all() const {
    std::vector<T> values(std::size_t(width_ * count_));
    read(values);
    return values;
  }

 private:
  std::int64_t count_;
  int width_;
  nbcc::DeviceMemory memory_;
};

}  // namespace examples

// The shim's device memory and pinned memory: blocks that begin as NaN and lie between margins, which show who wrote
// beyond an end and give NaN to who read there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace nbcc::test {

class ShimMemory {
 public:
  enum class Kind : std::uint8_t { Pinned, Device, Managed };  // managed memory is one device's, and the host's as well
  struct Block {
    Kind kind;
    int device;
    std::byte* begin;
    std::size_t bytes;
    std::unique_ptr<std::byte[]> whole;  // with the margins
  };

  void* allocate(Kind kind, int device, std::size_t bytes);
  // The block that byte lies in; null: memory of others.
  const Block* find(const void* at) const;
  std::size_t bytes_of_device(int device) const;
  std::size_t blocks() const { return blocks_.size(); }

  // These give a failure as a sentence, or "".
  std::string release(Kind kind, void* at);
  std::string check_inside(const void* at, std::size_t bytes, const std::string& what) const;
  std::string check_margins() const;
  std::string leaks() const;

 private:
  std::map<const std::byte*, Block> blocks_;  // by begin
  // Released ones, as NaN again and kept for a while, so that who still reads them shows.
  std::vector<std::unique_ptr<std::byte[]>> released_;
};

}  // namespace nbcc::test

// The j-particles of a rank, side by side in one piece of memory, as they travel: each field's numbers of all
// particles, one field behind the other. A rank's elements may differ from another's; they travel as they are. Tested
// by tests/mpi/ring_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/api/nbcc.hpp"

namespace nbcc {

// Fields begin at multiples of so many bytes, and blocks have multiples: messages are counted in these, so that blocks
// of more than 2^31 bytes can be counted in an int.
constexpr std::int64_t kCell = 64;

// An input of j.
struct JField {
  std::string name;
  int components = 1;
};

// What a rank has: the numbers of its particles, and the element of each input of j.
struct Share {
  std::int64_t ni = 0, nj = 0;
  std::vector<nbcc_element> elements;
};

std::int64_t size_of_element(nbcc_element element);
// Of the block of a rank.
std::int64_t block_cells(const std::vector<JField>& fields, const Share& share);
// Of each field, `count` particles from `begin` on in the block at `data`.
std::vector<nbcc_view> views_in_block(const std::vector<JField>& fields, const Share& share, void* data,
                                      std::int64_t begin, std::int64_t count);
// The same of arrays of the caller's.
std::vector<nbcc_view> some_of(std::vector<nbcc_view> arrays, std::int64_t begin, std::int64_t count);
// Whether an array is in the device's memory.
bool on_device(nbcc_device* device, const nbcc_view& array);
// The caller's arrays, on the host or on the device, into the block at `data` on the host.
void pack_block(nbcc_device* device, const std::vector<JField>& fields, const Share& share,
                const std::vector<nbcc_view>& arrays, void* data);

}  // namespace nbcc

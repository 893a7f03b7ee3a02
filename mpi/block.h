// A block: the j-particles of one rank, packed into contiguous memory for sending. Each field is an array
// [particle][component], padded to a multiple of kBlockUnitBytes; the fields follow each other:
//
//   | field 0: x0 y0 z0 x1 y1 z1 ... | padding | field 1: m0 m1 ... | padding |
//
// Element types may differ between ranks; a block keeps the types of its owner. Tested by tests/mpi/ring_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/api/nbcc.hpp"

namespace nbcc {

// Bytes. Fields begin at multiples of this and blocks have multiples of it. MPI counts messages in this unit, so that
// an int can count blocks of more than 2^31 bytes.
constexpr std::int64_t kBlockUnitBytes = 64;

// An input of j.
struct JField {
  std::string name;
  int components = 1;
};

// The particles of a rank: their numbers, and the element type of each input of j.
struct RankLayout {
  std::int64_t ni = 0, nj = 0;
  std::vector<nbcc_element> elements;  // [JField]
};

std::int64_t size_of_element(nbcc_element element);  // bytes
// The size of a rank's block, in units of kBlockUnitBytes.
std::int64_t block_units(const std::vector<JField>& fields, const RankLayout& layout);
// Returns a view per field of the particles begin .. begin + count - 1 in the block at `data`.
std::vector<nbcc_view> views_in_block(const std::vector<JField>& fields, const RankLayout& layout, void* data,
                                      std::int64_t begin, std::int64_t count);
// Returns views of the particles begin .. begin + count - 1 in the caller's arrays.
std::vector<nbcc_view> subrange_of(std::vector<nbcc_view> arrays, std::int64_t begin, std::int64_t count);
// True if the array lies in the device's memory.
bool on_device(nbcc_device* device, const nbcc_view& array);
// Copies the caller's array of a field, at least one particle, to contiguous memory of the host: [particle][component].
void pack_field(nbcc_device* device, const JField& field, const nbcc_view& array, void* data);
// Copies the caller's arrays, which are on the host or on the device, into the block at `data` on the host.
void pack_block(nbcc_device* device, const std::vector<JField>& fields, const RankLayout& layout,
                const std::vector<nbcc_view>& arrays, void* data);

}  // namespace nbcc

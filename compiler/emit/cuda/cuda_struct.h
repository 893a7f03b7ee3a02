// How the columns of a particle lie in a struct of the kernel's text: their order, and the bytes that it takes.
// Tested by tests/unit/cuda_struct_test.cpp.
#pragma once
#include <set>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// Those of `first` stand together in front; among each other the wide ones lead, so that few bytes are left empty.
std::vector<int> struct_order(const std::set<int>& members, const std::set<int>& first,
                              const std::vector<Column>& columns);

// Each member at a multiple of its size, as C++ has it; not rounded up at the end.
int struct_bytes(const std::vector<int>& order, const std::vector<Column>& columns);

// Multiples of 16, which is how much a thread reads at a time.
inline int rounded_up_to_16(int bytes) { return (bytes + 15) / 16 * 16; }

// Where each thread reads a particle of its own: with an odd number of 16 bytes from one to the next, any eight in a
// row lie in different banks of the memory.
inline bool needs_bank_padding(int bytes) { return bytes > 0 && rounded_up_to_16(bytes) / 16 % 2 == 0; }
inline int bank_padded(int bytes) { return rounded_up_to_16(bytes) + (needs_bank_padding(bytes) ? 16 : 0); }

}  // namespace nbcc

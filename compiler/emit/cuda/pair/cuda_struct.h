// Layout of a particle's columns in a struct of the kernel's source: their order and the size of the struct.
// Tested by tests/unit/compiler/emit/cuda/pair/cuda_struct_test.cpp.
#pragma once
#include <set>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// Members in `first` come first; within each part, larger members come first, so that little padding is needed.
std::vector<int> struct_order(const std::set<int>& members, const std::set<int>& first,
                              const std::vector<Column>& columns);

// Bytes of the struct with natural alignment, without padding at the end.
int struct_bytes(const std::vector<int>& order, const std::vector<Column>& columns);

// Rounds up to a multiple of 16 bytes, the size of a thread's load.
inline int rounded_up_to_16(int bytes) { return (bytes + 15) / 16 * 16; }

// Bank conflicts: if each thread reads its own particle, the stride must be an odd multiple of 16 bytes, so that eight
// consecutive particles lie in different banks of shared memory.
inline bool needs_bank_padding(int bytes) { return bytes > 0 && rounded_up_to_16(bytes) / 16 % 2 == 0; }
inline int bank_padded(int bytes) { return rounded_up_to_16(bytes) + (needs_bank_padding(bytes) ? 16 : 0); }

}  // namespace nbcc

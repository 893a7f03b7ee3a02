// Counts what this program allocates by operator new and std::aligned_alloc, in all threads, and lets the k-th fail.
// Both are replaced in the program that holds this file. Tested by tests/memory/allocation_failures_test.cpp.
#pragma once

namespace nbcc::test {

// Allocations from here on: the k-th throws std::bad_alloc, or gives null where the form of it does. 0: none.
void fail_allocation(int k);
// How many there were since fail_allocation(), which ends by this. Those of the test itself no longer count.
int count_allocations();
// Blocks that were allocated and not freed, since the program began.
long blocks_held();

}  // namespace nbcc::test

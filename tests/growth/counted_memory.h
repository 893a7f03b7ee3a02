// How many bytes the program has asked operator new for, those that it has given back included: a measure of the work
// that is done, and the same in every run. A program that links this file has its operator new.
#pragma once
#include <cstdint>

namespace nbcc::test {

std::uint64_t bytes_asked_for();

}  // namespace nbcc::test

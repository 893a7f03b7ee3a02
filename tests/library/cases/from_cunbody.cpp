// The shared numeric cases through CUNBODY-1's interface in C++: gravity by force(), and the pipeline of numbered
// fields by cunbody_api(). What they say to arguments that are wrong is in from_cunbody.c and ../cunbody/force.cpp.
//
//   from_cunbody CASES single|mixed|double      the precision of the library, which is called nbody
#include <cunbody_api.h>

#include <cstdio>
#include <exception>
#include <nbody.hpp>
#include <string>
#include <vector>

#include "tests/library/cases/read_cases.hpp"

namespace {

template <int n>
auto rows(std::vector<double>& values) {
  return reinterpret_cast<double(*)[n]>(values.data());
}

void run_force(Cases& c) {
  auto xi = c.numbers<double>("xi"), xj = c.numbers<double>("xj"), mj = c.numbers<double>("mj");
  std::vector<double> acc(3 * c.ni);
  force(rows<3>(xj), mj.data(), rows<3>(xi), c.param("eps2"), rows<3>(acc), int(c.ni), int(c.nj));
  c.compare("acc", acc);
  // force() gives no potential: its numbers are passed over.
  for (const char* const field : {"pot", "single", "double"}) c.numbers<double>(field);
}

void run_rows(Cases& c) {
  auto xi = c.numbers<double>("INPUT_I"), xj = c.numbers<double>("INPUT_J");
  std::vector<double> f(FDIM * c.ni);
  const int status = cunbody_api(rows<JDIM>(xj), rows<IDIM>(xi), rows<FDIM>(f), int(c.ni), int(c.nj));
  expect(status == NBCC_OK, "cunbody_api()");
  c.compare("OUTPUT", f);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int done = 0;
  try {
    Cases c(argv[1], argv[2]);
    for (; c.next(); ++done) c.pipeline == "gravity" ? run_force(c) : run_rows(c);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 2;
  }
  std::printf("CUNBODY from C++, %s: %d cases, %d failures\n", argv[2], done, failures);
  return done == 0 || failures != 0;
}

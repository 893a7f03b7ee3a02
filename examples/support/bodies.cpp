// Bodies -> text files, and a place to rest. How files are read is in read_bodies.cpp.
#include "examples/support/bodies.h"

#include <cstdio>

#include "examples/support/failure.h"
#include "examples/support/replace_file.h"

namespace examples {

void write_bodies(const std::string& path, const Bodies& bodies) {
  replace_file(path, [&](const std::string& draft) {
    std::FILE* const file = std::fopen(draft.c_str(), "w");
    if (!file) throw UsageError("cannot write '" + path + "'");
    if (bodies.G) std::fprintf(file, "# G: %.17g\n", *bodies.G);
    std::fprintf(file, "# m x[3] v[3]\n");
    for (std::size_t k = 0; k < bodies.mass.size(); ++k) {
      const double *const x = &bodies.x[3 * k], *const v = &bodies.v[3 * k];
      std::fprintf(file, "%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", bodies.mass[k], x[0], x[1], x[2], v[0], v[1],
                   v[2]);
    }
    const bool failed = std::ferror(file) != 0;
    if (std::fclose(file) != 0 || failed) throw UsageError("cannot write '" + path + "'");
  });
}

double gravitational_constant(const Bodies& bodies, std::optional<double> given) {
  if (given && bodies.G && *given != *bodies.G) {
    char text[128];
    std::snprintf(text, sizeof text, "the file of the bodies states G = %.17g, but --G is %.17g", *bodies.G, *given);
    throw UsageError(text);
  }
  return given.value_or(bodies.G.value_or(1));
}

std::vector<double> times_g(std::vector<double> mass, double G) {
  for (double& m : mass) m *= G;
  return mass;
}

void rest_in_the_origin(Bodies& bodies) {
  double mass = 0;
  for (const double m : bodies.mass) mass += m;
  if (mass == 0) throw UsageError("the masses add up to 0: there is no centre that could rest");
  for (std::vector<double>* field : {&bodies.x, &bodies.v}) {
    for (std::size_t c = 0; c < 3; ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < bodies.mass.size(); ++k) sum += bodies.mass[k] * (*field)[3 * k + c];
      for (std::size_t k = 0; k < bodies.mass.size(); ++k) (*field)[3 * k + c] -= sum / mass;
    }
  }
}

}  // namespace examples

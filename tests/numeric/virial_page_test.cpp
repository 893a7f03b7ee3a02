// The pipeline of docs/how_to/pressure_and_virial.md against NIST's published sums for a sample configuration, and
// against a loop that spells them out.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/api/nbcc.hpp"
#include "tests/support/folders.h"
#include "tests/support/reference_data.h"

namespace nbcc::test {
namespace {

// The six components of the virial as docs/how_to/pressure_and_virial.md has them: their trace is the published virial,
// and each is what a loop over pairs gives.
TEST(VirialPage, HasThePublishedVirial) {
  NBCC_NEEDS_REFERENCE("nist_lj/lj_sample_config_periodic2.txt");
  const std::vector<std::vector<double>> rows = read_rows(reference_path("nist_lj/lj_sample_config_periodic2.txt"));
  std::vector<double> x;
  for (std::size_t k = 2; k < rows.size(); ++k) x.insert(x.end(), rows[k].begin() + 1, rows[k].begin() + 4);
  std::ifstream page(source_folder() + "/docs/how_to/pressure_and_virial.md");
  const std::string all{std::istreambuf_iterator<char>(page), {}};
  const std::size_t begin = all.find("```pipe virial.pipe\n") + 20;
  const std::string text = all.substr(begin, all.find("```\n", begin) - begin);
  PipelineOptions options;
  options.precision = NBCC_DOUBLE;
  const std::size_t n = x.size() / 3;
  std::vector<double> force(3 * n), energy(n), diagonal(3 * n), others(3 * n);
  Sum tensor(Pipeline::from_text(Device("cpu"), text, "virial.pipe", options));
  tensor.set("rc", 3.0).set("box", rows.at(0)).bind("xi", x).bind("xj", x);
  tensor.bind("force", force).bind("energy", energy).bind("diagonal", diagonal).bind("others", others).run();
  double sums[6] = {};
  for (std::size_t k = 0; k < 3 * n; ++k) {
    sums[k % 3] += diagonal[k];
    sums[3 + k % 3] += others[k];
  }
  EXPECT_NEAR(sums[0] + sums[1] + sums[2], -568.4573407379, 1e-9);
  EXPECT_NEAR(std::accumulate(energy.begin(), energy.end(), 0.0), -690.0040451729, 1e-9);

  double expected[6] = {};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double d[3], r2 = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        const double raw = x[3 * j + c] - x[3 * i + c];
        d[c] = raw - 8 * std::round(raw / 8);
        r2 += d[c] * d[c];
      }
      if (r2 >= 9) continue;
      const double s6 = 1 / (r2 * r2 * r2), w = 24 * s6 * (2 * s6 - 1) / r2;
      for (std::size_t c = 0; c < 3; ++c) {
        expected[c] += w * d[c] * d[c];
        expected[3 + c] += w * d[(c + 1) % 3] * d[(c + 2) % 3];
      }
    }
  }
  for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(sums[c], expected[c], 1e-9) << c;
}

}  // namespace
}  // namespace nbcc::test

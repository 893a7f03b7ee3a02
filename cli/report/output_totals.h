// The totals of outputs over all i, of one frame or of many: what --total prints, and the record of a run holds.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/sum/particle_source.h"
#include "cli/sum/particle_sum.h"

namespace nbcc {

// The numbers of a column, row by row.
std::vector<double> numbers_of(const ParticleColumn& column);

// Total, minimum and maximum of one output component over all i; of an output(total) only its value, as `sum`.
struct Total {
  std::string name;
  double sum = 0, least = 0, greatest = 0;
  bool is_output = false;
};

// A total for each component of each output, in the order of the outputs.
std::vector<Total> totals_of(const ParticleSum& sum, const std::vector<ParticleColumn>& outputs);
// Stores the totals as attributes of the results.
void add_totals(ParticleTable& results, const std::vector<Total>& totals);
// A table with a heading.
std::string text_of(const std::vector<Total>& totals);
nlohmann::json json_of(const std::vector<Total>& totals);

// The totals of each frame: in text one table, with the frame in the first column; in JSON a list of objects.
class FrameTotals {
 public:
  explicit FrameTotals(bool json) : json_(json) {}
  void add(const ParticleSource& particles, const std::vector<Total>& totals);
  std::string text() const { return json_ ? list_.dump(2) + "\n" : text_; }

 private:
  bool json_;
  nlohmann::json list_ = nlohmann::json::array();
  std::string text_;
};

}  // namespace nbcc

// Sums columns of outputs by compensated summation, and formats the totals. Entry points: totals_of(), FrameTotals.
// Prints nothing.
#include "cli/report/output_totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "particles/text_words.h"

namespace nbcc {
namespace {

// Keys of attributes must not contain brackets: "acc[0]" becomes "acc 0".
std::string attribute_name(std::string name) {
  std::ranges::replace(name, '[', ' ');
  std::erase(name, ']');
  return name;
}

}  // namespace

std::vector<double> numbers_of(const ParticleColumn& column) {
  std::vector<double> numbers;
  for (std::int64_t row = 0; row < column.rows(); ++row)
    for (int c = 0; c < column.components; ++c) numbers.push_back(ColumnComponent{&column, c}.at(row));
  return numbers;
}

std::vector<Total> totals_of(const ParticleSum& sum, const std::vector<ParticleColumn>& outputs) {
  std::vector<Total> totals;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const ParticleColumn& output = outputs[k];
    if (sum.totals()[k]) {
      const std::vector<double> numbers = numbers_of(output);
      for (std::size_t c = 0; c < numbers.size(); ++c)
        totals.push_back(
            {numbers.size() == 1 ? output.name : fmt::format("{}[{}]", output.name, c), numbers[c], 0, 0, true});
      continue;
    }
    const std::int64_t rows = output.rows();
    for (int c = 0; c < output.components; ++c) {
      const ColumnComponent from{&output, c};
      Total total{output.components == 1 ? output.name : fmt::format("{}[{}]", output.name, c)};
      double lost = 0;  // compensation for rounding (Neumaier summation)
      for (std::int64_t row = 0; row < rows; ++row) {
        const double x = from.at(row), next = total.sum + x;
        lost += std::abs(total.sum) >= std::abs(x) ? (total.sum - next) + x : (x - next) + total.sum;
        total.sum = next;
        total.least = row == 0 || x < total.least || std::isnan(x) ? x : total.least;
        total.greatest = row == 0 || x > total.greatest || std::isnan(x) ? x : total.greatest;
      }
      if (std::isfinite(total.sum)) total.sum += lost;
      for (double* const number : {&total.sum, &total.least, &total.greatest})
        if (std::isnan(*number)) *number = std::fabs(*number);  // without a sign
      totals.push_back(total);
    }
  }
  return totals;
}

void add_totals(ParticleTable& results, const std::vector<Total>& totals) {
  for (const Total& t : totals)
    if (!t.is_output) results.attributes.emplace_back("total " + attribute_name(t.name), fmt::format("{}", t.sum));
}

std::string text_of(const std::vector<Total>& totals) {
  std::string text = fmt::format("{:<16} {:>24} {:>24} {:>24}\n", "output", "total", "least", "greatest");
  for (const Total& t : totals)
    text += t.is_output ? fmt::format("{:<16} {:>24}\n", t.name, t.sum)
                        : fmt::format("{:<16} {:>24} {:>24} {:>24}\n", t.name, t.sum, t.least, t.greatest);
  return text;
}

nlohmann::json json_of(const std::vector<Total>& totals) {
  nlohmann::json all = nlohmann::json::object();
  for (const Total& t : totals) {
    all[t.name] = {{"total", t.sum}};
    if (!t.is_output) all[t.name].update({{"least", t.least}, {"greatest", t.greatest}});
  }
  return all;
}

void FrameTotals::add(const ParticleSource& particles, const std::vector<Total>& totals) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [key, value] : particles.frame_attributes()) {
    std::int64_t number = 0;
    const bool is_number = read_digits(value, number) == std::errc();
    object[key] = is_number ? nlohmann::json(number) : nlohmann::json(value);
  }
  object["totals"] = json_of(totals);
  list_.push_back(object);
  const std::string lines = text_of(totals);
  for (std::size_t at = 0, end = 0; at < lines.size(); at = end + 1) {
    end = lines.find('\n', at);
    const std::string frame = at == 0 ? "frame" : fmt::format("{}", object.value("frame", 0));
    if (at > 0 || list_.size() == 1) text_ += fmt::format("{:>6} {}\n", frame, lines.substr(at, end - at));
  }
}

}  // namespace nbcc

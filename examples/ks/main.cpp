// Are two samples from one distribution? Kolmogorov and Smirnov's statistic D, and Peacock's in the plane.
//
// Both compare, at many points, what shares of the samples lie to one side. With weights +1/n1 and -1/n2 that is one
// sum over the pooled sample: a pairwise interaction, though nothing attracts anything.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "chart/chart.h"
#include "examples/support/chart_file.h"
#include "examples/support/failure.h"
#include "examples/support/open_sum.h"
#include "examples/support/program.h"
#include "examples/support/words.h"
#include "runtime/api/nbcc.hpp"

namespace {

// Rows of one or two numbers.
struct Sample {
  std::vector<double> numbers;
  int columns = 1;
  std::size_t size() const { return numbers.size() / std::size_t(columns); }
};

Sample read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw examples::UsageError("cannot read '" + path + "'");
  Sample sample;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::vector<double> row;
    for (const std::string& word : examples::split(line).words) {
      const std::optional<double> x = examples::number_in(word);
      if (!x) throw std::runtime_error(path + ":" + std::to_string(number) + ": this is not a number: '" + word + "'");
      row.push_back(*x);
    }
    if (row.empty()) continue;
    if (sample.numbers.empty()) sample.columns = int(row.size());
    if (row.size() > 2 || int(row.size()) != sample.columns)
      throw std::runtime_error(path + ":" + std::to_string(number) + ": rows have one number, or all have two");
    sample.numbers.insert(sample.numbers.end(), row.begin(), row.end());
  }
  if (sample.numbers.empty()) throw std::runtime_error("'" + path + "' holds no numbers");
  return sample;
}

// Of the distribution that D sqrt(n1 n2 / (n1 + n2)) has for large samples (Smirnov 1948).
double probability_of_more(double d, double n1, double n2) {
  const double t = d * std::sqrt(n1 * n2 / (n1 + n2));
  if (t < 0.2) return 1;  // to all digits of a double; the series needs ever more terms there
  double sum = 0;
  for (int k = 1; k < 100; ++k) sum += (k % 2 ? 2 : -2) * std::exp(-2.0 * k * k * t * t);
  return std::clamp(sum, 0.0, 1.0);
}

double largest(const std::vector<double>& d) {
  double most = 0;
  for (const double x : d) {
    if (std::isnan(x)) return x;
    most = std::max(most, std::fabs(x));
  }
  return most;
}

// Where the samples are compared: at their members; in the plane, at every pair of coordinates.
std::vector<double> places(const Sample& pooled) {
  if (pooled.columns == 1) return pooled.numbers;
  std::vector<double> pairs;
  for (std::size_t a = 0; a < pooled.size(); ++a)
    for (std::size_t b = 0; b < pooled.size(); ++b)
      pairs.insert(pairs.end(), {pooled.numbers[2 * a], pooled.numbers[2 * b + 1]});
  return pairs;
}

// Each sample's fraction that is not above x; in the plane, the samples' points.
void draw(const std::string& path, const Sample& pooled, std::size_t n1, double d) {
  const bool plane = pooled.columns == 2;
  const auto series = [&](const char* name, std::size_t begin, std::size_t end) {
    nbcc::ChartSeries one{name, {}, plane ? nbcc::ChartSeries::Style::Markers : nbcc::ChartSeries::Style::Steps};
    for (std::size_t k = begin; k < end; ++k)
      one.points.push_back(plane ? nbcc::ChartPoint{pooled.numbers[2 * k], pooled.numbers[2 * k + 1]}
                                 : nbcc::ChartPoint{pooled.numbers[k], 0});
    if (plane) return one;
    std::sort(one.points.begin(), one.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    for (std::size_t k = 0; k < one.points.size(); ++k) one.points[k].y = double(k + 1) / double(one.points.size());
    one.points.insert(one.points.begin(), {one.points.front().x, 0});
    return one;
  };
  char title[100];
  std::snprintf(title, sizeof title, "The two samples differ by at most D = %.4f", d);
  nbcc::Chart chart{title,
                    {"x"},
                    {plane ? "y" : "fraction of the sample that is not above x"},
                    {series("first sample", 0, n1), series("second sample", n1, pooled.size())}};
  if (!plane) chart.y.least = 0, chart.y.most = 1;
  examples::write_chart(path, nbcc::svg_of(chart));
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Kolmogorov-Smirnov test of two samples: text files with a number, or two, in a line", "ks");
  std::string first, second, device = "cpu", picture;
  app.add_option("FIRST", first, "A sample")->required();
  app.add_option("SECOND", second, "The other sample")->required();
  examples::add_device(app, device);
  app.add_option("--picture", picture, "An SVG file with a chart of both samples, which browsers show")
      ->check(examples::chart_file());
  return examples::run_program(app, count, words, [&] {
    Sample pooled = read(first);
    const Sample other = read(second);
    if (pooled.columns != other.columns) throw std::runtime_error("one sample is in the plane, the other is not");
    const double n1 = double(pooled.size()), n2 = double(other.size());
    pooled.numbers.insert(pooled.numbers.end(), other.numbers.begin(), other.numbers.end());
    // Whole numbers, whose sums are exact: n1 n2 times the weights above.
    std::vector<double> weights(pooled.size(), -n1);
    std::fill_n(weights.begin(), std::size_t(n1), n2);

    // In double precision: single would take numbers for equal that are not.
    const bool plane = pooled.columns == 2;
    const nbcc::Device where(device);
    const nbcc::Pipeline pipeline =
        examples::open_pipeline(where, plane ? "examples/ks/peacock.pipe" : "pipelines/ks_statistic.pipe", NBCC_DOUBLE);
    nbcc::Sum sum(pipeline);
    const std::vector<double> at = places(pooled);
    std::vector<std::vector<double>> differences(plane ? 4 : 1,
                                                 std::vector<double>(at.size() / std::size_t(pooled.columns)));
    std::size_t k = 0;
    for (const nbcc::Field& field : pipeline.fields())
      if (field.role == NBCC_OUTPUT) sum.bind(field.name, differences[k++]);
    sum.bind("xi", at).bind("xj", pooled.numbers).bind("wj", weights).run().wait();

    std::vector<double> d_of;  // the line's, or each quadrant's
    for (const std::vector<double>& difference : differences) d_of.push_back(largest(difference) / (n1 * n2));
    const double d = *std::max_element(d_of.begin(), d_of.end());
    std::printf("D = %.15g\n", d);
    if (plane)
      std::printf("quadrants: lower left %.6f, lower right %.6f, upper left %.6f, upper right %.6f\n", d_of[0], d_of[1],
                  d_of[2], d_of[3]);
    else
      std::printf("p = %.6g (large samples: D as large or larger by chance)\n", probability_of_more(d, n1, n2));
    if (!picture.empty()) draw(picture, pooled, std::size_t(n1), d);
  });
}

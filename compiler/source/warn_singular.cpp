// Pipeline -> a warning about a singular self pair. Entry point: warn_singular(). This is no proof: it interprets the
// pipeline for a few random pairs, so it may miss a singularity that occurs only for some params.
#include "compiler/source/warn_singular.h"

#include <fmt/core.h>

#include <cmath>
#include <random>
#include <string_view>

#include "compiler/ir/interpret.h"
#include "compiler/passes/every_image.h"
#include "compiler/passes/pair_values.h"

namespace nbcc {
namespace {

constexpr int kDraws = 4;

// True for fields that differ only in the side: "xi" and "xj", "pos_i" and "pos_j".
bool are_counterparts(const Field& i, const Field& j) {
  const auto stem = [](std::string_view name, std::string_view side) {
    return name.size() > side.size() && name.ends_with(side) ? name.substr(0, name.size() - side.size())
                                                             : std::string_view();
  };
  const bool same_shape = i.type == j.type && i.width == j.width && i.length == j.length;
  return same_shape && i.role == Role::InputI && j.role == Role::InputJ && !stem(i.name, "i").empty() &&
         stem(i.name, "i") == stem(j.name, "j");
}

bool has_counterparts(const Pipeline& pipeline) {
  for (const Field& i : pipeline.fields)
    for (const Field& j : pipeline.fields)
      if (are_counterparts(i, j)) return true;
  return false;
}

// One pair of particles with random positive values; if `self`, a pair of a particle with itself.
class Draw {
 public:
  Draw(const Pipeline& pipeline, int seed, bool self) : random_(std::mt19937_64::result_type(seed)) {
    input_.ni = input_.nj = 1;
    input_.j_offset = self ? 0 : 1;
    input_.params.resize(std::size_t(pipeline.components(Role::Param)));
    for (const Field& field : pipeline.fields) {
      if (field.role == Role::InputI) fill(field, input_.i);
      if (field.role == Role::InputJ) fill(field, input_.j);
      if (field.role == Role::Param)
        for (int c = 0; c < field.components(); ++c)
          input_.params[std::size_t(field.first + c)] =
              field.defaults.empty() ? value(field.type) : field.defaults[std::size_t(c)];
    }
    if (!self) return;
    for (const Field& i : pipeline.fields)
      for (const Field& j : pipeline.fields)
        for (int c = 0; are_counterparts(i, j) && c < i.components(); ++c)
          input_.j[std::size_t(j.first + c)] = input_.i[std::size_t(i.first + c)];
  }

  const OracleInput& input() const { return input_; }

 private:
  void fill(const Field& field, std::vector<std::vector<double>>& columns) {
    for (int c = 0; c < field.components(); ++c) columns.push_back({value(field.type)});
  }
  double value(Type type) {
    const double x = 0.25 + double(random_() >> 11) * 0x1p-53;
    return type == Type::Bool ? double(x > 0.75) : type < Type::Float ? std::floor(1 + 4 * x) : x;
  }

  std::mt19937_64 random_;
  OracleInput input_;
};

// [output component]: true if its contribution is finite. A contribution whose guard is false is 0, which is finite.
std::vector<bool> finite(const Pipeline& sums, const Draw& draw) {
  std::vector<bool> result;
  for (const std::vector<double>& value : interpret(sums, draw.input()).values)
    result.push_back(std::isfinite(value.front()));
  return result;
}

}  // namespace

std::optional<Diagnostic> warn_singular(const Pipeline& pipeline) {
  // Listed pairs contain a self pair only if the caller lists one.
  if (!has_counterparts(pipeline) || pipeline.components(Role::InputPair) > 0 || has_pair_values(pipeline))
    return std::nullopt;
  // Make every output a sum, whose value for a single pair is the contribution.
  Pipeline sums = pipeline;
  sums.finished.clear();
  for (Field& field : sums.fields) field.reduction = Reduction::Sum;

  const auto outputs = std::size_t(pipeline.components(Role::Output));
  std::vector<bool> always_singular(outputs, true), ever_finite(outputs, false);
  for (int seed = 0; seed < kDraws; ++seed) {
    const std::vector<bool> with_itself = finite(sums, Draw(pipeline, seed, true));
    const std::vector<bool> with_another = finite(sums, Draw(pipeline, seed, false));
    for (std::size_t c = 0; c < outputs; ++c) {
      always_singular[c] = always_singular[c] && !with_itself[c];
      ever_finite[c] = ever_finite[c] || with_another[c];
    }
  }
  for (std::size_t c = 0; c < outputs; ++c) {
    if (!always_singular[c] || !ever_finite[c]) continue;
    const Field& output = pipeline.field_of(Role::Output, int(c));
    return Diagnostic{Severity::Warning, output.where,
                      fmt::format("the pair is singular at i == j: '{}' is infinite or NaN there; soften it, or write "
                                  "skip_if({})",
                                  output.name, has_images(pipeline) ? "self_pair" : "i_index == j_index")};
  }
  return std::nullopt;
}

}  // namespace nbcc

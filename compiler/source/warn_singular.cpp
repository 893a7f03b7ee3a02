// Pipeline -> a warning about a singular self pair. Entry points: warn_singular(). This is no proof: it interprets the
// pipeline for a few random pairs, so it may miss a singularity that occurs only for some params.
#include "compiler/source/warn_singular.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/passes/derived/every_image.h"

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

// An input of i and the input of j that is the same array if i and j are the same particles.
using Counterparts = std::vector<std::pair<Field, Field>>;

Counterparts counterparts_of(const Pipeline& pipeline) {
  Counterparts found;
  for (const Field& i : pipeline.fields)
    for (const Field& j : pipeline.fields)
      if (are_counterparts(i, j)) found.emplace_back(i, j);
  return found;
}

// An adjoint of one set has on both sides all inputs, also those without a partner.
Counterparts counterparts_of(const Adjoint& adjoint) {
  Counterparts found;
  for (const AdjointField& i : adjoint.fields)
    for (const AdjointField& j : adjoint.fields)
      if (i.field.role == Role::InputI && j.field.role == Role::InputJ && i.meaning == j.meaning &&
          (i.of == j.of || i.partner == j.of))
        found.emplace_back(i.field, j.field);
  return found;
}

// One pair of particles with random positive values; if `self`, a pair of a particle with itself.
class Draw {
 public:
  Draw(const Pipeline& pipeline, const Counterparts& counterparts, int seed, bool self)
      : random_(std::mt19937_64::result_type(seed)) {
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
    for (const auto& [i, j] : counterparts)
      for (int c = 0; c < i.components(); ++c) input_.j[std::size_t(j.first + c)] = input_.i[std::size_t(i.first + c)];
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

// The first output component that is finite for some pairs, but for no pair of a particle with itself.
std::optional<int> singular_component(const Pipeline& pipeline, const Counterparts& counterparts) {
  // Listed pairs contain a self pair only if the caller lists one.
  if (counterparts.empty() || pipeline.components(Role::InputPair) > 0 || pipeline.has_pair_values())
    return std::nullopt;
  // Make every output a sum, whose value for a single pair is the contribution.
  Pipeline sums = pipeline;
  sums.finished.clear();
  for (Field& field : sums.fields) field.reduction = Reduction::Sum;

  const auto outputs = std::size_t(pipeline.components(Role::Output));
  std::vector<bool> always_singular(outputs, true), ever_finite(outputs, false);
  for (int seed = 0; seed < kDraws; ++seed) {
    const std::vector<bool> with_itself = finite(sums, Draw(pipeline, counterparts, seed, true));
    const std::vector<bool> with_another = finite(sums, Draw(pipeline, counterparts, seed, false));
    for (std::size_t c = 0; c < outputs; ++c) {
      always_singular[c] = always_singular[c] && !with_itself[c];
      ever_finite[c] = ever_finite[c] || with_another[c];
    }
  }
  for (std::size_t c = 0; c < outputs; ++c)
    if (always_singular[c] && ever_finite[c]) return int(c);
  return std::nullopt;
}

std::string_view exclusion(const Pipeline& pipeline) {
  return has_images(pipeline) ? "skip_if(self_pair)" : "skip_if(i_index == j_index)";
}

}  // namespace

std::optional<Diagnostic> warn_singular(const Pipeline& pipeline) {
  const std::optional<int> component = singular_component(pipeline, counterparts_of(pipeline));
  if (!component) return std::nullopt;
  const Field& output = pipeline.field_of(Role::Output, *component);
  return Diagnostic{Severity::Warning, output.where,
                    fmt::format("the pair is singular at i == j: '{}' is infinite or NaN there; soften it, or write {}",
                                output.name, exclusion(pipeline))};
}

std::optional<Diagnostic> warn_singular(const Adjoint& adjoint) {
  const std::optional<int> component = singular_component(adjoint.pipeline, counterparts_of(adjoint));
  if (!component) return std::nullopt;
  const Field& output = adjoint.pipeline.field_of(Role::Output, *component);
  const auto is_output = [&](const AdjointField& one) { return one.field.name == output.name; };
  const AdjointField& derivative = *std::ranges::find_if(adjoint.fields, is_output);
  if (derivative.meaning != AdjointMeaning::Derivative) return std::nullopt;  // a forward pipeline
  return Diagnostic{
      Severity::Warning, output.where,
      fmt::format("the derivative {} '{}' is singular at i == j: it is infinite or NaN there; soften the "
                  "pair, or write {}",
                  adjoint.side == AdjointSide::Tangent ? "of" : "by", derivative.of, exclusion(adjoint.pipeline))};
}

}  // namespace nbcc

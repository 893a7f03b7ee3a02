// Plan -> the members of Partial (for each output in order: its value, then its index if the reduction has one) and the
// statements on them. Entry point: cuda_partial(). The statements are in double precision with exact division, since
// they are few per particle.

#include <fmt/core.h>

#include "compiler/emit/cuda/pair/cuda_choice.h"
#include "compiler/emit/cuda/pair/cuda_expression.h"
#include "compiler/emit/cuda/pair/cuda_pair_body.h"
#include "compiler/emit/cuda/pair/cuda_weights.h"
#include "compiler/emit/finish.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

constexpr CudaScalars kPartialScalars{true, true};

}  // namespace

std::string cuda_result(const Plan& plan, int component) {
  const OutputPlan& output = plan.outputs[std::size_t(component)];
  if (output.histogram >= 0) return "0";  // no value of an i
  if (output.of_array) return "";         // its frame stores it
  if (output.of_choice) return cuda_choice_result(plan, component);
  return fmt::format("all.{}{}", keeps_index(output.reduction) ? "arg" : "acc", component);
}

ScalarSpelling cuda_scalar_spelling(CudaPairs pairs) {
  ScalarSpelling spelling;
  spelling.arguments = pairs == CudaPairs::Listed ? "" : "a.";
  spelling.tables = "a.";
  spelling.i_index = "i + a.i_offset";
  spelling.j_index = "j + a.j_offset";
  spelling.input = [](const Node& n) {
    const char* const letter = n.op == Op::InputI ? "i" : n.op == Op::InputJ ? "j" : "p";
    return cuda_from_loaded(cuda_component(n.type >= Type::Float ? "double" : "index", letter, int(n.payload)), n.type);
  };
  spelling.literal = [](double value, Type type) { return cuda_literal(value, type, kPartialScalars); };
  spelling.operation = [](const Graph& graph, const Node& node, const auto& args) {
    return cuda_operation(graph, node, args, kPartialScalars);
  };
  return spelling;
}

void cuda_partial(const Pipeline& pipeline, const Plan& plan, CudaPairs pairs, TemplateHoles& holes) {
  std::string &members = holes["partial_members"], &made = holes["partial_of"], &combined = holes["combine"];
  std::string &stored = holes["store_partial"], &loaded = holes["load_partial"];
  std::string &all_plain = holes["all_plain"], &plain = holes["store_plain"], &store = holes["store"];
  // The members, and their places in memory, between which output arrays have theirs.
  int size = 0, place = 0;
  std::string stored_close, loaded_close;
  const auto add_member = [&](const char* type, const std::string& name, const std::string& initial) {
    members += fmt::format("{} {} = {};\n", type, name, initial);
    const auto text = [&](int at) {
      return std::pair(fmt::format("at[{} * stride] = double_of_bits(all.{});\n", at, name),
                       fmt::format("set_bits(all.{}, at[{} * stride]);\n", name, at));
    };
    stored += text(place).first, loaded += text(place).second;
    stored_close += text(size).first, loaded_close += text(size).second;
    ++size, ++place;
  };
  for (std::size_t k = 0; k < plan.outputs.size(); ++k) {
    const OutputPlan& output = plan.outputs[k];
    place += output.of_array;
    if (output.histogram >= 0 || output.of_array) continue;
    const bool weighted = output.reduction == Reduction::Weighted, sum = output.reduction == Reduction::Sum || weighted;
    const bool least = is_minimum(output.reduction), product = output.reduction == Reduction::Product;
    if (!output.of_choice) {
      add_member(output.is_whole() ? "index" : "double", fmt::format("acc{}", k),
                 cuda_literal(output.identity(), output.is_whole() ? Type::Index : Type::Double, kPartialScalars));
      if (!output.of_j) made += fmt::format("part.acc{0} = {1}sum.s{0}{2};\n", k, sum ? "total(" : "", sum ? ")" : "");
      if (keeps_index(output.reduction)) {
        add_member("double", fmt::format("arg{}", k), "-1.0");
        made += fmt::format("part.arg{0} = (double)sum.j{0};\n", k);
        combined += fmt::format("keep_best(all.acc{0}, all.arg{0}, part.acc{0}, part.arg{0}, {1});\n", k, least);
      } else if (weighted || product || output.reduction == Reduction::Reference) {
        combined += cuda_combine_weighted(plan, k);
      } else if (sum) {
        combined += fmt::format("all.acc{0} += part.acc{0};\n", k);
      } else {
        combined += fmt::format("all.acc{0} = {1}(all.acc{0}, part.acc{0});\n", k, least ? "minimum" : "maximum");
      }
    }
    const std::string result = cuda_result(plan, int(k));
    const Reduction declared = pipeline.field_of(Role::Output, int(k)).reduction;
    if (is_hidden(declared)) continue;
    all_plain += fmt::format("{}is_plain(a.out[{}])", all_plain.empty() ? "" : " & ", k);
    plain += fmt::format("store_plain(a.out[{}], row, {});\n", k, result);
    if (product || declared == Reduction::LogSumExp) {
      store += cuda_store_accumulated(declared, k, result);
      continue;
    }
    store += fmt::format("store(a.out[{}], row, {}, {});\n", k, result, sum ? "kSum" : least ? "kMinimum" : "kMaximum");
  }
  cuda_choice_partials(plan, holes, size);
  if (!plan.choices.empty()) place = size;  // with a choice there are no output arrays
  if (size == 0) {                          // there are histograms or arrays alone
    all_plain = "true";
    add_member("double", "none", "0");
    // The runtime has no place for it between output arrays.
    if (place > size) --place, stored.clear(), loaded.clear();
  }
  holes["partial_size"] = std::to_string(size);
  holes["partial_places"] = std::to_string(place);
  holes["close_partials"] = "";
  if (place > size)
    holes["close_partials"] = fill_text("close partials", R"(
// In shared memory, whose stride is an int, output arrays have no places.
NBCC_DEVICE void store_partial(const Partial& all, double* at, int stride) {
  @{stored}
}
NBCC_DEVICE Partial load_partial(const double* at, int stride) {
  Partial all;
  @{loaded}
  return all;
}
)",
                                        {{"stored", stored_close}, {"loaded", loaded_close}});
  ScalarSpelling spelling = cuda_scalar_spelling(pairs);
  spelling.result = [&](std::size_t k) { return cuda_result(plan, int(k)); };
  const std::string nan_or_zero = nan_or_zero_statements(pipeline, plan, spelling);
  holes["nan_or_zero"] = nan_or_zero + (nan_or_zero.empty() ? "return 0;" : "return nan_or_zero;");
  holes["finish"] = finish_statements(pipeline, plan, spelling);
}

}  // namespace nbcc

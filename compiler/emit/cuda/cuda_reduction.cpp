// Pipeline and Plan -> the holes of Found and of what is done with it. One door: fill_reduction(). Scalar statements in
// double precision and with exact division: a few operations per particle, where accuracy costs nothing.
#include "compiler/emit/cuda/cuda_reduction.h"

#include <fmt/core.h>

#include "compiler/emit/cuda/cuda_expression.h"
#include "compiler/emit/finish.h"

namespace nbcc {
namespace {

constexpr CudaScalars kScalars{true, true};

class ReductionText {
 public:
  ReductionText(const Pipeline& pipeline, const Plan& plan) : pipeline_(pipeline), plan_(plan) {}

  void fill(std::map<std::string, std::string>& holes) const {
    const char* const names[] = {"found_members", "clear_found", "total",     "join",        "keep",
                                 "kept",          "finish",      "all_plain", "store_plain", "store"};
    for (const char* name : names) holes[name] = "";
    int slot = 0;
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k) {
      const Reduction how = reduction(k);
      const bool whole = plan_.outputs[k].is_whole();
      const std::string start = cuda_literal(plan_.outputs[k].identity(), whole ? Type::Index : Type::Double, kScalars);
      (whole ? whole_number : number)(holes, fmt::format("acc{}", k), start, slot++);
      if (how == Reduction::Sum)
        holes["total"] += fmt::format("part.acc{0} = total(sum.s{0});\n", k);
      else
        holes["total"] += fmt::format("part.acc{0} = sum.s{0};\n", k);
      if (how == Reduction::Sum)
        holes["join"] += fmt::format("all.acc{0} += part.acc{0};\n", k);
      else if (!keeps_index(how))
        holes["join"] +=
            fmt::format("all.acc{0} = {1}(all.acc{0}, part.acc{0});\n", k, is_minimum(how) ? "minimum" : "maximum");
      else {
        number(holes, fmt::format("arg{}", k), "-1.0", slot++);
        holes["total"] += fmt::format("part.arg{0} = (double)sum.j{0};\n", k);
        holes["join"] += fmt::format("keep_best(all.acc{0}, all.arg{0}, part.acc{0}, part.arg{0}, {1});\n", k,
                                     is_minimum(how) ? "true" : "false");
      }
    }
    holes["finish"] = finish();
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k) {
      holes["all_plain"] += fmt::format("{}is_plain(a.out[{}])", k == 0 ? "" : " & ", k);
      holes["store_plain"] += fmt::format("store_plain(a.out[{}], i, {});\n", k, result_name(k));
      holes["store"] += fmt::format("store(a.out[{}], i, {}, {});\n", k, result_name(k), combination(k));
    }
  }

 private:
  Reduction reduction(std::size_t output) const { return plan_.outputs[output].reduction; }
  std::string result_name(std::size_t k) const {
    return fmt::format("all.{}{}", keeps_index(reduction(k)) ? "arg" : "acc", k);
  }
  const char* combination(std::size_t k) const {
    return reduction(k) == Reduction::Sum ? "kSum" : is_minimum(reduction(k)) ? "kMinimum" : "kMaximum";
  }

  static void number(std::map<std::string, std::string>& holes, const std::string& name, const std::string& start,
                     int slot) {
    holes["found_members"] += fmt::format("double {};\n", name);
    holes["clear_found"] += fmt::format("all.{} = {};\n", name, start);
    holes["keep"] += fmt::format("place[{} * ni] = all.{};\n", slot, name);
    holes["kept"] += fmt::format("all.{} = place[{} * ni];\n", name, slot);
  }

  static void whole_number(std::map<std::string, std::string>& holes, const std::string& name, const std::string& start,
                           int slot) {
    holes["found_members"] += fmt::format("index {};\n", name);
    holes["clear_found"] += fmt::format("all.{} = {};\n", name, start);
    holes["keep"] += fmt::format("place[{} * ni] = double_of_bits(all.{});\n", slot, name);
    holes["kept"] += fmt::format("all.{} = bits_of_double(place[{} * ni]);\n", name, slot);
  }

  std::string finish() const {
    return finish_statements(
        pipeline_, plan_,
        {.arguments = "a.",
         .input_i =
             [](int component, Type type) {
               return cuda_from_loaded(cuda_component(type >= Type::Float ? "double" : "index", "i", component), type);
             },
         .result = [this](std::size_t output) { return result_name(output); },
         .literal = [](double value, Type type) { return cuda_literal(value, type, kScalars); },
         .operation = [](const Graph& graph, const Node& node,
                         const auto& args) { return cuda_operation(graph, node, args, kScalars); }});
  }

  const Pipeline& pipeline_;
  const Plan& plan_;
};

}  // namespace

void fill_reduction(const Pipeline& pipeline, const Plan& plan, std::map<std::string, std::string>& holes) {
  ReductionText(pipeline, plan).fill(holes);
}

}  // namespace nbcc

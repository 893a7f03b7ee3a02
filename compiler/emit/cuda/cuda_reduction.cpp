// Pipeline and Plan -> the holes of Found and of what is done with it. One door: fill_reduction(). Scalar statements in
// double precision and with exact division: a few operations per particle, where accuracy costs nothing.
#include "compiler/emit/cuda/cuda_reduction.h"

#include <fmt/core.h>

#include <array>
#include <vector>

#include "compiler/emit/cuda/cuda_expression.h"
#include "compiler/emit/whole_number.h"

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
      const char* start = how == Reduction::Sum ? "0.0" : is_minimum(how) ? "infinite()" : "-infinite()";
      if (is_whole_extreme(pipeline_, k))
        whole_number(holes, fmt::format("acc{}", k), no_candidate(how), slot++);
      else
        number(holes, fmt::format("acc{}", k), start, slot++);
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
  Reduction reduction(std::size_t output) const { return outputs_[output]->reduction; }
  bool in_64_bits(std::size_t k) const { return !keeps_index(reduction(k)) && is_whole_extreme(pipeline_, k); }
  std::string result_name(std::size_t k) const {
    return fmt::format("all.{}{}", keeps_index(reduction(k)) ? "arg" : "acc", k);
  }
  const char* combination(std::size_t k) const {
    return reduction(k) == Reduction::Sum ? "kSum" : is_minimum(reduction(k)) ? "kMinimum" : "kMaximum";
  }

  static void number(std::map<std::string, std::string>& holes, const std::string& name, const char* start, int slot) {
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

  std::string scalar_statements(const Graph& graph, const std::vector<NodeId>& nodes, const char* prefix) const {
    std::string text;
    for (NodeId id : nodes) {
      const Node& n = graph[id];
      const std::string type = cuda_type(n.type, kScalars);
      std::string value;
      switch (n.op) {
        case Op::Const:
          value = cuda_literal(graph.constant_value(id), n.type, kScalars);
          break;
        case Op::Param:
          value = fmt::format("({})a.param[{}]", type, n.payload);
          break;
        case Op::InputI:
          value =
              cuda_from_loaded(cuda_component(n.type >= Type::Float ? "double" : "index", "i", int(n.payload)), n.type);
          break;
        case Op::IIndex:
          value = "i + a.i_offset";
          break;
        case Op::Output:
          value = n.type == Type::Index && !in_64_bits(std::size_t(n.payload))
                      ? fmt::format("to_index({})", result_name(std::size_t(n.payload)))
                      : fmt::format("({}){}", type, result_name(std::size_t(n.payload)));
          break;
        default: {
          std::array<std::string, 3> args;
          for (int k = 0; k < arity(n.op); ++k)
            args[std::size_t(k)] = fmt::format("{}{}", prefix, n.args[std::size_t(k)]);
          value = cuda_operation(graph, n, args, kScalars);
        }
      }
      text += fmt::format("const {} {}{} = {};\n", type, prefix, id, value);
    }
    return text;
  }

  std::string finish() const {
    std::string text = scalar_statements(pipeline_.pair, plan_.scales, "s");
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k)
      if (const NodeId scale = pipeline_.contributions[k].scale; scale != kNone)
        text += fmt::format("all.acc{0} = scaled(all.acc{0}, s{1});\n", k, scale);
    if (pipeline_.finished.empty()) return text;
    text += scalar_statements(pipeline_.finish, plan_.finish, "f");
    for (std::size_t k = 0; k < pipeline_.finished.size(); ++k)
      if (!is_untouched(pipeline_, k))
        text +=
            fmt::format("{} = ({})f{};\n", result_name(k), in_64_bits(k) ? "index" : "double", pipeline_.finished[k]);
    return text;
  }

  const Pipeline& pipeline_;
  const Plan& plan_;
  std::vector<const Field*> outputs_ = pipeline_.fields_of(Role::Output);
};

}  // namespace

void fill_reduction(const Pipeline& pipeline, const Plan& plan, std::map<std::string, std::string>& holes) {
  ReductionText(pipeline, plan).fill(holes);
}

}  // namespace nbcc

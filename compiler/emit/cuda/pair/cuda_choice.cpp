// Plan -> statements for its choices (argmin and argmax with several slots). Entry points: see the header. The
// result does not depend on the order of the j-particles: ties are decided by their indices.
#include "compiler/emit/cuda/pair/cuda_choice.h"

#include <fmt/format.h>

#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

constexpr CudaScalars kChoiceScalars{true, true};

const OutputPlan& output_of(const Plan& plan, int component) { return plan.outputs[std::size_t(component)]; }

std::string repeated(const std::string& value, int count) {
  std::string list;
  for (int k = 0; k < count; ++k) list += (k ? ", " : "") + value;
  return list;
}

// Declares an array whose elements have the same initial value.
std::string array(const std::string& type, const std::string& name, int count, const std::string& initial) {
  return fmt::format("{} {}[{}] = {{{}}};\n", type, name, count, repeated(initial, count));
}

std::string initial(const OutputPlan& output, Type type, const CudaScalars& scalars) {
  return cuda_literal(output.identity(), type, scalars);
}

const char* partial_type(const OutputPlan& output) { return output.is_whole() ? "index" : "double"; }

}  // namespace

std::string cuda_choice_functions(const Plan& plan) {
  return plan.choices.empty() ? "" : fill_template("cuda_choices.cuh", {});
}

std::string cuda_choice_sums(const Plan& plan, const CudaScalars& scalars) {
  std::string text;
  const auto add = [&](int component, int count) {
    const OutputPlan& output = output_of(plan, component);
    text += array(cuda_type(output.type, scalars), fmt::format("s{}", component), count,
                  initial(output, output.type, scalars));
  };
  for (const Choice& choice : plan.choices) {
    add(choice.first, choice.slots);
    text += array("index", fmt::format("j{}", choice.first), choice.slots, "-1");
    for (const Choice::Payload& payload : choice.payloads) add(payload.first, choice.slots * payload.width);
  }
  return text;
}

std::string cuda_choose(const Plan& plan, const CudaScalars& scalars, const std::string& j) {
  std::string text;
  for (const Choice& choice : plan.choices) {
    const OutputPlan& output = output_of(plan, choice.first);
    const std::string guard = output.guard == kNone ? "" : fmt::format("t{} && ", output.guard);
    std::string payloads;
    for (const Choice::Payload& payload : choice.payloads) {
      std::string values;
      for (int d = 0; d < payload.width; ++d)
        values += fmt::format("{}t{}", d ? ", " : "", output_of(plan, payload.first + d).value);
      payloads += fmt::format("const {0} x{1}[] = {{{2}}};\ninsert_payload<{3}, {4}>(slot, sum[r].s{1}, x{1});\n",
                              cuda_type(output_of(plan, payload.first).type, scalars), payload.first, values,
                              choice.slots, payload.width);
    }
    text += fmt::format(
        "if (const index j = {0}; {1}is_before<{2}>(t{3}, j, sum[r].s{4}[{5}], sum[r].j{4}[{5}])) {{\n"
        "{6}insert_sorted<{7}, {2}>(sum[r].s{4}, sum[r].j{4}, t{3}, j);\n{8}}}\n",
        j, guard, choice.least(), output.value, choice.first, choice.slots - 1,
        payloads.empty() ? "" : "const int slot = ", choice.slots, payloads);
  }
  return text;
}

void cuda_choice_partials(const Plan& plan, std::map<std::string, std::string>& holes, int& size) {
  std::string &made = holes["partial_of"], &combined = holes["combine"];
  const auto add = [&](const char* type, const std::string& name, int count, const std::string& initial) {
    holes["partial_members"] += array(type, name, count, initial);
    holes["store_partial"] += fmt::format(
        "#pragma unroll\nfor (int k = 0; k < {0}; ++k) at[({1} + k) * stride] = double_of_bits(all.{2}[k]);\n", count,
        size, name);
    holes["load_partial"] +=
        fmt::format("#pragma unroll\nfor (int k = 0; k < {0}; ++k) set_bits(all.{2}[k], at[({1} + k) * stride]);\n",
                    count, size, name);
    size += count;
  };
  const auto add_values = [&](int component, int count) {
    const OutputPlan& output = output_of(plan, component);
    add(partial_type(output), fmt::format("acc{}", component), count,
        initial(output, output.is_whole() ? Type::Index : Type::Double, kChoiceScalars));
    made +=
        fmt::format("#pragma unroll\nfor (int k = 0; k < {0}; ++k) part.acc{1}[k] = sum.s{1}[k];\n", count, component);
  };
  for (const Choice& choice : plan.choices) {
    add_values(choice.first, choice.slots);
    add("double", fmt::format("arg{}", choice.first), choice.slots, "-1.0");
    made += fmt::format("#pragma unroll\nfor (int k = 0; k < {0}; ++k) part.arg{1}[k] = (double)sum.j{1}[k];\n",
                        choice.slots, choice.first);
    combined += fmt::format(
        "#pragma unroll 1\n"
        "for (int k = 0; k < {0} && part.arg{1}[k] >= 0; ++k) {{\n"
        "const int slot = insert_partial<{0}, {2}>(all.acc{1}, all.arg{1}, part.acc{1}[k], part.arg{1}[k]);\n"
        "if (slot == {0}) break;\n",
        choice.slots, choice.first, choice.least());
    for (const Choice::Payload& payload : choice.payloads) {
      add_values(payload.first, choice.slots * payload.width);
      combined += fmt::format("insert_partial_payload<{0}, {1}>(slot, all.acc{2}, part.acc{2} + k * {1});\n",
                              choice.slots, payload.width, payload.first);
    }
    combined += "}\n";
  }
}

std::string cuda_choice_result(const Plan& plan, int component) {
  for (const Choice& choice : plan.choices) {
    if (component >= choice.first && component <= choice.last())
      return fmt::format("all.arg{}[{}]", choice.first, component - choice.first);
    for (const Choice::Payload& payload : choice.payloads)
      if (component >= payload.first && component < payload.first + choice.slots * payload.width)
        return fmt::format("all.acc{}[{}]", payload.first, component - payload.first);
  }
  return "";
}

}  // namespace nbcc

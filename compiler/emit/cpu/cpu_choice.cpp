// argmin and argmax with several slots, and their payloads -> statements. Part of CpuPairBody; entry points:
// clear_choice(), choose(), store_choice(). All pairs of a vector are compared with the last slot at once; the few that
// are better are inserted one by one into the sorted list of the i.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "compiler/emit/cpu/cpu_pair_body.h"

namespace nbcc {
namespace {

const char* row_type(const OutputPlan& output) { return output.is_whole() ? "index" : "double"; }

// Pointer to the rows from component `first` on.
std::string rows(const OutputPlan& output, int first) {
  return fmt::format("({}* const*)a->acc + {}", row_type(output), first);
}

std::string payload_name(const Choice::Payload& payload, int r) {
  return fmt::format("payload{}_{}", payload.first, r);
}

std::string list_name(const Choice& choice, int r) { return fmt::format("list{}_{}", choice.first, r); }

}  // namespace

std::string CpuPairBody::clear_choice(const Choice& choice) const {
  const OutputPlan& output = plan_.outputs[std::size_t(choice.first)];
  const std::string type = cpu_type(output.type, true);
  // The best possible value, which no value replaces: for repetitions of the last i.
  Reduction other = choice.least() ? Reduction::ArgMax : Reduction::ArgMin;
  const double best = output.is_whole() ? double(identity<std::int64_t>(other)) : identity<double>(other);
  std::string text;
  for (int r = 0; r < i_block_; ++r) {
    const std::string i = i_name(r), there = r == 0 ? "" : fmt::format("i + {} < i_end", r);
    std::string limit = fmt::format("(({}*)a->acc[{}])[{}]", row_type(output), choice.last(), i);
    if (r > 0)
      limit =
          fmt::format("{} ? {} : {}", there, limit, cpu_literal(best, output.is_whole() ? Type::Index : Type::Double));
    text += fmt::format("{0} last{1}_{2} = ({0})({3});\nSortedList<{4}, {5}> list{1}_{2};\n", type, choice.first, r,
                        limit, choice.slots, row_type(output));
    for (const Choice::Payload& payload : choice.payloads)
      text += fmt::format("PayloadList<{}, {}, {}> {};\n", choice.slots, payload.width,
                          row_type(plan_.outputs[std::size_t(payload.first)]), payload_name(payload, r));
    if (r > 0) text += fmt::format("const vmask repeats{}_{} = {} ? ~all_lanes : all_lanes;\n", choice.first, r, there);
    // Integers have no worst value like infinity; an empty last slot is a separate flag.
    if (output.is_whole())
      text += fmt::format("bool open{}_{} = {}a->arg[{}][{}] < 0;\n", choice.first, r, r == 0 ? "" : there + " && ",
                          choice.last(), i);
  }
  return text;
}

std::string CpuPairBody::choose(const Choice& choice, int r, bool every_pair_counts) const {
  const OutputPlan& output = plan_.outputs[std::size_t(choice.first)];
  const std::string value = node_name(output.value, r), i = i_name(r), last = fmt::format("last{}_{}", choice.first, r);
  const std::string open =
      output.is_whole() ? fmt::format(" | (open{}_{} ? all_lanes : ~all_lanes)", choice.first, r) : "";
  std::string payloads;
  for (const Choice::Payload& payload : choice.payloads) {
    const OutputPlan& first = plan_.outputs[std::size_t(payload.first)];
    std::string values;
    for (int d = 0; d < payload.width; ++d)
      values += fmt::format("{}({})({}[k])", d ? ", " : "", row_type(first),
                            node_name(plan_.outputs[std::size_t(payload.first + d)].value, r));
    payloads += fmt::format("{{\nconst {} x[] = {{{}}};\n{}.insert(slot, x);\n}}\n", row_type(first), values,
                            payload_name(payload, r));
  }
  std::string counts = counted(output, r, every_pair_counts);
  if (r > 0) counts += fmt::format(" & (numbered ? ~repeats{}_{} : all_lanes)", choice.first, r);
  // If the j are numbered, they come in any order: a value equal to the last one may have a lower number.
  std::string text = fmt::format(
      "if (const vmask better = {0} & ((numbered ? is_not_worse({1}, {2}, {3}) : is_better({1}, {2}, {3})){4}); "
      "any(better)) {{\n",
      counts, value, last, choice.least(), open);
  const std::string list = list_name(choice, r);
  for (const Choice::Payload& payload : choice.payloads)
    text += fmt::format("if (!{}.is_loaded) {}.load({}, {});\n", list, payload_name(payload, r),
                        rows(plan_.outputs[std::size_t(payload.first)], payload.first), i);
  text += fmt::format(
      "{0}.load({1}, a->arg + {2}, {3});\n"
      "for (unsigned lanes = lanes_of(better); lanes != 0; lanes &= lanes - 1) {{\n"
      "const int k = __builtin_ctz(lanes);\n"
      "const double number = (double)((numbered ? a->j_number[j + k] : j + k) + a->j_offset);\n"
      "const {4} x = ({4}){5}[k];\n",
      list, rows(output, choice.first), choice.first, i, row_type(output), value);
  // Infinite values are never kept, as if compared with the infinite value of an empty slot.
  if (!output.is_whole())
    text += fmt::format("if (numbered && !(x {} {})) continue;\n", choice.least() ? '<' : '>',
                        cpu_literal(identity<double>(choice.reduction), Type::Double));
  text += fmt::format("{}{}.insert(x, number, {}, numbered);\n", payloads.empty() ? "" : "const int slot = ", list,
                      choice.least());
  if (!payloads.empty()) text += fmt::format("if (slot >= {}) continue;\n{}", choice.slots, payloads);
  text += fmt::format("}}\n{} = ({})({}.values[{}]);\n", last, cpu_type(output.type, true), list, choice.slots - 1);
  if (output.is_whole())
    text += fmt::format("open{}_{} = {}.indices[{}] < 0;\n", choice.first, r, list, choice.slots - 1);
  return text + "}\n";
}

std::string CpuPairBody::store_choice(const Choice& choice, int r) const {
  std::string text = fmt::format("{}.store({}, a->arg + {}, {});\n", list_name(choice, r),
                                 rows(plan_.outputs[std::size_t(choice.first)], choice.first), choice.first, i_name(r));
  for (const Choice::Payload& payload : choice.payloads)
    text += fmt::format("if ({}.is_loaded) {}.store({}, {});\n", list_name(choice, r), payload_name(payload, r),
                        rows(plan_.outputs[std::size_t(payload.first)], payload.first), i_name(r));
  return text;
}

}  // namespace nbcc

// Converts values of params to the bytes of tables. Entry points: Tables, spline_fault().
#include "runtime/sum/request/tables.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/table.h"
#include "fmt/format.h"

namespace nbcc {
namespace {

template <typename T>
void store(const PlacedTable& table, const std::vector<double>& values, std::byte* at) {
  const auto columns = std::size_t(columns_of(table));
  for (std::size_t k = 0; k < values.size(); ++k) {
    const T number = T(values[k]);
    std::memcpy(at + k / columns * std::size_t(table.row_step) + k % columns * std::size_t(table.step), &number,
                sizeof number);
  }
}

void store(const PlacedTable& table, std::span<const double> params, std::byte* at) {
  const std::vector<double> values = table_values(table, params);
  switch (table.element) {
    case Element::Float:
      return store<float>(table, values, at);
    case Element::Double:
      return store<double>(table, values, at);
    case Element::Int32:
      return store<std::int32_t>(table, values, at);
    case Element::Int64:
      return store<std::int64_t>(table, values, at);
    case Element::Half:
    case Element::BFloat16:
      break;  // of arrays alone
  }
}

std::int64_t number_of_next_tables() {
  static std::atomic<std::int64_t> last = 0;
  return ++last;
}

// The subscript of element k of a table: "[2]", or "[2][0]" for a param with two dimensions or of vectors.
std::string entry(const Table& table, std::size_t k) {
  const auto columns = std::size_t(columns_of(table));
  const bool rows = table.columns > 0;
  return rows ? fmt::format("[{}][{}]", k / columns, k % columns) : fmt::format("[{}]", k);
}

std::string fault_of(const PlacedTable& table, std::span<const double> params) {
  Table plain = table;
  plain.power = -1;
  const std::vector<double> elements = table_values(plain, params), coefficients = table_values(table, params);
  const auto not_finite = [](double x) { return !std::isfinite(x); };
  if (const auto bad = std::ranges::find_if(elements, not_finite); bad != elements.end())
    return fmt::format("its entry {} is {}, but a spline goes through finite numbers only",
                       entry(table, std::size_t(bad - elements.begin())), *bad);
  const bool narrow = table.element == Element::Float;
  // Divided by four, because a spline's value is the sum of four terms.
  const double largest = (narrow ? double(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max()) / 4;
  const auto beyond = [&](double x) { return !(std::fabs(x) <= largest); };
  const auto bad = std::ranges::find_if(coefficients, beyond);
  if (bad == coefficients.end()) return "";
  return fmt::format(
      "its entries are too large for a spline: from entry {} on a coefficient exceeds the range of {} "
      "numbers",
      entry(table, std::size_t(bad - coefficients.begin())), narrow ? "32-bit" : "64-bit");
}

}  // namespace

std::string spline_fault(const KernelSource& source, const FieldLayout& field, std::span<const double> params) {
  for (const PlacedTable& table : source.tables) {
    if (table.power < 0 || table.first < field.first || table.first >= field.first + field.components()) continue;
    if (const std::string fault = fault_of(table, params); !fault.empty()) return fault;
  }
  return "";
}

Tables::Tables(const KernelSource& source, std::span<const double> params) : number(number_of_next_tables()) {
  std::int64_t size = 0;
  for (const PlacedTable& table : source.tables) size = std::max(size, end_of(table));
  bytes.resize(std::size_t(size + kTablePadding));
  for (const PlacedTable& table : source.tables) store(table, params, bytes.data() + table.offset);
}

}  // namespace nbcc

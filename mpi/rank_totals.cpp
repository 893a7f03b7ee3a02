// Exchanges the totals of ranks, combines and stores them. Entry points: RankTotals::bind_own(), RankTotals::store().
// Sums over no particles.
#include "mpi/rank_totals.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "mpi/block.h"
#include "runtime/sum/request/convert.h"
#include "runtime/sum/request/small_floats.h"

namespace nbcc {
namespace {

// An element of the caller's array, on the host or on the device.
class Place {
 public:
  Place(nbcc_device* device, const nbcc_view& array, int component)
      : device_(on_device(device, array) ? device : nullptr),
        at_(static_cast<std::byte*>(array.data) + component * array.component_stride) {}
  template <typename T>
  T read() const {
    T value;
    if (device_)
      detail::call(nbcc_device_read, device_, static_cast<void*>(&value), static_cast<const void*>(at_), sizeof value);
    else
      std::memcpy(&value, at_, sizeof value);
    return value;
  }
  template <typename T>
  void write(T value) const {
    if (device_)
      detail::call(nbcc_device_write, device_, static_cast<void*>(at_), static_cast<const void*>(&value), sizeof value);
    else
      std::memcpy(at_, &value, sizeof value);
  }

 private:
  nbcc_device* const device_;  // null: on the host
  std::byte* const at_;
};

template <typename T, typename Value>
void store_at(const Place& place, Reduction reduction, Value value, bool accumulate) {
  place.write(accumulate ? accumulated(reduction, place.read<T>(), value) : rounded<T>(value));
}

// T: Half or BFloat16, whose results are rounded once.
template <typename T, typename Value>
void store_small_at(const Place& place, Reduction reduction, Value value, bool accumulate) {
  place.write(T(accumulate ? combined(reduction, double(float(place.read<T>())), double(value)) : double(value)));
}

template <typename Value>
void store_in(const Place& place, nbcc_element element, Reduction reduction, Value value, bool accumulate) {
  switch (element) {
    case NBCC_FLOAT:
      return store_at<float>(place, reduction, value, accumulate);
    case NBCC_DOUBLE_ELEMENT:
      return store_at<double>(place, reduction, value, accumulate);
    case NBCC_INT32:
      return store_at<std::int32_t>(place, reduction, value, accumulate);
    case NBCC_INT64:
      return store_at<std::int64_t>(place, reduction, value, accumulate);
    case NBCC_HALF:
      return store_small_at<Half>(place, reduction, value, accumulate);
    case NBCC_BFLOAT16:
      return store_small_at<BFloat16>(place, reduction, value, accumulate);
  }
}

// The values of the ranks, from rank 0 on. Each has the bits of a T, and is `stride` numbers behind the previous one.
template <typename T>
T combined_in_order(Reduction reduction, const std::int64_t* values, std::size_t stride, int ranks) {
  T total = std::bit_cast<T>(values[0]);
  for (int rank = 1; rank < ranks; ++rank)
    total = accumulated(reduction, total, std::bit_cast<T>(values[std::size_t(rank) * stride]));
  return total;
}

}  // namespace

RankTotals::RankTotals(nbcc_sum* sum) : sum_(sum) {
  nbcc_field field;
  for (int k = 0; nbcc_sum_field(sum, k, &field) == 0; ++k)
    if (field.total != 0)
      totals_.push_back({field.name, field.components, field.integral != 0, field.reduction, {}, {}});
}

RankTotals::~RankTotals() {
  if (!is_rebound_) return;
  attempt([&] {
    for (const Total& total : totals_) {
      if (total.array.data)
        detail::call(nbcc_sum_bind, sum_, total.name.c_str(), &total.array);
      else
        detail::call(nbcc_sum_ignore, sum_, total.name.c_str());
    }
  });
}

void RankTotals::read_bindings() {
  for (Total& total : totals_) detail::call(nbcc_sum_get_view, sum_, total.name.c_str(), &total.array);
}

std::vector<std::int64_t> RankTotals::shapes() const {
  std::vector<std::int64_t> numbers;
  for (const Total& total : totals_)
    numbers.insert(numbers.end(), {total.components, total.is_integral ? 1 : 0, total.reduction});
  return numbers;
}

std::vector<std::int64_t> RankTotals::wanted() const {
  std::vector<std::int64_t> numbers;
  for (const Total& total : totals_) numbers.push_back(total.array.data ? 1 : 0);
  return numbers;
}

void RankTotals::bind_own(const std::vector<std::int64_t>& wanted_anywhere) {
  for (std::size_t t = 0; t < totals_.size(); ++t) {
    Total& total = totals_[t];
    if (wanted_anywhere[t] == 0) continue;
    // A run that accumulates combines its result with these.
    const auto reduction = Reduction(total.reduction);
    total.own.assign(std::size_t(total.components), total.is_integral
                                                        ? identity<std::int64_t>(reduction)
                                                        : std::bit_cast<std::int64_t>(identity<double>(reduction)));
    constexpr std::int64_t bytes = sizeof(std::int64_t);
    const nbcc_view own{total.own.data(), total.is_integral ? NBCC_INT64 : NBCC_DOUBLE_ELEMENT, 1,
                        total.components * bytes, bytes};
    is_rebound_ = true;
    detail::call(nbcc_sum_bind, sum_, total.name.c_str(), &own);
  }
}

void RankTotals::store(const Ranks& ranks, nbcc_device* device, bool accumulate) const {
  std::vector<std::int64_t> mine;
  for (const Total& total : totals_) mine.insert(mine.end(), total.own.begin(), total.own.end());
  if (mine.empty()) return;
  const std::vector<std::int64_t> all = ranks.gather(mine);
  ranks.agree(attempt([&] {
    std::size_t at = 0;
    for (const Total& total : totals_) {
      const auto reduction = Reduction(total.reduction);
      for (int c = 0; c < int(total.own.size()); ++c, ++at) {
        if (!total.array.data) continue;
        const Place place(device, total.array, c);
        const std::int64_t* const values = all.data() + at;
        if (total.is_integral)
          store_in(place, total.array.element, reduction,
                   combined_in_order<std::int64_t>(reduction, values, mine.size(), ranks.count()), accumulate);
        else
          store_in(place, total.array.element, reduction,
                   combined_in_order<double>(reduction, values, mine.size(), ranks.count()), accumulate);
      }
    }
  }));
}

}  // namespace nbcc

// All bodies -> those of one process, and back. Knows no MPI.
#include "examples/support/ranks.h"

namespace examples {

Bodies Ranks::share(const Bodies& all) const {
  Bodies mine;
  for (std::int64_t k = own(); k < all.count(); k += count()) {
    mine.mass.push_back(all.mass[std::size_t(k)]);
    mine.x.insert(mine.x.end(), &all.x[std::size_t(3 * k)], &all.x[std::size_t(3 * k)] + 3);
    mine.v.insert(mine.v.end(), &all.v[std::size_t(3 * k)], &all.v[std::size_t(3 * k)] + 3);
  }
  return mine;
}

std::vector<double> Ranks::collect(const std::vector<double>& mine, int width) const {
  double numbers = double(mine.size());
  add_up({&numbers, 1});
  std::vector<double> all(std::size_t(numbers), 0.0);
  for (std::size_t k = 0; k < mine.size(); ++k) {
    const std::size_t body = k / std::size_t(width), component = k % std::size_t(width);
    all[(body * std::size_t(count()) + std::size_t(own())) * std::size_t(width) + component] = mine[k];
  }
  add_up(all);
  return all;
}

}  // namespace examples

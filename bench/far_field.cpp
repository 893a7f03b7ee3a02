// Sums to a tolerance, by one thread of the CPU or on a GPU: seconds of the first and of a steady run (CPU time, on a
// GPU wall-clock time, with arrays of floats in its memory), stages, and the errors of 256 i against all pairs in
// double precision. `--write FOLDER` leaves the bodies for far_field_peers.py.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/api/nbcc.hpp"

namespace nbcc::bench {
namespace {

struct Choice {
  std::vector<double> sizes{1e5, 1e6}, tolerances{1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8};
  std::vector<std::string> bodies{"plummer", "cube"};
  std::string folder, device = "cpu";
  int rounds = 3, threads = 1;
  bool all_pairs = false;
  nbcc_far_choice far{sizeof(nbcc_far_choice), 0, 0, 0};
};

double seconds_of(const std::string& device) {
  if (device == "cpu") return double(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// An array of doubles on the host, or of floats in the memory of a GPU.
class Array {
 public:
  Array(const Device& device, bool on_gpu, std::vector<double> values) : host_(std::move(values)) {
    if (on_gpu) gpu_ = std::make_unique<DeviceMemory>(device, host_.size() * sizeof(float));
    send();
  }
  View view(int components) const {
    const auto count = std::int64_t(host_.size()) / components;
    const auto size = std::int64_t(gpu_ ? sizeof(float) : sizeof(double));
    return {nbcc_view{gpu_ ? gpu_->data() : const_cast<double*>(host_.data()), gpu_ ? NBCC_FLOAT : NBCC_DOUBLE_ELEMENT,
                      count, size * components, size}};
  }
  const std::vector<double>& fetch() {
    if (!gpu_) return host_;
    std::vector<float> narrow(host_.size());
    gpu_->read(0, narrow.data(), narrow.size() * sizeof(float));
    std::copy(narrow.begin(), narrow.end(), host_.begin());
    return host_;
  }
  void move(double by) {
    for (double& value : host_) value += by;
    send();
  }

 private:
  void send() {
    if (!gpu_) return;
    const std::vector<float> narrow(host_.begin(), host_.end());
    gpu_->write(0, narrow.data(), narrow.size() * sizeof(float));
  }

  std::vector<double> host_;
  std::unique_ptr<DeviceMemory> gpu_;
};

// A Plummer sphere of unit scale length that ends where 0.999 of its mass are, or the unit cube.
std::vector<double> positions_of(const std::string& bodies, std::int64_t n) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal;
  std::vector<double> x;
  for (std::int64_t k = 0; k < n; ++k) {
    if (bodies == "cube") {
      for (int axis = 0; axis < 3; ++axis) x.push_back(uniform(random));
      continue;
    }
    const double r = 1 / std::sqrt(std::pow(0.999 * uniform(random), -2.0 / 3) - 1);
    const std::array<double, 3> v{normal(random), normal(random), normal(random)};
    for (const double c : v) x.push_back(r * c / std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
  }
  return x;
}

// Sums over all pairs for chosen i: acceleration and potential, and the sum of the lengths of the accelerations.
struct Exact {
  std::vector<std::size_t> i;
  std::vector<std::array<double, 5>> sums;
};

Exact exact_sums(const std::vector<double>& x, double mass, double eps2) {
  Exact exact;
  const std::size_t n = x.size() / 3;
  std::mt19937_64 random(77);
  std::set<std::size_t> chosen;
  while (chosen.size() < std::min<std::size_t>(n, 256)) chosen.insert(random() % n);
  exact.i.assign(chosen.begin(), chosen.end());
  exact.sums.resize(exact.i.size());
  const auto sum_of = [&](std::size_t i) {
    std::array<double, 5> sum{};
    for (std::size_t j = 0; j < n; ++j) {
      const double dx = x[3 * j] - x[3 * i], dy = x[3 * j + 1] - x[3 * i + 1], dz = x[3 * j + 2] - x[3 * i + 2];
      const double r2 = dx * dx + dy * dy + dz * dz, r = std::sqrt(r2 + eps2), f = mass / (r * r * r);
      sum[0] += f * dx, sum[1] += f * dy, sum[2] += f * dz;
      sum[3] -= mass / r;
      sum[4] += f * std::sqrt(r2);
    }
    return sum;
  };
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
    threads.emplace_back([&] {
      for (std::size_t k = next++; k < exact.i.size(); k = next++) exact.sums[k] = sum_of(exact.i[k]);
    });
  threads.clear();
  return exact;
}

struct Errors {
  double of_sum = 0, of_terms = 0, of_potential = 0;  // rms, relative
};

Errors errors_of(const Exact& exact, const std::vector<double>& acc, const std::vector<double>& pot) {
  Errors errors;
  for (std::size_t k = 0; k < exact.i.size(); ++k) {
    const std::array<double, 5>& sum = exact.sums[k];
    double error = 0, size = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      error += std::pow(acc[3 * exact.i[k] + axis] - sum[axis], 2);
      size += sum[axis] * sum[axis];
    }
    errors.of_sum += error / size;
    errors.of_terms += error / (sum[4] * sum[4]);
    errors.of_potential += std::pow(pot[exact.i[k]] / sum[3] - 1, 2);
  }
  for (double* square : {&errors.of_sum, &errors.of_terms, &errors.of_potential})
    *square = std::sqrt(*square / double(exact.i.size()));
  return errors;
}

constexpr double kMove = 1e-5;  // of all bodies between runs, along each axis

void measure(const Choice& choice, const std::string& bodies, std::int64_t n) {
  std::vector<double> x = positions_of(bodies, n), mass(std::size_t(n), 1.0 / double(n));
  if (!choice.folder.empty()) {
    std::ofstream file(fmt::format("{}/{}_{}.bin", choice.folder, bodies, n), std::ios::binary);
    file.write(reinterpret_cast<const char*>(x.data()), std::streamsize(x.size() * sizeof(double)));
  }
  const bool on_gpu = choice.device != "cpu";
  if (on_gpu)
    for (double& value : x) value = double(float(value));
  const Exact exact = exact_sums(x, mass[0], 1e-4);
  const Device device(choice.device, {.threads = choice.threads});
  const Pipeline gravity = Pipeline::from_file(device, NBCC_BENCH_PIPELINES "/gravity.pipe");
  Array places(device, on_gpu, std::move(x)), masses(device, on_gpu, std::move(mass)),
      acc(device, on_gpu, std::vector<double>(std::size_t(3 * n))),
      pot(device, on_gpu, std::vector<double>(std::size_t(n)));
  const auto one = [&](double tolerance) {
    Sum sum(gravity);
    sum.bind("xi", places.view(3)).bind("xj", places.view(3)).bind("mj", masses.view(1));
    sum.bind("acc", acc.view(3)).bind("pot", pot.view(1));
    nbcc_error* failed = nullptr;
    if (nbcc_sum_set_tolerance(sum.get(), tolerance, &choice.far, &failed) != NBCC_OK)
      throw Error(NBCC_ERROR_USAGE, nbcc_error_message(failed));
    const auto run_once = [&] {
      const double start = seconds_of(choice.device);
      sum.run();
      sum.wait();
      return seconds_of(choice.device) - start;
    };
    const double first = run_once();
    double steady = 1e300;
    nbcc_statistics best{};
    for (int round = 0; round < choice.rounds; ++round) {
      places.move(kMove);  // the tree is made anew
      const double seconds = run_once();
      if (seconds < steady) steady = seconds, best = sum.statistics();
    }
    places.move(-kMove * choice.rounds);  // the bodies of `exact`
    run_once();
    const Errors errors = errors_of(exact, acc.fetch(), pot.fetch());
    const nbcc_statistics now = sum.statistics();
    if (std::string_view(now.method) != "far field") {
      fmt::print("{:8} {:8} {:.0e} | {}: first {:.3f} steady {:.3f} | {}\n", bodies, n, tolerance, now.method, first,
                 steady, now.reason);
      return;
    }
    fmt::print(
        "{:8} {:8} {:.0e} | steady {:7.4f} first {:+7.3f} | sum {:.1e} terms {:.1e} pot {:.1e} | pairs/i {:6.0f} q "
        "{:2} "
        "leaf {:3} {:6} | particles {:.4f} tree {:.4f} walk {:.4f} up {:.4f} near {:.4f} distant {:.4f} down {:.4f}\n",
        bodies, n, tolerance, steady, first - steady, errors.of_sum, errors.of_terms, errors.of_potential,
        best.pairs_per_i, best.order, best.leaf, best.precision, best.seconds_particles, best.seconds_tree,
        best.seconds_walk, best.seconds_up, best.seconds_near, best.seconds_distant, best.seconds_down);
    std::fflush(stdout);
  };
  if (choice.all_pairs) one(0);
  for (const double tolerance : choice.tolerances) one(tolerance);
}

std::vector<std::string> parts(const std::string& list) {
  std::vector<std::string> result;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) result.push_back(part);
  return result;
}

std::vector<double> numbers(const std::string& list) {
  std::vector<double> result;
  for (const std::string& part : parts(list)) result.push_back(std::stod(part));
  return result;
}

int run(int count, char** values) {
  Choice choice;
  for (int k = 1; k < count; ++k) {
    const std::string option = values[k];
    if (option == "--all-pairs") {
      choice.all_pairs = true;
      continue;
    }
    const std::string value = k + 1 < count ? values[++k] : "";
    if (option == "--n")
      choice.sizes = numbers(value);
    else if (option == "--tolerance")
      choice.tolerances = numbers(value);
    else if (option == "--bodies")
      choice.bodies = parts(value);
    else if (option == "--rounds")
      choice.rounds = std::stoi(value);
    else if (option == "--threads")
      choice.threads = std::stoi(value);
    else if (option == "--device")
      choice.device = value;
    else if (option == "--separation")
      choice.far.separation = std::stod(value);
    else if (option == "--write")
      choice.folder = value;
    else if (option == "--order")
      choice.far.order = std::stoi(value);
    else if (option == "--leaf")
      choice.far.leaf = std::stoi(value);
    else
      return fmt::print(
                 stderr,
                 "far_field [--n 1e5,1e6] [--tolerance 1e-3,1e-5] [--bodies plummer,cube] [--rounds N]\n"
                 "          [--threads N] [--device cuda] [--all-pairs] [--order Q] [--leaf N] [--separation R]\n"
                 "          [--write FOLDER]\n"),
             2;
  }
  for (const double n : choice.sizes)
    for (const std::string& bodies : choice.bodies) measure(choice, bodies, std::int64_t(n));
  return 0;
}

}  // namespace
}  // namespace nbcc::bench

int main(int count, char** values) { return nbcc::bench::run(count, values); }

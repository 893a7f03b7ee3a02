// Tables 2 and 3 of T. Hamada & T. Iitaka, The Chamomile Scheme (arXiv:astro-ph/0703100), on this machine's GPU: errors
// and speed of gravity against the number of particles, with the paper's numbers beside ours. Asserts nothing.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "bench/cuda/contest.h"
#include "bench/cuda/device_line.h"

namespace nbcc::bench {
namespace {

// Of a GeForce 8800 GTX. The largest relative errors with sums over all j at once (DIRECT) and with the Chamomile
// scheme (table 2), the seconds of one force calculation and GFLOP/s at 38 operations an interaction, which are not
// always what follows from the rounded seconds (table 3).
struct Published {
  std::int64_t n;
  double direct, chamomile, seconds, gflops;
};
constexpr Published kPublished[] = {
    {2048, 2.2e-6, 5.4e-7, 9.21e-4, 173},  {4096, 3.0e-6, 3.3e-7, 2.99e-3, 213}, {8192, 5.4e-6, 5.0e-7, 1.08e-2, 235},
    {16384, 7.0e-6, 4.3e-7, 4.14e-2, 246}, {32768, 1.2e-5, 6.8e-7, 0.162, 251},  {65536, 1.4e-5, 1.0e-6, 0.642, 254},
    {131072, 2.2e-5, 1.5e-6, 2.548, 256},
};
constexpr double kTheirFlops = 38, kFlops = 20;  // per interaction; the second as GPU Gems 3, chapter 31, counts

struct Arguments {
  int rounds = 9;
  std::int64_t most = 131072;
  std::string json;
  bool help = false;
};

struct Errors {
  double max = 0, rms = 0;
};

// Of accelerations, relative to the length of each particle's own; rows of 3 in `exact`.
Errors errors(const std::vector<double>& acc, int row, const std::vector<double>& exact) {
  Errors result;
  const std::size_t n = exact.size() / 3;
  for (std::size_t k = 0; k < n; ++k) {
    double difference = 0, size = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double e = exact[3 * k + c], d = acc[k * std::size_t(row) + c] - e;
      difference += d * d;
      size += e * e;
    }
    const double error = std::sqrt(difference / size);
    result.max = std::max(result.max, error);
    result.rms += error * error;
  }
  result.rms = std::sqrt(result.rms / double(n));
  return result;
}

Particles sphere(std::int64_t n) {
  Particles particles = plummer(n);
  particles.params["eps2"] = {0.01};
  return particles;
}

// One sum over all j in a row, by one thread for each i.
HandFamily direct_sums() {
  for (HandFamily& family : hand_families("gravity_acc", NBCC_SINGLE))
    if (!family.divides_j && family.text == "gravity") return std::move(family);
  throw std::runtime_error("there is no kernel of direct sums");
}

class Study {
 public:
  explicit Study(const Gpu& gpu)
      : gpu_(gpu),
        single_(gpu.gpu, gpu.device, "gravity_acc", NBCC_SINGLE),
        mixed_(gpu.gpu, gpu.device, "gravity_acc", NBCC_MIXED),
        double_(gpu.gpu, gpu.device, "gravity_acc", NBCC_DOUBLE),
        family_(direct_sums()),
        direct_(gpu.gpu, gpu.compiler, family_, family_.shapes.front(), nullptr) {}

  Row table_2(const Published& published) {
    const Particles particles = sphere(published.n);
    const std::vector<double> exact = acc(double_, particles);
    const HandArrays arrays(gpu_.gpu, family_, particles, 1);
    direct_.run(arrays, 1);
    const Errors direct = errors(direct_.results(arrays), family_.row, exact),
                 blocked = errors(acc(single_, particles), 3, exact), mixed = errors(acc(mixed_, particles), 3, exact);
    return {{"N", published.n},
            {"direct_max", direct.max},
            {"paper_direct", published.direct},
            {"blocked_max", blocked.max},
            {"paper_chamomile", published.chamomile},
            {"mixed_max", mixed.max},
            {"direct_rms", direct.rms},
            {"blocked_rms", blocked.rms},
            {"mixed_rms", mixed.rms}};
  }

  Row table_3(const Published& published, int rounds) {
    const Particles particles = sphere(published.n);
    single_.bind(particles, Arrays::OfDevice);
    const Work run = [this] { single_.run(); };
    const double seconds = gpu_.timer.compare({run}, rounds).times[0].median;
    single_.bind(particles, Arrays::OfHost);
    const double from_host = host_seconds(rounds);
    const double interactions = double(published.n) * double(published.n) * 1e-9;
    return {{"N", published.n},
            {"seconds", seconds},
            {"G/s", interactions / seconds},
            {"GFLOP/s_at_38", kTheirFlops * interactions / seconds},
            {"GFLOP/s_at_20", kFlops * interactions / seconds},
            {"seconds,_arrays_of_the_host", from_host},
            {"GFLOP/s_at_38,_host", kTheirFlops * interactions / from_host},
            {"paper_seconds", published.seconds},
            {"paper_GFLOP/s_at_38", published.gflops},
            {"times_as_fast", published.seconds / seconds}};
  }

 private:
  static std::vector<double> acc(DeviceSum& sum, const Particles& particles) {
    sum.bind(particles, Arrays::OfDevice);
    sum.run();
    return sum.results();
  }
  double host_seconds(int rounds) {
    const auto once = [this] {
      const double start = now();
      single_.run();
      single_.wait();
      return now() - start;
    };
    once();
    std::vector<double> samples;
    for (int k = 0; k < std::max(rounds, 5); ++k) samples.push_back(once());
    return median(samples);
  }

  const Gpu& gpu_;
  DeviceSum single_, mixed_, double_;
  HandFamily family_;
  HandSum direct_;
};

Arguments parse(int count, char** values) {
  Arguments arguments;
  for (int k = 1; k < count; ++k) {
    const std::string word = values[k];
    if (word == "--help") {
      arguments.help = true;
      continue;
    }
    if (k + 1 >= count) throw std::runtime_error(fmt::format("no option '{}', or it needs a value", word));
    const std::string value = values[++k];
    if (word == "--repeat")
      arguments.rounds = std::max(1, std::atoi(value.c_str()));
    else if (word == "--most")
      arguments.most = std::atoll(value.c_str());
    else if (word == "--json")
      arguments.json = value;
    else
      throw std::runtime_error(fmt::format("no option '{}'; see --help", word));
  }
  return arguments;
}

int run(const Arguments& arguments) {
  const Gpu gpu(false);
  const CudaContextGuard guard(gpu.gpu);
  const Row machine = describe_machine(gpu);
  fmt::print("{}\nPaper: GeForce 8800 GTX, arXiv:astro-ph/0703100\n", machine_line(machine));
  Study study(gpu);
  std::vector<Row> accuracy, speed;
  // Errors first: the GPU is then warm for the times.
  for (const Published& published : kPublished)
    if (published.n <= arguments.most) accuracy.push_back(study.table_2(published));
  for (const Published& published : kPublished)
    if (published.n <= arguments.most) speed.push_back(study.table_3(published, arguments.rounds));
  Report report;
  report.table("table_2",
               "Table 2: relative errors of the acceleration against double precision, Plummer sphere, eps2 = 0.01",
               accuracy);
  report.table("table_3", "Table 3: time and speed, single precision, blocked sums", speed);
  report.write_json(arguments.json, machine);
  return 0;
}

}  // namespace
}  // namespace nbcc::bench

int main(int count, char** values) {
  using namespace nbcc::bench;
  try {
    const Arguments arguments = parse(count, values);
    if (arguments.help) {
      fmt::print(
          "usage: hamada_iitaka [options]\n\n"
          "  --repeat N   samples, of which the median counts (default: 9)\n"
          "  --most N     no more particles than this (default: 131072)\n"
          "  --json FILE  everything measured\n");
      return 0;
    }
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}

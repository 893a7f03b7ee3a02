// One cluster of GRAPE-6: a memory of j-particles, and sums over them in the background. Every function may throw
// nbcc::Error; what is asked for while sums are under way waits for them. Test: tests/grape/g6_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <exception>
#include <future>
#include <string>
#include <vector>

#include "runtime/nbcc.hpp"

namespace nbcc::g6 {

using Vec3 = std::array<double, 3>;

// g6.pipe, as it was when the library was built.
extern const char* const kPipelineText;

// As the caller gave it, at its own time. is_set: an address that was never written holds none.
struct JParticle {
  bool is_set = false;
  int index = 0;
  double time = 0, mass = 0;
  Vec3 k18{}, j6{}, a2{}, v{}, x{};
};

struct IParticle {
  int index = 0;
  double h2 = 0;
  Vec3 x{}, v{};
};

struct Force {
  Vec3 acc{}, jerk{};
  double pot = 0;
  int nearest = -1;  // index, not address
};

class Cluster {
 public:
  Cluster(const std::string& device, nbcc_precision precision);
  ~Cluster();

  void set_j(int address, const JParticle& particle);
  void set_time(double time);
  // Starts the sums over the addresses below nj. Throws nothing: what is wrong is told by forces().
  void start(int nj, double eps2, std::vector<IParticle> i) noexcept;
  // The results of the last start().
  std::vector<Force> forces();
  // Of the last start(), each in ascending order of indices.
  const std::vector<std::vector<int>>& neighbours();
  void forget();

 private:
  // What the pipeline reads of a j-particle. It stays as it was for the last start(), whatever the caller writes.
  struct Predicted {
    int index;
    double mass;
    Vec3 x, v;
  };
  struct Result {
    Vec3 acc, jerk;
    double pot;
    std::int64_t near;
  };

  void settle();
  void check_calculated();
  void bind_i();
  void predict(int nj);

  Device device_;
  Pipeline pipeline_;
  Sum sum_;
  std::vector<JParticle> j_;
  std::vector<Predicted> predicted_;
  bool is_predicted_ = false;  // predicted_ is j_ at time_
  double time_ = 0;
  std::vector<IParticle> i_;
  std::vector<Result> results_;
  bool is_calculated_ = false;
  std::vector<std::vector<int>> lists_;
  bool has_lists_ = false;
  std::exception_ptr failure_;
  // Last, so that its end is waited for before anything goes that it works on.
  std::future<void> work_;
};

}  // namespace nbcc::g6

// A pipeline compiled and bound to particles, as a user of nbcc.hpp would: arrays in double, j resident.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/particles.h"
#include "runtime/api/nbcc.hpp"

namespace nbcc::bench {

// The text of a pipeline of the library: from a folder, or as it was when this program was built if that is "".
// Throws std::runtime_error if there is none of this name.
std::string pipeline_text(const std::string& folder, const std::string& name);

struct Setup {
  std::string isa;     // "avx2", "avx512", "sse2"
  std::string folder;  // of the pipelines; "": the built-in ones
  int rounds = 9;
  bool quick = false;  // small sets, to see that all works
  // n, or less for a quick run.
  std::int64_t size(std::int64_t n) const { return quick && n > 1024 ? 1024 : n; }
};

// One device per sum, so that nothing is shared between what is compared. No disk cache unless a folder is given.
Device open_device(const Setup& setup, int threads, const std::string& cache = "");

class Generated {
 public:
  Generated(const Device& device, const std::string& text, const std::string& name, const PipelineOptions& options,
            Particles particles);

  // ni and nj first particles of the set; all by default.
  void bind(std::int64_t ni, std::int64_t nj);
  void run() { sum_.run(); }
  void set_symmetric(nbcc_symmetric choice) { sum_.symmetric(choice); }
  void run_list(const std::vector<std::int64_t>& i) { sum_.run(i); }

  const std::vector<Field>& fields() const { return fields_; }
  const Particles& particles() const { return particles_; }
  std::int64_t ni() const { return ni_; }
  std::int64_t nj() const { return nj_; }
  const std::vector<double>& output(const std::string& name) const { return outputs_.at(name); }  // ni x components

  // The largest, over the outputs, of rms(these - others) / rms(others); others are given per output component and i.
  double rms_difference(const std::function<double(int column, std::int64_t i)>& others) const;
  double rms_difference(const Generated& others) const;

  // The array of an input field, or the values of a param.
  const std::vector<double>& values(const Field& field) const;

 private:
  Particles particles_;
  Pipeline pipeline_;
  std::vector<Field> fields_;
  Sum sum_;
  std::int64_t ni_ = 0, nj_ = 0;
  std::map<std::string, std::vector<double>> outputs_;
};

}  // namespace nbcc::bench

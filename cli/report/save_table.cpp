// Writes tables by write_particles() with signals deferred. Entry points: save_table(), save_update() and their
// options.
#include "cli/report/save_table.h"

#include <fmt/core.h>
#include <signal.h>

#include <CLI/Validators.hpp>
#include <array>
#include <optional>

#include "runtime/api/nbcc.h"

namespace nbcc {
namespace {

volatile sig_atomic_t pending_signal = 0;

void remember_signal(int signal) { pending_signal = signal; }

// Defers SIGINT, SIGTERM and SIGHUP as long as this object lives; then raises the last of them again. Uses a handler
// and not a signal mask, because a device's threads would receive the signals that this thread masks.
class DeferredSignals {
 public:
  DeferredSignals() {
    struct sigaction action{};
    action.sa_handler = remember_signal;
    action.sa_flags = SA_RESTART;
    for (std::size_t k = 0; k < kSignals.size(); ++k) sigaction(kSignals[k], &action, &before_[k]);
  }
  DeferredSignals(const DeferredSignals&) = delete;
  DeferredSignals& operator=(const DeferredSignals&) = delete;
  ~DeferredSignals() {
    for (std::size_t k = 0; k < kSignals.size(); ++k) sigaction(kSignals[k], &before_[k], nullptr);
    if (pending_signal) raise(pending_signal);
  }

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_;
};

}  // namespace

CLI::Option* declare_output_options(CLI::App& app, OutputChoice& output) {
  CLI::Option* const path =
      app.add_option("-o,--output", output.path,
                     "The file to make: .npz, .npy, .h5 or text (.csv, .tsv, any other ending); '-' is standard output")
          ->required();
  app.add_option("--format", output.write.format, "The format, whatever the ending says")
      ->check(CLI::IsMember({"npz", "npy", "h5", "text", "csv", "tsv"}));
  app.add_flag("--force", output.write.force, "Overwrite an existing file");
  return path;
}

void add_origin(ParticleTable& table, const std::string& command_line) {
  table.attributes.insert(table.attributes.begin(),
                          {{"made by", std::string("nbcc ") + nbcc_version()}, {"command", command_line}});
}

void save_update(const ParticleUpdate& update, ParticleTable results, const std::string& command_line) {
  add_origin(results, command_line);
  const DeferredSignals deferred;
  update.write(results);
}

void save_table(const OutputChoice& output, ParticleTable table, const std::string& command_line) {
  add_origin(table, command_line);
  std::optional<DeferredSignals> deferred;
  // Not on standard output: a signal must still end the process if the reader of a pipe has gone.
  if (output.path != "-") deferred.emplace();
  write_particles(output.path, table, output.write);
}

}  // namespace nbcc

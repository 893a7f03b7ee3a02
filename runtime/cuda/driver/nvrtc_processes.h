// NVRTC compiles one text at a time in a process: calls on several threads wait for each other. Here other processes,
// which run the command nbcc, compile the texts that would wait. The two ends talk by a socket: requests are the
// arguments of CudaCompiler::compile(), answers its result or exception.
// Tested by tests/unit/runtime/cuda/driver/nvrtc_processes_test.cpp.
#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cuda/driver/cuda_compiler.h"

namespace nbcc {

// The first word of the command line of such a process; then come the file and the identity of NVRTC.
inline constexpr char kServeNvrtc[] = "--serve-nvrtc";

// The command nbcc that belongs to this library or program; "" if there is none beside it.
std::string own_command();

class NvrtcProcesses {
 public:
  // Starts nothing. `command`: its file, "" for none; `library`, `identity`: of the NVRTC that answers must come from.
  NvrtcProcesses(std::string command, std::string library, std::string identity)
      : command_(std::move(command)), library_(std::move(library)), identity_(std::move(identity)) {}
  ~NvrtcProcesses() { end_idle(); }
  NvrtcProcesses(const NvrtcProcesses&) = delete;
  NvrtcProcesses& operator=(const NvrtcProcesses&) = delete;

  // What CudaCompiler::compile() of another process returns or throws. Empty if no process can be started, one has
  // died, or all cores have one. On several threads at once.
  std::optional<CudaCode> compile(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                                  CudaCompiler::Form form);
  // Ends the processes that compile nothing.
  void end_idle();

 private:
  struct Process {
    int id = -1, socket = -1;
  };
  static int current_process();
  bool is_copy() const { return owner_ != current_process(); }
  std::optional<Process> take();
  std::optional<Process> start() const;
  static void end(const Process& process);

  const std::string command_, library_, identity_;
  const int owner_ = current_process();  // a copy of this process (fork) has other threads, but the same sockets
  std::mutex mutex_;
  std::vector<Process> idle_;
  int running_ = 0;          // idle ones included
  bool is_useless_ = false;  // a process could not be started, or has died
};

// The life of such a process: answers the requests of `socket` until it is closed. Returns the exit code, which is 3 if
// another NVRTC is asked for.
int serve_nvrtc(const CudaCompiler& nvrtc, const std::string& identity, int socket);

}  // namespace nbcc

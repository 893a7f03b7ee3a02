// Texts -> code, by other processes. Entry points: NvrtcProcesses, and serve_nvrtc() in these processes.
#include "runtime/cuda/driver/nvrtc_processes.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <type_traits>
#include <utility>

#include "runtime/error.h"
#include "runtime/thread_pool.h"

namespace nbcc {
namespace {

enum class Outcome : std::uint8_t { Code, Rejected, Device, Memory };

// ---- messages: numbers and texts one after the other; a text is its length and its bytes

class Message {
 public:
  Message() = default;
  explicit Message(std::string bytes) : bytes_(std::move(bytes)) {}

  template <typename T>
  void put(const T& number) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void put_text(const std::string& text) {
    put(std::uint64_t(text.size()));
    bytes_ += text;
  }
  template <typename T>
  T take() {
    T number{};
    bytes_.copy(reinterpret_cast<char*>(&number), sizeof number, at_);
    at_ += sizeof number;
    return number;
  }
  std::string take_text() {
    const auto bytes = std::size_t(take<std::uint64_t>());
    at_ += bytes;
    return bytes_.substr(at_ - bytes, bytes);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

// False if the other end is closed, of which no signal tells.
bool send_all(int socket, const void* data, std::size_t bytes) {
  for (const char* at = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t sent = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    bytes -= std::size_t(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t bytes) {
  for (char* at = static_cast<char*>(data); bytes > 0;) {
    const ssize_t received = ::recv(socket, at, bytes, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    at += received;
    bytes -= std::size_t(received);
  }
  return true;
}

bool send(int socket, const Message& message) {
  const std::uint64_t bytes = message.bytes().size();
  return send_all(socket, &bytes, sizeof bytes) && send_all(socket, message.bytes().data(), bytes);
}

std::optional<Message> receive(int socket) {
  std::uint64_t bytes = 0;
  if (!receive_all(socket, &bytes, sizeof bytes)) return {};
  std::string content(bytes, '\0');
  if (!receive_all(socket, content.data(), bytes)) return {};
  return Message(std::move(content));
}

Message request_of(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                   CudaCompiler::Form form) {
  Message request;
  request.put_text(text);
  request.put_text(architecture);
  request.put(config);
  request.put(form);
  return request;
}

Message answer_of(const CudaCompiler& nvrtc, Message request) {
  Message answer;
  const auto fail = [&](Outcome outcome, const char* what) {
    answer.put(outcome);
    answer.put_text(what);
  };
  try {
    const std::string text = request.take_text(), architecture = request.take_text();
    const auto config = request.take<LaunchConfig>();
    const CudaCode code = nvrtc.compile(text, architecture, config, request.take<CudaCompiler::Form>());
    answer.put(Outcome::Code);
    answer.put_text(code.image);
    answer.put_text(code.ptx);
    answer.put_text(code.log);
    answer.put(code.registers);
    answer.put(code.spilled_bytes);
  } catch (const SourceRejected& e) {
    fail(Outcome::Rejected, e.what());
  } catch (const std::bad_alloc&) {
    fail(Outcome::Memory, "");
  } catch (const std::exception& e) {
    fail(Outcome::Device, e.what());
  }
  return answer;
}

CudaCode code_of(Message answer) {
  const auto outcome = answer.take<Outcome>();
  std::string first = answer.take_text();
  if (outcome == Outcome::Rejected) throw SourceRejected(first);
  if (outcome == Outcome::Device) throw DeviceError(first);
  if (outcome == Outcome::Memory) throw std::bad_alloc();
  CudaCode code{.image = std::move(first)};
  code.ptx = answer.take_text();
  code.log = answer.take_text();
  code.registers = answer.take<int>();
  code.spilled_bytes = answer.take<int>();
  return code;
}

}  // namespace

// Of the program itself the loader knows the name by which it was called, which need not be a path.
std::string own_command() {
  Dl_info info{};
  link_map* module = nullptr;
  void** const where = reinterpret_cast<void**>(&module);
  if (::dladdr1(reinterpret_cast<const void*>(&own_command), &info, where, RTLD_DL_LINKMAP) == 0 || !module) return "";
  const std::filesystem::path of_module = module->l_name[0] ? module->l_name : "/proc/self/exe";
  std::error_code problem;
  const std::filesystem::path file = std::filesystem::canonical(of_module, problem), folder = file.parent_path();
  if (problem || !of_module.is_absolute()) return "";
  // In a package of Python, beside another program, and where a library is installed.
  for (const char* place : {"bin/nbcc", "nbcc", "../bin/nbcc"})
    if (const auto command = folder / place; std::filesystem::is_regular_file(command, problem))
      return command.string();
  return "";
}

// ---- the process that asks

int NvrtcProcesses::current_process() { return ::getpid(); }

std::optional<CudaCode> NvrtcProcesses::compile(const std::string& text, const std::string& architecture,
                                                const LaunchConfig& config, CudaCompiler::Form form) {
  const std::optional<Process> process = take();
  if (!process) return {};
  std::optional<Message> answer;
  try {
    if (send(process->socket, request_of(text, architecture, config, form))) answer = receive(process->socket);
  } catch (const std::bad_alloc&) {
    // Like a process that has died.
  }
  if (!answer) end(*process);
  {
    const std::lock_guard lock(mutex_);
    if (answer)
      idle_.push_back(*process);
    else
      --running_, is_useless_ = true;
  }
  return answer ? std::optional(code_of(std::move(*answer))) : std::nullopt;
}

std::optional<NvrtcProcesses::Process> NvrtcProcesses::take() {
  if (is_copy()) return {};
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      const Process process = idle_.back();
      idle_.pop_back();
      return process;
    }
    // The caller's process has a core, too.
    if (command_.empty() || is_useless_ || running_ + 1 >= available_cores()) return {};
    ++running_;
  }
  std::optional<Process> process = start();
  if (!process) {
    const std::lock_guard lock(mutex_);
    --running_, is_useless_ = true;
  }
  return process;
}

std::optional<NvrtcProcesses::Process> NvrtcProcesses::start() const {
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) return {};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, sockets[1], 0);
  for (const int stream : {1, 2}) ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t signals;
  ::sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(&attributes, &signals);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const auto word = [](const std::string& text) { return const_cast<char*>(text.c_str()); };
  const std::array<char*, 5> words{word(command_), const_cast<char*>(kServeNvrtc), word(library_), word(identity_),
                                   nullptr};
  pid_t id = -1;
  const int problem = ::posix_spawn(&id, command_.c_str(), &actions, &attributes, words.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(sockets[1]);
  if (problem == 0) return Process{id, sockets[0]};
  ::close(sockets[0]);
  return {};
}

void NvrtcProcesses::end(const Process& process) {
  ::shutdown(process.socket, SHUT_RDWR);  // a copy of this process may have the socket, too
  ::close(process.socket);
  while (::waitpid(process.id, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void NvrtcProcesses::end_idle() {
  if (is_copy()) return;
  std::vector<Process> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(idle_);
    running_ -= int(ended.size());
  }
  for (const Process& process : ended) end(process);
}

// ---- the process that answers

int serve_nvrtc(const CudaCompiler& nvrtc, const std::string& identity, int socket) {
  if (nvrtc.identity() != identity) return 3;
  while (std::optional<Message> request = receive(socket))
    if (!send(socket, answer_of(nvrtc, std::move(*request)))) break;
  return 0;
}

}  // namespace nbcc

// Pictures -> a movie, which an ffmpeg at the other end of a socket writes. Entry point: Movie.
#include "examples/nbody/draw/movie.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "examples/support/failure.h"

extern char** environ;

namespace examples {

Movie::Movie(const std::string& path, int width, int height, int per_second) : path_(path) {
  // A socket, not a pipe: writing to an ffmpeg that has ended is then an error, and no signal.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error(std::string("no socket for ffmpeg: ") + std::strerror(errno));
  const std::string size = std::to_string(width) + "x" + std::to_string(height), rate = std::to_string(per_second);
  // "file:" keeps a name from being taken for an option or a protocol.
  std::vector<std::string> words{
      "ffmpeg", "-loglevel",  "error", "-y", "-f",     "rawvideo", "-pixel_format", "rgb24",       "-video_size",
      size,     "-framerate", rate,    "-i", "pipe:0", "-pix_fmt", "yuv420p",       "file:" + path};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  const int failure = posix_spawnp(&ffmpeg_, "ffmpeg", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  to_ffmpeg_ = ends[0];
  if (failure == 0) return;
  close(to_ffmpeg_);
  throw Missing("a movie of this kind needs the command ffmpeg (an animated PNG, --movie NAME.png, does not): " +
                std::string(std::strerror(failure)));
}

Movie::~Movie() { end(); }

void Movie::add(const Image& image) {
  const std::uint8_t* at = image.rgb.data();
  for (std::size_t left = image.rgb.size(); left > 0;) {
    const ssize_t sent = send(to_ffmpeg_, at, left, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) throw UsageError("ffmpeg cannot write '" + path_ + "'");
    at += sent;
    left -= std::size_t(sent);
  }
}

void Movie::finish() {
  if (!end()) throw UsageError("ffmpeg cannot write '" + path_ + "'");
}

bool Movie::end() {
  if (to_ffmpeg_ < 0) return true;
  close(to_ffmpeg_);
  to_ffmpeg_ = -1;
  int status = 0;
  while (waitpid(ffmpeg_, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace examples

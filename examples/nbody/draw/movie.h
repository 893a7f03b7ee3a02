// Pictures one after the other -> a movie, by the command ffmpeg.
#pragma once
#include <sys/types.h>

#include <string>

#include "examples/nbody/draw/image.h"

namespace examples {

class Movie {
 public:
  // The ending of the path says what kind of movie; an old file is replaced. Throws Missing if there is no ffmpeg.
  Movie(const std::string& path, int width, int height, int per_second);
  // Without finish() the movie ends with the last picture all the same, but nobody learns whether it could be written.
  ~Movie();
  Movie(const Movie&) = delete;
  Movie& operator=(const Movie&) = delete;

  // Both throw UsageError; what ffmpeg has to say of it is in standard error.
  void add(const Image& image);
  void finish();

 private:
  bool end();  // whether all went well

  std::string path_;
  pid_t ffmpeg_ = -1;
  int to_ffmpeg_ = -1;
};

}  // namespace examples

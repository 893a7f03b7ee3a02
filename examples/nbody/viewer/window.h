// A window with OpenGL 3.3 and Dear ImGui, and what its user does in it.
#pragma once
#include <memory>
#include <string>

#include "examples/nbody/draw/gl.h"

struct GLFWwindow;

namespace examples {

struct Gestures {
  double drag_x = 0, drag_y = 0;  // of the mouse with its button down, in heights of the window
  double wheel = 0;               // notches
  std::string typed;              // characters, one after the other; escape is "\x1b"
};

class Window {
 public:
  // Throws Missing with the reason if none can be opened.
  Window(const char* title, int width, int height);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  const Gl& gl() const { return *gl_; }
  bool is_closed() const;
  // What was done since the last call; what was meant for the controls is left out.
  Gestures poll();
  int width() const;  // in pixels
  int height() const;

  // What is drawn by Dear ImGui stands between these two; show() puts all that was drawn on the screen.
  void begin_controls();
  void end_controls();
  void show();

 private:
  void watch();
  static Window& of(GLFWwindow* handle);

  GLFWwindow* handle_ = nullptr;
  std::unique_ptr<Gl> gl_;
  Gestures gestures_;
  double mouse_x_ = 0, mouse_y_ = 0;
};

}  // namespace examples

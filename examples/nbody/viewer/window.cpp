// GLFW's callbacks -> Gestures. Entry point: Window. Knows no bodies.
#include "examples/nbody/viewer/window.h"

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "examples/support/failure.h"

namespace examples {
namespace {

[[noreturn]] void fail() {
  const char* reason = nullptr;
  glfwGetError(&reason);
  const std::string text = reason ? reason : "GLFW does not say why";
  glfwTerminate();
  throw Missing("no window can be opened: " + text);
}

}  // namespace

Window& Window::of(GLFWwindow* handle) { return *static_cast<Window*>(glfwGetWindowUserPointer(handle)); }

Window::Window(const char* title, int width, int height) {
  if (!glfwInit()) fail();
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  handle_ = glfwCreateWindow(width, height, title, nullptr, nullptr);
  if (!handle_) fail();
  glfwMakeContextCurrent(handle_);
  glfwSwapInterval(1);
  gl_ = std::make_unique<Gl>([](const char* name) { return glfwGetProcAddress(name); });
  watch();
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;  // it shall leave no files behind
  ImGui_ImplGlfw_InitForOpenGL(handle_, true);
  ImGui_ImplOpenGL3_Init("#version 330 core");
}

Window::~Window() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(handle_);
  glfwTerminate();
}

// Before ImGui, which calls these after its own.
void Window::watch() {
  glfwSetWindowUserPointer(handle_, this);
  glfwGetCursorPos(handle_, &mouse_x_, &mouse_y_);
  glfwSetCursorPosCallback(handle_, [](GLFWwindow* handle, double x, double y) {
    Window& window = of(handle);
    int width = 1, height = 1;
    glfwGetWindowSize(handle, &width, &height);
    if (glfwGetMouseButton(handle, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS && !ImGui::GetIO().WantCaptureMouse) {
      window.gestures_.drag_x += (x - window.mouse_x_) / height;
      window.gestures_.drag_y += (y - window.mouse_y_) / height;
    }
    window.mouse_x_ = x;
    window.mouse_y_ = y;
  });
  glfwSetScrollCallback(handle_, [](GLFWwindow* handle, double, double notches) {
    if (!ImGui::GetIO().WantCaptureMouse) of(handle).gestures_.wheel += notches;
  });
  glfwSetCharCallback(handle_, [](GLFWwindow* handle, unsigned character) {
    if (!ImGui::GetIO().WantTextInput && character < 128) of(handle).gestures_.typed += char(character);
  });
  glfwSetKeyCallback(handle_, [](GLFWwindow* handle, int key, int, int action, int) {
    if (key == GLFW_KEY_ESCAPE && action == GLFW_PRESS) of(handle).gestures_.typed += '\x1b';
  });
}

bool Window::is_closed() const { return glfwWindowShouldClose(handle_) != 0; }

Gestures Window::poll() {
  gestures_ = {};
  glfwPollEvents();
  return gestures_;
}

int Window::width() const {
  int width = 1, height = 1;
  glfwGetFramebufferSize(handle_, &width, &height);
  return width;
}

int Window::height() const {
  int width = 1, height = 1;
  glfwGetFramebufferSize(handle_, &width, &height);
  return height;
}

void Window::begin_controls() {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
}

void Window::end_controls() {
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void Window::show() { glfwSwapBuffers(handle_); }

}  // namespace examples

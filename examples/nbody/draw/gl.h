// The functions of OpenGL 3.3 that pictures of bodies need, found at run time: they come from EGL, OSMesa or a window,
// and the program starts where there is none of them.
#pragma once
#include <GL/glcorearb.h>

#include <functional>

namespace examples {

#define EXAMPLES_GL_FUNCTIONS(f)                                                                                      \
  f(ATTACHSHADER, AttachShader) f(BINDBUFFER, BindBuffer) f(BINDFRAMEBUFFER, BindFramebuffer)                         \
      f(BINDRENDERBUFFER, BindRenderbuffer) f(BINDVERTEXARRAY, BindVertexArray) f(BLENDFUNC, BlendFunc) f(            \
          BUFFERDATA, BufferData) f(BUFFERSUBDATA, BufferSubData) f(CHECKFRAMEBUFFERSTATUS, CheckFramebufferStatus)   \
          f(CLEAR, Clear) f(CLEARCOLOR, ClearColor) f(COMPILESHADER, CompileShader) f(CREATEPROGRAM, CreateProgram)   \
              f(CREATESHADER, CreateShader) f(DELETEBUFFERS, DeleteBuffers) f(DELETEFRAMEBUFFERS, DeleteFramebuffers) \
                  f(DELETEPROGRAM, DeleteProgram) f(DELETERENDERBUFFERS, DeleteRenderbuffers) f(                      \
                      DELETESHADER, DeleteShader) f(DELETEVERTEXARRAYS, DeleteVertexArrays) f(DISABLE, Disable)       \
                      f(DRAWARRAYS, DrawArrays) f(ENABLE, Enable) f(ENABLEVERTEXATTRIBARRAY, EnableVertexAttribArray) \
                          f(FINISH, Finish) f(FRAMEBUFFERRENDERBUFFER, FramebufferRenderbuffer)                       \
                              f(GENBUFFERS, GenBuffers) f(GENFRAMEBUFFERS, GenFramebuffers)                           \
                                  f(GENRENDERBUFFERS, GenRenderbuffers) f(GENVERTEXARRAYS, GenVertexArrays)           \
                                      f(GETPROGRAMINFOLOG, GetProgramInfoLog) f(GETPROGRAMIV, GetProgramiv)           \
                                          f(GETSHADERINFOLOG, GetShaderInfoLog) f(GETSHADERIV, GetShaderiv)           \
                                              f(GETSTRING, GetString) f(GETUNIFORMLOCATION, GetUniformLocation)       \
                                                  f(LINKPROGRAM, LinkProgram) f(PIXELSTOREI, PixelStorei)             \
                                                      f(READPIXELS, ReadPixels)                                       \
                                                          f(RENDERBUFFERSTORAGE, RenderbufferStorage)                 \
                                                              f(SHADERSOURCE, ShaderSource) f(UNIFORM1F, Uniform1f)   \
                                                                  f(UNIFORMMATRIX4FV, UniformMatrix4fv)               \
                                                                      f(USEPROGRAM, UseProgram)                       \
                                                                          f(VERTEXATTRIBPOINTER, VertexAttribPointer) \
                                                                              f(VIEWPORT, Viewport)

// gl.Clear(...) is glClear(...) of the context that was current when this was made.
struct Gl {
  using Function = void (*)();
  // find: a function's address by its name. Throws Missing, which names the function that is not there.
  explicit Gl(const std::function<Function(const char*)>& find);

#define EXAMPLES_GL_MEMBER(type, name) PFNGL##type##PROC name = nullptr;
  EXAMPLES_GL_FUNCTIONS(EXAMPLES_GL_MEMBER)
#undef EXAMPLES_GL_MEMBER
};

}  // namespace examples

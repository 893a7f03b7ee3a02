# What nbody draws with, each part where its libraries are. Contexts of OpenGL and CUDA's driver are opened at run time:
# only headers are needed of EGL and OpenGL.
pkg_check_modules(PNG IMPORTED_TARGET libpng)
pkg_check_modules(GLFW IMPORTED_TARGET glfw3)
pkg_check_modules(IMGUI IMPORTED_TARGET imgui)
find_path(GL_HEADERS NAMES GL/glcorearb.h)
find_path(EGL_HEADERS NAMES EGL/eglext.h)
set(folder ${CMAKE_CURRENT_SOURCE_DIR}/nbody)

if(PNG_FOUND AND GL_HEADERS AND EGL_HEADERS)
  find_package(ZLIB REQUIRED)  # animated PNG
  file(GLOB drawing CONFIGURE_DEPENDS ${folder}/draw/*.cpp)
  add_library(nbody_drawing STATIC ${drawing})
  compile_in_groups(nbody_drawing)
  target_compile_options(nbody_drawing PRIVATE ${quickly_compiled})
  target_link_libraries(nbody_drawing PUBLIC example_support PkgConfig::PNG ZLIB::ZLIB ${CMAKE_DL_LIBS})
  target_link_libraries(example_nbody PRIVATE nbody_drawing)
else()
  target_sources(example_nbody PRIVATE ${folder}/absent/frames.cpp)
endif()

if(TARGET nbody_drawing AND GLFW_FOUND AND IMGUI_FOUND)
  file(GLOB window CONFIGURE_DEPENDS ${folder}/viewer/*.cpp)
  target_sources(example_nbody PRIVATE ${window})
  target_link_libraries(example_nbody PRIVATE PkgConfig::GLFW PkgConfig::IMGUI)
else()
  target_sources(example_nbody PRIVATE ${folder}/absent/viewer.cpp)
endif()
compile_in_groups(example_nbody)

# Drawn in software. Where a library or Xvfb is missing, the tests that need it are skipped.
if(TARGET nbody_drawing)
  file(GLOB tests CONFIGURE_DEPENDS ${folder}/tests/*_test.cpp)
  gtest_program(nbody_tests examples.nbody. ${tests} ${folder}/simulation.cpp)
  target_link_libraries(nbody_tests PRIVATE nbody_drawing)
  target_compile_definitions(nbody_tests PRIVATE NBODY="$<TARGET_FILE:example_nbody>"
                             NBODY_ROOT="${PROJECT_SOURCE_DIR}")
  add_dependencies(nbody_tests example_nbody)
endif()

# Refuses C++ compilers that are too old, and warns of those that nbcc was not compiled with. docs/how_to/install.md lists
# what was tried.
set(oldest_GNU 11)
set(oldest_Clang 16)
set(compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
set(oldest "${oldest_${CMAKE_CXX_COMPILER_ID}}")
if(NOT oldest)
  message(WARNING "The C++ compiler ${compiler} is untested: nbcc is compiled by GCC (GNU) ${oldest_GNU} or Clang ${oldest_Clang} or later")
elseif(CMAKE_CXX_COMPILER_VERSION VERSION_LESS oldest)
  message(FATAL_ERROR "The C++ compiler ${compiler} is too old: nbcc is C++20 and needs GCC (GNU) ${oldest_GNU} or Clang ${oldest_Clang} or "
    "later. The environment variable CXX or -DCMAKE_CXX_COMPILER=COMPILER names another one")
endif()

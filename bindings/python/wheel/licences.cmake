# cmake -DOUTPUT=FILE -P licences.cmake: writes the licences of the projects that are linked into the wheel, from Debian's
# packages.
set(packages
  "LLVM, Clang, LLD|llvm-19-dev" "fmt|libfmt-dev" "HDF5|libhdf5-dev" "libaec|libaec-dev" "zlib|zlib1g-dev"
  "Zstandard|libzstd-dev" "xxHash|libxxhash-dev" "CLI11|libcli11-dev" "JSON for Modern C++|nlohmann-json3-dev"
  "libstdc++, libgcc|libgcc-*-dev")
set(text "nbcc's wheel holds parts of other projects, whose licences follow.\n")
foreach(entry IN LISTS packages)
  string(REGEX MATCH "^(.*)\\|(.*)$" entry "${entry}")
  set(name "${CMAKE_MATCH_1}")
  file(GLOB copyright /usr/share/doc/${CMAKE_MATCH_2}/copyright)
  if(NOT copyright)
    message(FATAL_ERROR "the licence of ${name} is missing: /usr/share/doc/${CMAKE_MATCH_2}/copyright")
  endif()
  list(GET copyright 0 copyright)
  file(READ ${copyright} licence)
  string(APPEND text "\n==== ${name}\n\n${licence}")
endforeach()
file(WRITE ${OUTPUT} "${text}")

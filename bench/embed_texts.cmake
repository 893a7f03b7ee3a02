# Writes OUTPUT, a C++ file that defines nbcc::bench::FUNCTION(name) over the texts of FILES, named without extension.
set(body "// Made by bench/embed_texts.cmake.\n#include \"bench/embedded_texts.h\"\nnamespace nbcc::bench {\nstd::string_view ${FUNCTION}(std::string_view name) {\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND body "  if (name == \"${name}\") return R\"~~~(${text})~~~\";\n")
endforeach()
string(APPEND body "  return {};\n}\n}  // namespace nbcc::bench\n")
file(WRITE ${OUTPUT} "${body}")

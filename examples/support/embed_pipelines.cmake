# Writes OUTPUT, a C++ file that defines examples::pipeline_text(file) over the texts of FILES, named by their places in
# ROOT.
set(body "// Made by examples/support/embed_pipelines.cmake.\n#include \"examples/support/pipeline_text.h\"\nnamespace examples {\nstd::string pipeline_text(const std::string& file) {\n")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(READ ${file} text)
  string(APPEND body "  if (file == \"${name}\") return R\"~~~(${text})~~~\";\n")
endforeach()
string(APPEND body "  throw UsageError(\"no pipeline '\" + file + \"' was built into this program\");\n}\n}  // namespace examples\n")
file(WRITE ${OUTPUT} "${body}")

# embed_texts(TARGET FUNCTION FILE...): the target has FUNCTION(name) -> std::string_view over the texts of the files, so
# that it needs no data folder.
function(embed_texts target function)
  string(MAKE_C_IDENTIFIER ${function} name)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFUNCTION=${function} -DOUTPUT=${output} "-DFILES=${ARGN}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

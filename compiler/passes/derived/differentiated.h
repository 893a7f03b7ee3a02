// An AdjointChoice -> the outputs that are differentiated, and the inputs and params by which. Part of adjoint.cpp and
// tangent.cpp.
#pragma once
#include <string>
#include <vector>

#include "compiler/passes/derived/exchange.h"

namespace nbcc {

constexpr int kMaxDerivatives = 1024;

// Names of the outputs that L depends on; by default all real outputs, since counts and indices have derivative 0.
std::vector<std::string> names_of_outputs(const Pipeline& pipeline, const AdjointChoice& choice);

// The outputs with these names in a forward pipeline, less those without a derivative that is not 0. Throws
// InvalidAdjoint if there is none, and for an invalid name.
std::vector<Field> chosen_outputs(const Pipeline& forward, const std::vector<std::string>& names);

// The real inputs and params of the side that are to be differentiated by.
std::vector<Field> chosen_variables(const Pipeline& forward, const AdjointChoice& choice, AdjointSide side);

// The pipeline with these params as inputs of i, after its other inputs.
Pipeline with_params_of_i(const Pipeline& pipeline, const std::vector<std::string>& names);

// The index of the table that a param is; -1: none.
int table_of(const Pipeline& pipeline, const Field& field);

// The reads of a table.
std::vector<NodeId> lookups_of(const Graph& graph, int table);

}  // namespace nbcc

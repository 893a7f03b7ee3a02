// A pipeline as parsed -> facts of its text that callers ask for. Changes nothing. Tested by
// tests/unit/compiler/passes/facts/text_facts_test.cpp.
#pragma once
#include "compiler/ir/ir.h"
#include "compiler/text_facts.h"

namespace nbcc {

TextFacts text_facts(const Pipeline& pipeline);

}  // namespace nbcc

// Drops the nodes that no contribution and no finish() needs, by dce(): a plain copy, since rewrite carries over
// only what is needed. It decides nothing about what is needed.
#include "compiler/passes/dce.h"

#include "compiler/ir/rewrite.h"

namespace nbcc {

void dce(Pipeline& pipeline) { rewrite(pipeline, copy_node); }

}  // namespace nbcc

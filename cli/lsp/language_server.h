// The Language Server Protocol for pipelines, on two descriptors: open texts to diagnostics, and requests about them to
// answers. Everything that the compiler does with a text runs in a child process, so that a crash, an endless loop or a
// lack of memory there ends one answer and not the server. Entry point: run_language_server(). Tested by
// tests/editors/test_lsp.py.
#pragma once

namespace nbcc {

// Returns the exit code of the protocol: 0 after `shutdown` and `exit`, else 1.
int run_language_server(int in, int out);

}  // namespace nbcc

// Messages -> calls of answers.h, and answers -> messages. Entry point: run_language_server(). The server keeps the
// open texts with the facts about each.
#include "cli/lsp/language_server.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>

#include "cli/lsp/answers.h"
#include "cli/lsp/child_process.h"
#include "cli/lsp/json_rpc.h"
#include "compiler/editing/format.h"
#include "runtime/api/nbcc.h"

namespace nbcc {
namespace {

// A text of the largest size that the prescan accepts takes up to some seconds.
constexpr std::chrono::milliseconds kAnalysisLimit(20'000);

// Error codes of JSON-RPC and of the protocol.
enum LspError {
  kParseError = -32700,
  kMethodNotFound = -32601,
  kInvalidRequest = -32600,
  kInvalidParams = -32602,
  kLspInternalError = -32603,
  kNotInitialized = -32002,
  kRequestFailed = -32803
};

struct OpenFile {
  std::unique_ptr<TextDocument> document;
  LspJson version;
  bool is_known = false;  // `facts` belong to this text
  EditorFacts facts;
  TextNames last_names;  // of the last text that was parsed
};

std::string what_ended(const ChildResult& result) {
  if (result.end == ChildEnd::TooSlow) return fmt::format("took longer than {} s", kAnalysisLimit.count() / 1000);
  return result.signal != 0 ? fmt::format("was ended by signal {}", result.signal) : "failed";
}

// "file:///home/a/b%20c.pipe" -> "b c.pipe", the name that messages may contain.
std::string name_in_uri(const std::string& uri) {
  std::string name;
  for (std::size_t at = uri.rfind('/') + 1; at < uri.size(); ++at) {
    const bool is_escape = uri[at] == '%' && at + 2 < uri.size() &&
                           std::isxdigit(static_cast<unsigned char>(uri[at + 1])) &&
                           std::isxdigit(static_cast<unsigned char>(uri[at + 2]));
    name += is_escape ? char(std::stoi(uri.substr(at + 1, 2), nullptr, 16)) : uri[at];
    at += is_escape ? 2 : 0;
  }
  return name;
}

class LanguageServer {
 public:
  LanguageServer(int in, int out) : stream_(in, out) {}

  int run() {
    while (!ended_) {
      if (!stream_.has_input() && analyse_one()) continue;
      const std::optional<std::string> content = stream_.read();
      if (!content) return 1;
      take(*content);
    }
    return is_shut_down_ ? 0 : 1;
  }

 private:
  using Handler = LspJson (LanguageServer::*)(const LspJson& params);

  void take(const std::string& content) {
    const LspJson message = LspJson::parse(content, nullptr, false);
    if (message.is_discarded()) return send_error(nullptr, kParseError, "this is no JSON");
    if (!message.is_object() || !message.contains("method")) return;  // an answer of the editor
    const bool is_request = message.contains("id");
    const LspJson id = is_request ? message["id"] : LspJson();
    try {
      const std::string method = message.at("method");
      const LspJson params = message.value("params", LspJson::object());
      const auto found = handlers().find(method);
      if (found == handlers().end()) {
        if (is_request) send_error(id, kMethodNotFound, fmt::format("there is no method '{}'", method));
      } else if (!is_initialized_ && method != "initialize" && method != "exit") {
        if (is_request) send_error(id, kNotInitialized, "the first request is 'initialize'");
      } else if (is_shut_down_ && method != "exit") {
        if (is_request) send_error(id, kInvalidRequest, "the server is shut down");
      } else {
        LspJson result = (this->*found->second)(params);
        if (is_request) send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
      }
    } catch (const RequestRefused& refused) {
      if (is_request) send_error(id, kRequestFailed, refused.reason);
    } catch (const LspJson::exception& problem) {
      if (is_request) send_error(id, kInvalidParams, problem.what());
    } catch (const std::exception& problem) {
      if (is_request) send_error(id, kLspInternalError, problem.what());
    }
  }

  static const std::map<std::string, Handler>& handlers() {
    static const std::map<std::string, Handler> all = {
        {"initialize", &LanguageServer::initialize},
        {"initialized", &LanguageServer::ignore},
        {"shutdown", &LanguageServer::shut_down},
        {"exit", &LanguageServer::exit},
        {"$/cancelRequest", &LanguageServer::ignore},
        {"textDocument/didOpen", &LanguageServer::did_open},
        {"textDocument/didChange", &LanguageServer::did_change},
        {"textDocument/didClose", &LanguageServer::did_close},
        {"textDocument/hover", &LanguageServer::hover},
        {"textDocument/completion", &LanguageServer::completion},
        {"textDocument/signatureHelp", &LanguageServer::signature_help},
        {"textDocument/definition", &LanguageServer::definition},
        {"textDocument/references", &LanguageServer::references},
        {"textDocument/documentHighlight", &LanguageServer::highlights},
        {"textDocument/prepareRename", &LanguageServer::prepare_rename},
        {"textDocument/rename", &LanguageServer::rename},
        {"textDocument/documentSymbol", &LanguageServer::symbols},
        {"textDocument/semanticTokens/full", &LanguageServer::semantic_tokens},
        {"textDocument/inlayHint", &LanguageServer::inlay_hints},
        {"textDocument/codeAction", &LanguageServer::code_actions},
        {"textDocument/formatting", &LanguageServer::formatting}};
    return all;
  }

  // Messages

  void send(const LspJson& message) { stream_.write(message); }
  void send_error(const LspJson& id, int code, const std::string& text) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", text}}}});
  }
  void publish(const std::string& uri, const LspJson& version, const LspJson& diagnostics) {
    LspJson params{{"uri", uri}, {"diagnostics", diagnostics}};
    if (!version.is_null()) params["version"] = version;
    send({{"jsonrpc", "2.0"}, {"method", "textDocument/publishDiagnostics"}, {"params", std::move(params)}});
  }

  // Facts

  // Analyses one text whose facts are not known, unless a message comes in between. False if there is none.
  bool analyse_one() {
    for (auto& [uri, file] : files_)
      if (!file.is_known) return analyse(uri, file, stream_.in()), true;
    return false;
  }

  void analyse(const std::string& uri, OpenFile& file, int interrupt) {
    const Source source{name_in_uri(uri), file.document->text()};
    const ChildResult result = run_in_child([&] { return written_facts(facts_of(source)); }, kAnalysisLimit, interrupt);
    if (result.end == ChildEnd::Interrupted) return;
    if (result.end == ChildEnd::Done) {
      file.facts = read_facts(result.text);
    } else {
      file.facts = {};
      file.facts.diagnostics.push_back(
          {Severity::Error,
           {},
           fmt::format("the compiler {} on this text, which is a bug in nbcc; please report the text with what `nbcc "
                       "info` prints",
                       what_ended(result))});
    }
    file.is_known = true;
    if (file.facts.has_names) file.last_names = file.facts.names;
    publish(uri, file.version, diagnostics_of(text_of(uri, file)));
  }

  static OpenText text_of(const std::string& uri, const OpenFile& file) {
    return {*file.document, file.facts, file.facts.has_names ? file.facts.names : file.last_names, uri};
  }

  OpenFile& file_of(const LspJson& params) {
    const std::string uri = params.at("textDocument").at("uri");
    const auto found = files_.find(uri);
    if (found == files_.end()) throw RequestRefused{fmt::format("the text {} is not open", uri)};
    return found->second;
  }

  // The text of a request, with the facts about it.
  OpenText known_text(const LspJson& params) {
    OpenFile& file = file_of(params);
    const std::string uri = params.at("textDocument").at("uri");
    if (!file.is_known) analyse(uri, file, -1);
    return text_of(uri, file);
  }

  template <typename Answer>
  LspJson at_position(const LspJson& params, Answer answer) {
    const OpenText text = known_text(params);
    return answer(text, text.document.location_of(params.at("position")));
  }

  // Methods

  LspJson ignore(const LspJson&) { return nullptr; }

  LspJson initialize(const LspJson&) {
    is_initialized_ = true;
    return {{"serverInfo", {{"name", "nbcc"}, {"version", nbcc_version()}}},
            {"capabilities",
             {{"textDocumentSync", {{"openClose", true}, {"change", 1}}},
              {"hoverProvider", true},
              {"completionProvider", {{"triggerCharacters", {"(", "."}}}},
              {"signatureHelpProvider", {{"triggerCharacters", {"(", ","}}}},
              {"definitionProvider", true},
              {"referencesProvider", true},
              {"documentHighlightProvider", true},
              {"renameProvider", {{"prepareProvider", true}}},
              {"documentSymbolProvider", true},
              {"semanticTokensProvider", {{"legend", semantic_legend()}, {"full", true}}},
              {"inlayHintProvider", true},
              {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}},
              {"documentFormattingProvider", true}}}};
  }

  LspJson shut_down(const LspJson&) {
    is_shut_down_ = true;
    return nullptr;
  }

  LspJson exit(const LspJson&) {
    ended_ = true;
    return nullptr;
  }

  LspJson did_open(const LspJson& params) {
    const LspJson& opened = params.at("textDocument");
    OpenFile file;
    file.document = std::make_unique<TextDocument>(opened.at("text").get<std::string>());
    file.version = opened.value("version", LspJson());
    files_[opened.at("uri").get<std::string>()] = std::move(file);
    return nullptr;
  }

  LspJson did_change(const LspJson& params) {
    OpenFile& file = file_of(params);
    for (const LspJson& change : params.at("contentChanges"))
      file.document = std::make_unique<TextDocument>(change.at("text").get<std::string>());
    file.version = params.at("textDocument").value("version", LspJson());
    file.is_known = false;
    return nullptr;
  }

  LspJson did_close(const LspJson& params) {
    const std::string uri = params.at("textDocument").at("uri");
    if (files_.erase(uri) > 0) publish(uri, nullptr, LspJson::array());
    return nullptr;
  }

  LspJson hover(const LspJson& params) { return at_position(params, hover_at); }
  LspJson completion(const LspJson& params) { return at_position(params, completion_at); }
  LspJson signature_help(const LspJson& params) { return at_position(params, signature_at); }
  LspJson definition(const LspJson& params) { return at_position(params, definition_of); }
  LspJson highlights(const LspJson& params) { return at_position(params, highlights_of); }
  LspJson prepare_rename(const LspJson& params) { return at_position(params, name_to_rename); }

  LspJson references(const LspJson& params) {
    const bool with_declaration = params.value("context", LspJson::object()).value("includeDeclaration", true);
    return at_position(
        params, [&](const OpenText& text, Location where) { return references_to(text, where, with_declaration); });
  }

  LspJson rename(const LspJson& params) {
    const std::string new_name = params.at("newName");
    const OpenText text = known_text(params);
    if (!text.facts.has_names) throw RequestRefused{"names cannot be changed before the text can be parsed"};
    return renamed(text, text.document.location_of(params.at("position")), new_name);
  }

  LspJson symbols(const LspJson& params) { return symbols_of(known_text(params)); }
  LspJson semantic_tokens(const LspJson& params) { return semantic_tokens_of(known_text(params)); }

  LspJson inlay_hints(const LspJson& params) {
    const OpenText text = known_text(params);
    const LspJson& range = params.at("range");
    return inlay_hints_of(text, text.document.location_of(range.at("start")),
                          text.document.location_of(range.at("end")));
  }

  LspJson code_actions(const LspJson& params) {
    return code_actions_of(known_text(params), params.at("context").at("diagnostics"));
  }

  LspJson formatting(const LspJson& params) {
    const TextDocument& document = *file_of(params).document;
    const ChildResult result = run_in_child([&] { return formatted(document.text()); }, kAnalysisLimit);
    if (result.end != ChildEnd::Done) throw RequestRefused{"the formatter " + what_ended(result)};
    if (result.text == document.text()) return LspJson::array();
    return LspJson::array({{{"range", document.range_of_all()}, {"newText", result.text}}});
  }

  MessageStream stream_;
  std::map<std::string, OpenFile> files_;  // by URI
  bool is_initialized_ = false, is_shut_down_ = false, ended_ = false;
};

}  // namespace

int run_language_server(int in, int out) { return LanguageServer(in, out).run(); }

}  // namespace nbcc

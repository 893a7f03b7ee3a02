// A stand-in of the module `vscode`: the parts that the extension uses, as far as a test without an editor needs them. It
// keeps what is registered; emit() calls the listeners of an event.
'use strict';

class Position { constructor(line, character) { this.line = line; this.character = character; } }
class Range { constructor(start, end) { this.start = start; this.end = end; } }
class Location { constructor(uri, range) { this.uri = uri; this.range = range; } }
class Uri {
  constructor(text) { this.text = text; }
  static parse(text) { return new Uri(text); }
  toString() { return this.text; }
}
class Diagnostic { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } }
class Hover { constructor(contents, range) { Object.assign(this, { contents, range }); } }
class MarkdownString { constructor(value) { this.value = value; } }
class CompletionItem { constructor(label, kind) { Object.assign(this, { label, kind }); } }
class SignatureHelp {}
class SignatureInformation { constructor(label, documentation) { Object.assign(this, { label, documentation }); } }
class ParameterInformation { constructor(label) { this.label = label; } }
class DocumentHighlight { constructor(range) { this.range = range; } }
class TextEdit { constructor(range, newText) { Object.assign(this, { range, newText }); } }
class WorkspaceEdit {
  constructor() { this.edits = new Map(); }
  set(uri, edits) { this.edits.set(uri.toString(), edits); }
}
class DocumentSymbol {
  constructor(name, detail, kind, range, selectionRange) {
    // As the editor does.
    const before = (a, b) => a.line < b.line || (a.line === b.line && a.character <= b.character);
    if (!before(range.start, selectionRange.start) || !before(selectionRange.end, range.end))
      throw new Error('selectionRange must be contained in fullRange');
    Object.assign(this, { name, detail, kind, range, selectionRange });
  }
}
class InlayHint { constructor(position, label) { Object.assign(this, { position, label }); } }
class CodeAction { constructor(title, kind) { Object.assign(this, { title, kind }); } }
class SemanticTokens { constructor(data) { this.data = data; } }
class SemanticTokensLegend { constructor(tokenTypes, tokenModifiers) { Object.assign(this, { tokenTypes, tokenModifiers }); } }

const listeners = {};
const listen = (name) => (listener) => {
  (listeners[name] = listeners[name] || []).push(listener);
  return { dispose() { listeners[name].splice(listeners[name].indexOf(listener), 1); } };
};
const providers = {}; // by the name of the function that registers them
const languages = new Proxy({}, {
  get: (_, name) => name === 'createDiagnosticCollection' ? () => collection : (selector, provider, ...more) => {
    providers[name] = { selector, provider, more };
    return { dispose() { delete providers[name]; } };
  },
});
const collection = {
  all: new Map(),
  set(uri, diagnostics) { this.all.set(uri.toString(), diagnostics); emit('diagnostics', uri.toString()); },
  clear() { this.all.clear(); },
  dispose() {},
};
const commands = {
  all: {},
  registerCommand(name, action) { this.all[name] = action; return { dispose: () => delete this.all[name] }; },
};
const settings = {};
const messages = [];
const workspace = {
  textDocuments: [],
  getConfiguration: (section) => ({ get: (key, otherwise) => settings[`${section}.${key}`] ?? otherwise }),
  onDidOpenTextDocument: listen('open'),
  onDidChangeTextDocument: listen('change'),
  onDidCloseTextDocument: listen('close'),
};
function emit(name, event) { for (const listener of [...(listeners[name] || [])]) listener(event); }

module.exports = {
  Position, Range, Location, Uri, Diagnostic, Hover, MarkdownString, CompletionItem, SignatureHelp, SignatureInformation,
  ParameterInformation, DocumentHighlight, TextEdit, WorkspaceEdit, DocumentSymbol, InlayHint, CodeAction, SemanticTokens,
  SemanticTokensLegend, CodeActionKind: { QuickFix: 'quickfix' }, languages, commands, workspace,
  window: { showErrorMessage: (message) => messages.push(message) },
  standIn: { providers, collection, commands, settings, messages, emit, listen },
};

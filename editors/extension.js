// The extension of Visual Studio Code: starts `nbcc lsp` when a pipeline is opened, and answers the editor's requests by the
// server's. It uses the module `vscode` alone; the conversions of types of the protocol are at the end.
'use strict';
const vscode = require('vscode');
const { Connection } = require('./json_rpc.js');

const SELECTOR = { language: 'pipe' };
let client;

class Client {
  constructor(context) {
    this.context = context;
    this.diagnostics = vscode.languages.createDiagnosticCollection('nbcc');
    context.subscriptions.push(this.diagnostics);
  }

  async start() {
    const command = vscode.workspace.getConfiguration('nbcc').get('path', 'nbcc');
    this.connection = new Connection(command, ['lsp'], {
      notification: (method, params) => this.take(method, params),
      closed: (reason) => {
        this.diagnostics.clear();
        vscode.window.showErrorMessage(`nbcc: ${reason}. The setting nbcc.path names the command; ` +
          'the command "nbcc: Restart the server" starts it again.');
      },
    });
    const result = await this.connection.request('initialize', { processId: process.pid, rootUri: null, capabilities: {} });
    this.legend = result.capabilities.semanticTokensProvider.legend;
    this.connection.notify('initialized', {});
    for (const document of vscode.workspace.textDocuments) this.open(document);
  }

  take(method, params) {
    if (method !== 'textDocument/publishDiagnostics') return;
    this.diagnostics.set(vscode.Uri.parse(params.uri), params.diagnostics.map(toDiagnostic));
  }

  open(document) {
    if (document.languageId !== 'pipe') return;
    this.connection.notify('textDocument/didOpen', {
      textDocument: { uri: uriOf(document), languageId: 'pipe', version: document.version, text: document.getText() },
    });
  }

  change(document) {
    if (document.languageId !== 'pipe') return;
    this.connection.notify('textDocument/didChange', {
      textDocument: { uri: uriOf(document), version: document.version },
      contentChanges: [{ text: document.getText() }],
    });
  }

  close(document) {
    if (document.languageId !== 'pipe') return;
    this.connection.notify('textDocument/didClose', { textDocument: { uri: uriOf(document) } });
  }

  // The answer to a request about a document; `null` if the server refuses it.
  async ask(method, document, more = {}) {
    return this.connection.request(`textDocument/${method}`, { textDocument: { uri: uriOf(document) }, ...more })
      .catch(() => null);
  }
  askAt(method, document, position, more = {}) {
    return this.ask(method, document, { position: fromPosition(position), ...more });
  }

  // Events and providers, once for each Client: they use the present connection.
  register() {
    const { languages, workspace } = vscode;
    this.context.subscriptions.push(
      workspace.onDidOpenTextDocument((document) => this.open(document)),
      workspace.onDidChangeTextDocument((event) => this.change(event.document)),
      workspace.onDidCloseTextDocument((document) => this.close(document)),
      vscode.commands.registerCommand('nbcc.restart', () => this.restart()),
      languages.registerHoverProvider(SELECTOR, {
        provideHover: async (document, position) => {
          const hover = await this.askAt('hover', document, position);
          return hover && new vscode.Hover(new vscode.MarkdownString(hover.contents.value), toRange(hover.range));
        },
      }),
      languages.registerCompletionItemProvider(SELECTOR, {
        provideCompletionItems: async (document, position) =>
          ((await this.askAt('completion', document, position)) || []).map(toCompletion),
      }, '(', '.'),
      languages.registerSignatureHelpProvider(SELECTOR, {
        provideSignatureHelp: async (document, position) =>
          toSignatureHelp(await this.askAt('signatureHelp', document, position)),
      }, '(', ','),
      languages.registerDefinitionProvider(SELECTOR, {
        provideDefinition: async (document, position) => toLocation(await this.askAt('definition', document, position)),
      }),
      languages.registerReferenceProvider(SELECTOR, {
        provideReferences: async (document, position, context) =>
          ((await this.askAt('references', document, position, { context })) || []).map(toLocation),
      }),
      languages.registerDocumentHighlightProvider(SELECTOR, {
        provideDocumentHighlights: async (document, position) =>
          ((await this.askAt('documentHighlight', document, position)) || [])
            .map((one) => new vscode.DocumentHighlight(toRange(one.range))),
      }),
      languages.registerRenameProvider(SELECTOR, {
        prepareRename: async (document, position) => {
          const range = await this.askAt('prepareRename', document, position);
          if (!range) throw new Error('this is no name that the text declares');
          return toRange(range);
        },
        // Not by ask(): the editor shows why a name is refused.
        provideRenameEdits: async (document, position, newName) =>
          toWorkspaceEdit(await this.connection.request('textDocument/rename', {
            textDocument: { uri: uriOf(document) }, position: fromPosition(position), newName,
          })),
      }),
      languages.registerDocumentSymbolProvider(SELECTOR, {
        provideDocumentSymbols: async (document) => ((await this.ask('documentSymbol', document)) || []).map(toSymbol),
      }),
      languages.registerInlayHintsProvider(SELECTOR, {
        provideInlayHints: async (document, range) =>
          ((await this.ask('inlayHint', document, { range: fromRange(range) })) || []).map(toHint),
      }),
      languages.registerCodeActionsProvider(SELECTOR, {
        provideCodeActions: async (document, range, context) =>
          ((await this.ask('codeAction', document, {
            range: fromRange(range), context: { diagnostics: context.diagnostics.map(fromDiagnostic) },
          })) || []).map(toCodeAction),
      }),
      languages.registerDocumentFormattingEditProvider(SELECTOR, {
        provideDocumentFormattingEdits: async (document, options) =>
          ((await this.ask('formatting', document, { options })) || []).map(toTextEdit),
      }),
      languages.registerDocumentSemanticTokensProvider(SELECTOR, {
        provideDocumentSemanticTokens: async (document) => {
          const tokens = await this.ask('semanticTokens/full', document);
          return tokens && new vscode.SemanticTokens(new Uint32Array(tokens.data));
        },
      }, new vscode.SemanticTokensLegend(this.legend.tokenTypes, this.legend.tokenModifiers)),
    );
  }

  async restart() {
    await this.connection.stop();
    this.diagnostics.clear();
    await this.start();
  }
}

async function activate(context) {
  client = new Client(context);
  try {
    await client.start();
  } catch (error) {
    // Shown by closed(). Without a server only the command that restarts it is of use.
    context.subscriptions.push(vscode.commands.registerCommand('nbcc.restart', async () => {
      await deactivate();
      context.subscriptions.forEach((one) => one.dispose());
      context.subscriptions.length = 0;
      await activate(context);
    }));
    return;
  }
  client.register();
}

async function deactivate() {
  if (client && client.connection) await client.connection.stop();
}

// Types of the protocol <-> those of the editor. Numbers of kinds differ by one, because the editor counts from 0.
const uriOf = (document) => document.uri.toString();
const fromPosition = (position) => ({ line: position.line, character: position.character });
const fromRange = (range) => ({ start: fromPosition(range.start), end: fromPosition(range.end) });
const toPosition = (position) => new vscode.Position(position.line, position.character);
const toRange = (range) => new vscode.Range(toPosition(range.start), toPosition(range.end));
const toLocation = (one) => one && new vscode.Location(vscode.Uri.parse(one.uri), toRange(one.range));
const toTextEdit = (edit) => new vscode.TextEdit(toRange(edit.range), edit.newText);

function toDiagnostic(one) {
  const diagnostic = new vscode.Diagnostic(toRange(one.range), one.message, one.severity - 1);
  diagnostic.source = one.source;
  return diagnostic;
}
const fromDiagnostic = (one) => ({
  range: fromRange(one.range), message: one.message, severity: one.severity + 1, source: one.source,
});

function toCompletion(one) {
  const item = new vscode.CompletionItem(one.label, one.kind - 1);
  item.detail = one.detail;
  item.documentation = one.documentation;
  return item;
}

function toSignatureHelp(one) {
  if (!one) return null;
  const help = new vscode.SignatureHelp();
  help.signatures = one.signatures.map((signature) => {
    const information = new vscode.SignatureInformation(signature.label, signature.documentation);
    information.parameters = signature.parameters.map(({ label }) => new vscode.ParameterInformation(label));
    return information;
  });
  help.activeSignature = one.activeSignature;
  help.activeParameter = one.activeParameter;
  return help;
}

function toWorkspaceEdit(one) {
  const edit = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(one.changes)) edit.set(vscode.Uri.parse(uri), edits.map(toTextEdit));
  return edit;
}

const toSymbol = (one) =>
  new vscode.DocumentSymbol(one.name, one.detail, one.kind - 1, toRange(one.range), toRange(one.selectionRange));

function toHint(one) {
  const hint = new vscode.InlayHint(toPosition(one.position), one.label);
  hint.paddingLeft = one.paddingLeft;
  return hint;
}

function toCodeAction(one) {
  const action = new vscode.CodeAction(one.title, vscode.CodeActionKind.QuickFix);
  action.edit = toWorkspaceEdit(one.edit);
  action.isPreferred = one.isPreferred;
  return action;
}

module.exports = { activate, deactivate };

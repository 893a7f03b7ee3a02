// The extension of Visual Studio Code with a stand-in of its API. Usage: node vscode_test.js COMMAND EXTENSION_FOLDER, with
// NODE_PATH naming the folder of the stand-in.
'use strict';
const assert = require('assert');
const path = require('path');
const vscode = require('vscode');
const { providers, collection, commands, settings, messages, emit, listen } = vscode.standIn;

const [command, folder] = process.argv.slice(2);
const manifest = require(path.join(folder, 'package.json'));
const extension = require(path.join(folder, manifest.main));

const URI = 'file:///tmp/force.pipe';
const TEXT = `input_i real xi;
input_j real xj;   // where it is
output(sum) real s;
real d = xj - xi;
s += sqr(d) * pow(xj, 2);
`;

function documentOf(text, version, uri = URI) {
  return { uri: vscode.Uri.parse(uri), languageId: 'pipe', version, getText: () => text };
}
const at = (line, character) => new vscode.Position(line, character);
const diagnosticsOf = (uri) => new Promise((resolve, reject) => {
  const listener = listen('diagnostics')((which) => {
    if (which !== uri) return;
    listener.dispose();
    resolve(collection.all.get(uri));
  });
  setTimeout(() => reject(new Error('no diagnostics came')), 20000).unref();
});

async function main() {
  const context = { subscriptions: [] };

  // A command that does not exist: a message that names the setting, and no exception.
  settings['nbcc.path'] = '/nothing/nbcc';
  await extension.activate(context);
  assert.match(messages.pop(), /cannot be started.*nbcc\.path/);
  assert.deepStrictEqual(Object.keys(providers), []);

  // The setting is mended.
  settings['nbcc.path'] = command;
  let document = documentOf(TEXT, 1);
  vscode.workspace.textDocuments.push(document);
  const first = diagnosticsOf(URI);
  await commands.all['nbcc.restart']();
  const [error] = await first;
  assert.match(error.message, /did you mean 'sqrt'/);
  assert.strictEqual(error.severity, 0);
  assert.deepStrictEqual(error.range, new vscode.Range(at(4, 5), at(4, 8)));
  for (const { selector } of Object.values(providers)) assert.strictEqual(selector.language, 'pipe');
  const use = (name) => providers[`register${name}Provider`].provider;

  const actions = await use('CodeActions').provideCodeActions(document, error.range, { diagnostics: [error] });
  assert.strictEqual(actions[0].title, "Write 'sqrt'");
  assert.strictEqual(actions[0].edit.edits.get(URI)[0].newText, 'sqrt');

  // The text changes: the diagnostics go.
  document = documentOf(TEXT.replace('sqr(', 'sqrt('), 2);
  const second = diagnosticsOf(URI);
  emit('change', { document });
  assert.deepStrictEqual(await second, []);

  const hover = await use('Hover').provideHover(document, at(4, 18));
  assert.match(hover.contents.value, /pow\(x, y\)/);
  const items = await use('CompletionItem').provideCompletionItems(document, at(4, 0));
  const xj = items.find((one) => one.label === 'xj');
  assert.deepStrictEqual([xj.kind, xj.detail, xj.documentation], [4, 'input_j real xj', 'where it is']);
  const help = await use('SignatureHelp').provideSignatureHelp(document, at(4, 22));
  assert.deepStrictEqual(help.signatures[0].parameters[1].label, [7, 8]);
  assert.strictEqual(help.activeParameter, 1);
  const definition = await use('Definition').provideDefinition(document, at(4, 10));
  assert.deepStrictEqual(definition.range.start, at(3, 5));
  assert.strictEqual((await use('Reference').provideReferences(document, at(3, 5), { includeDeclaration: true })).length, 2);
  assert.strictEqual((await use('DocumentHighlight').provideDocumentHighlights(document, at(3, 5))).length, 2);
  await use('Rename').prepareRename(document, at(3, 5));
  await assert.rejects(use('Rename').prepareRename(document, at(4, 6)), /no name that the text declares/);
  const edit = await use('Rename').provideRenameEdits(document, at(3, 5), 'delta');
  assert.strictEqual(edit.edits.get(URI).length, 2);
  await assert.rejects(use('Rename').provideRenameEdits(document, at(3, 5), 'while'), /word of the language/);
  const symbols = await use('DocumentSymbol').provideDocumentSymbols(document);
  assert.deepStrictEqual(symbols.map((one) => one.name), ['xi', 'xj', 's', 'd']);
  const everything = new vscode.Range(at(0, 0), at(9, 0));
  const hints = await use('InlayHints').provideInlayHints(document, everything);
  assert.ok(hints.some((one) => one.label.includes('operations per pair') && one.paddingLeft), JSON.stringify(hints));
  const tokens = await use('DocumentSemanticTokens').provideDocumentSemanticTokens(document);
  assert.ok(tokens.data.length > 0 && tokens.data.length % 5 === 0);
  assert.ok(providers.registerDocumentSemanticTokensProvider.more[0].tokenTypes.includes('property'));
  assert.deepStrictEqual(await use('DocumentFormattingEdit').provideDocumentFormattingEdits(document, {}), []);

  // Other languages are not sent to the server; a closed text has no diagnostics.
  emit('open', { uri: vscode.Uri.parse('file:///a.txt'), languageId: 'plaintext', version: 1, getText: () => 'a' });
  const closed = diagnosticsOf(URI);
  emit('close', document);
  assert.deepStrictEqual(await closed, []);
  assert.strictEqual(await use('Hover').provideHover(document, at(0, 0)), null);

  assert.deepStrictEqual(messages, []);
  await extension.deactivate();
  assert.deepStrictEqual(messages, []);
  console.log('all is well');
}

main().catch((error) => { console.error(error); process.exit(1); });

// A process that speaks JSON-RPC with headers on its standard input and output, as the Language Server Protocol frames it.
// It knows neither editor nor methods.
'use strict';
const { spawn } = require('child_process');

class Connection {
  // `on`: { notification(method, params), closed(reason) }
  constructor(command, args, on) {
    this.on = on;
    this.nextId = 0;
    this.waiting = new Map(); // id -> { resolve, reject }
    this.received = Buffer.alloc(0);
    this.isClosed = false;
    this.process = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.process.on('error', (error) => this.close(`${command} cannot be started: ${error.message}`));
    this.process.on('exit', (code, signal) => this.close(`${command} has ended (${signal || code})`));
    this.process.stdin.on('error', () => {}); // the process has ended, which 'exit' reports
    this.process.stdout.on('data', (bytes) => this.take(bytes));
  }

  request(method, params) {
    if (this.isClosed) return Promise.reject(new Error('the server has ended'));
    const id = ++this.nextId;
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  notify(method, params) {
    if (!this.isClosed) this.send({ method, params });
  }

  // Asks the server to end, and resolves when its process has ended.
  async stop() {
    if (this.isClosed) return;
    this.isStopping = true;
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    await this.request('shutdown', null).catch(() => {});
    this.notify('exit', null);
    await ended;
  }

  send(message) {
    const content = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }), 'utf8');
    this.process.stdin.write(`Content-Length: ${content.length}\r\n\r\n`);
    this.process.stdin.write(content);
  }

  take(bytes) {
    this.received = Buffer.concat([this.received, bytes]);
    for (;;) {
      const end = this.received.indexOf('\r\n\r\n');
      if (end < 0) return;
      const header = /content-length: *(\d+)/i.exec(this.received.toString('latin1', 0, end));
      if (!header) return this.process.kill(); // no later message can be found
      const begin = end + 4;
      const length = Number(header[1]);
      if (this.received.length < begin + length) return;
      const content = this.received.toString('utf8', begin, begin + length);
      this.received = this.received.subarray(begin + length);
      this.handle(JSON.parse(content));
    }
  }

  handle(message) {
    if (message.method !== undefined) return this.on.notification(message.method, message.params);
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    this.waiting.delete(message.id);
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }

  close(reason) {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
    this.waiting.clear();
    if (!this.isStopping) this.on.closed(reason);
  }
}

module.exports = { Connection };

"""A client of `nbcc lsp` for tests: it starts the command, sends requests over pipes and reads the answers."""

import json
import os
import subprocess


class RequestError(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]


class Client:
    def __init__(self, command, initialize=True):
        self.process = subprocess.Popen([command, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next_id = 0
        self.notifications = []
        if initialize:
            self.capabilities = self.request("initialize", {"processId": os.getpid(), "capabilities": {}})["capabilities"]
            self.notify("initialized", {})

    def send(self, message):
        content = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))

    def send_bytes(self, content):
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def receive(self):
        length = None
        while (line := self.process.stdout.readline()) not in (b"\r\n", b""):
            name, value = line.decode().split(":")
            if name.lower() == "content-length":
                length = int(value)
        assert length, f"the server has ended with {self.process.wait()}"
        return json.loads(self.process.stdout.read(length))

    def request(self, method, params):
        self.next_id += 1
        self.send({"id": self.next_id, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.next_id:
                if "error" in message:
                    raise RequestError(message["error"])
                return message["result"]
            self.notifications.append(message)

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def diagnostics(self, uri, version=None):
        """The next diagnostics that are published of the text, or of this version of it."""
        while True:
            for k, message in enumerate(self.notifications):
                params = message["params"]
                if params["uri"] == uri and version in (None, params.get("version")):
                    del self.notifications[: k + 1]
                    return params["diagnostics"]
            self.notifications.append(self.receive())

    def open(self, uri, text):
        self.notify("textDocument/didOpen",
                    {"textDocument": {"uri": uri, "languageId": "pipe", "version": 1, "text": text}})

    def change(self, uri, text, version):
        self.notify("textDocument/didChange",
                    {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]})

    def close(self):
        self.request("shutdown", None)
        self.notify("exit", None)
        code = self.process.wait(10)
        self.process.stdin.close()
        self.process.stdout.close()
        return code

// A Worker for pages that were opened from a folder (file:), where browsers refuse workers: the script of the worker runs
// in a hidden iframe. The search of Material for MkDocs runs in a worker. Pages from a server keep the browser's Worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame.contentWindow;
      this.loaded = new Promise((resolve) => (this.frame.workerLoaded = resolve));
      window.addEventListener("message", (event) => {
        if (event.source === this.frame) this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
      // importScripts() is asynchronous here; the search awaits it.
      const script = `
        postMessage = (data) => parent.postMessage(data, "*");
        importScripts = (...urls) => Promise.all(urls.map((url) => new Promise((resolve, reject) => {
          const script = document.createElement("script");
          Object.assign(script, { src: url, onload: resolve, onerror: reject });
          document.head.append(script);
        })));`;
      this.frame.document.open();
      this.frame.document.write(`<!doctype html><head><script>${script}<\/script></head>
        <body><script src="${url}" onload="workerLoaded()"><\/script></body>`);
      this.frame.document.close();
    }
    postMessage(data) {
      this.loaded.then(() => this.frame.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}

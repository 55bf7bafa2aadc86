/* Search without a server: browsers refuse to start a worker from a file on disk, so it runs in a hidden frame. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.documentElement.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      const answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.document.open();
      inside.document.write("<!doctype html><title>search</title>");
      inside.document.close();
      /* What the worker calls to answer, and to load the stemmers of other languages. */
      inside.postMessage = (data) => setTimeout(answer, 0, data);
      inside.importScripts = (...urls) =>
        urls.reduce((done, next) => done.then(() => this.load(inside, next)), Promise.resolve());
      this.load(inside, url).then(() => {
        this.inside = inside;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    }

    load(inside, url) {
      return new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.onload = resolve;
        script.onerror = reject;
        script.src = String(url);
        inside.document.body.appendChild(script);
      });
    }

    postMessage(data) {
      if (this.inside) {
        this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
      } else {
        this.waiting.push(data);
      }
    }

    terminate() {
      this.frame.remove();
    }
  };
}

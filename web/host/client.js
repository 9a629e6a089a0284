// SPDX-License-Identifier: MIT
//
// client.js - the page's side of worker.js
import { ModelfileError } from './module.js';

/** A model that a worker has; its calls return promises. */
export class WorkerModel {
    #worker;
    #waiting = new Map();
    #next = 0;

    /** progress: called with what worker.js reports. */
    constructor(worker, progress = () => {}) {
        this.#worker = worker;
        worker.onmessage = ({ data }) => {
            if (data.progress)
                progress(data.progress);
            else
                this.#answer(data);
        };
        worker.onerror = (event) => this.#end(event.message);
    }

    #answer({ id, result, error }) {
        const { resolve, reject } = this.#waiting.get(id);

        this.#waiting.delete(id);
        if (error)
            reject(new ModelfileError(error));
        else
            resolve(result);
    }

    #end(message) {
        for (const { reject } of this.#waiting.values())
            reject(new ModelfileError({ status: 'trap', message: message ?? 'the worker ended' }));
        this.#waiting.clear();
    }

    call(call, args) {
        return new Promise((resolve, reject) => {
            const id = this.#next++;

            this.#waiting.set(id, { resolve, reject });
            this.#worker.postMessage({ id, call, args });
        });
    }

    section(name) {
        return this.call('section', { name });
    }

    entry(index) {
        return this.call('entry', { index });
    }

    values(tensor, first, count) {
        return this.call('values', { tensor, first, count });
    }

    spent() {
        return this.call('spent');
    }

    /** Ends the worker, whatever it is doing. */
    close() {
        this.#worker.terminate();
        this.#end('closed');
    }
}

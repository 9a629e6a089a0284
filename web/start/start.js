// SPDX-License-Identifier: MIT
//
// start.js - what both pages share: the worker, the document, progress, errors
//
// build.mjs puts the compressed module and the worker's script before it.

const startPage = (() => {
    // From the header alone; the page offers what is missing.
    const SECTIONS = ['head', 'verdict', 'tensors', 'metadata', 'tokenizer', 'plan'];

    function node(name, attributes = {}, ...children) {
        const made = document.createElement(name);

        for (const [key, value] of Object.entries(attributes))
            made.setAttribute(key, value);
        made.append(...children);
        return made;
    }

    async function compile() {
        const packed = Uint8Array.from(atob(MODULE_GZIP), (letter) => letter.charCodeAt(0));
        const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));

        return WebAssembly.compile(await new Response(stream).arrayBuffer());
    }

    let compiled;
    const worker = () => new Worker(URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' })));

    const root = node('div', { id: 'start' });
    const progress = node('p', { class: 'progress', role: 'status' });
    const failure = node('p', { class: 'error', role: 'alert' });
    const more = node('div');

    document.getElementById('report').before(root);

    /** The page's own part, above progress and errors. */
    function begin(...children) {
        root.append(node('h1', {}, document.title = 'Model files'), ...children, progress, failure, more);
    }

    // Names of files are in it: what nobody sees is shown as an escape.
    const { visible } = modelfilePage.parts;

    function sayFailure(error) {
        const place = error.offset === undefined ? ''
            : `\nat offset ${error.offset}${error.file ? ` of ${visible(error.file)}` : ''}`;
        const rule = error.rule ? `\n${error.rule}` : '';

        failure.textContent = error
            ? `${error.status ? `${error.status}: ` : ''}${visible(String(error.message))}${place}${rule}` : '';
    }

    const number = new Intl.NumberFormat('en');
    function sayProgress({ requests, bytes, from = [], done, total }) {
        const part = total > 0 ? `, ${Math.floor(100 * done / total)} %` : '';

        progress.textContent = `${number.format(requests)} requests, ${number.format(bytes)} bytes read${part}`;
        more.replaceChildren(...from.map((file) => node('p', { class: 'progress' },
            `${visible(file.url)}: ${number.format(file.requests)} requests, ${number.format(file.bytes)} bytes`)));
    }

    let open = null; // the model that is shown
    let turn = 0; // of opening, so that a later one wins

    function sourceOf(model) {
        return {
            values: (at, tensor, first, count) => model.values(tensor, first, count),
            entry: (at, index) => model.entry(index),
            section: (at, name) => model.section(name),
        };
    }

    async function sections(model, name) {
        const shown = { file: name };

        for (const section of SECTIONS) {
            try {
                shown[section] = await model.section(section);
            } catch (error) {
                if (section === 'head' || error.status === 'trap')
                    throw error;
                sayFailure(error);
            }
        }
        return shown;
    }

    /** Opens what a call of the worker (see worker.js) is given, and shows it. */
    async function show(call, args, name) {
        const mine = ++turn;

        open?.close();
        sayFailure('');
        progress.textContent = 'opening';
        const model = open = new WorkerModel(worker(), (news) => mine === turn && sayProgress(news));

        try {
            compiled ??= compile();
            await model.call(call, { module: await compiled, ...args });
            const shown = await sections(model, name);

            if (mine !== turn)
                return;
            root.classList.add('opened');
            modelfilePage.show({ report: 1, modelfile: VERSION, models: [shown] }, sourceOf(model));
        } catch (error) {
            if (mine === turn)
                sayFailure(error);
        }
    }

    return { node, begin, show, sayFailure, visible, choose: (...children) => more.replaceChildren(...children) };
})();

// SPDX-License-Identifier: MIT
//
// local.js - files of this machine: dropped, or chosen

(() => {
    const { node, begin, show, sayFailure, choose, visible } = startPage;
    const CHOICES_MOST = 1000;
    const MODEL = /\.(gguf|safetensors|safetensors\.index\.json|pt|pth|bin|ckpt|npz|npy|apr|parquet|dat|imatrix)$/i;
    const FIRST = /-0*1-of-\d+\.[^/]*$/;
    const SHARD = /-\d+-of-\d+\.[^/]*$/;

    // Those that a model can be opened by: a lone file whatever its name is, of
    // shards the index or the first.
    function candidates(files) {
        const models = files.filter(({ name }) => MODEL.test(name) && (!SHARD.test(name) || FIRST.test(name)));
        const indexed = models.filter(({ name }) => name.endsWith('.index.json'))
            .map(({ name }) => name.slice(0, name.lastIndexOf('/') + 1));
        const kept = models.filter(({ name }) => name.endsWith('.index.json') ||
            !name.endsWith('.safetensors') || !indexed.includes(name.slice(0, name.lastIndexOf('/') + 1)));

        if (kept.length > 0)
            return kept;
        return files.length === 1 ? files : files.filter(({ name }) => MODEL.test(name));
    }

    function openOne(files, one) {
        choose();
        show('openFiles', { files: [one, ...files.filter((file) => file !== one)] }, one.name);
    }

    function take(files) {
        const found = candidates(files);

        if (found.length === 1)
            return openOne(files, found[0]);
        if (found.length === 0)
            return sayFailure({ message: 'There is no model file among these.' });
        sayFailure('');
        const most = found.length > CHOICES_MOST ? ` The first ${CHOICES_MOST} of ${found.length}:` : '';

        choose(node('p', {}, `Which one?${most}`), ...found.slice(0, CHOICES_MOST).map((one) => {
            const button = node('button', { type: 'button' }, visible(one.name));

            button.onclick = () => openOne(files, one);
            return node('p', {}, button);
        }));
    }

    async function entries(reader) {
        const all = [];

        for (;;) {
            const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
            if (some.length === 0)
                return all;
            all.push(...some);
        }
    }

    async function filesOf(entry) {
        if (entry.isFile) {
            const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
            return [{ name: entry.fullPath.replace(/^\//, ''), file }];
        }
        const inside = await entries(entry.createReader());
        return (await Promise.all(inside.map(filesOf))).flat();
    }

    async function filesOfHandle(handle, parent = '') {
        const name = parent + handle.name;

        if (handle.kind === 'file')
            return [{ name, file: await handle.getFile() }];
        const all = [];

        for await (const inside of handle.values())
            all.push(...await filesOfHandle(inside, `${name}/`));
        return all;
    }

    async function dropped(transfer) {
        // Both are there only until the event's function returns.
        const items = [...transfer.items].filter(({ kind }) => kind === 'file');
        const roots = items.map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
        const plain = [...transfer.files].map((file) => ({ name: file.name, file }));
        const folders = roots.some((root) => root.isDirectory);
        // Chromium reads no entries for a page that is itself a file; others
        // have no handles.
        const handles = folders ? items.map((item) => item.getAsFileSystemHandle?.()) : [];

        try {
            if (!folders)
                take(plain);
            else if (handles.every(Boolean))
                take((await Promise.all((await Promise.all(handles)).map((one) => filesOfHandle(one)))).flat());
            else
                take((await Promise.all(roots.map(filesOf))).flat());
        } catch (error) {
            sayFailure(error);
        }
    }

    function chooser(attributes, text) {
        const input = node('input', { type: 'file', ...attributes });

        input.onchange = () => {
            if (input.files.length > 0)
                take([...input.files].map((file) => ({ name: file.webkitRelativePath || file.name, file })));
        };
        return node('label', {}, `${text} `, input);
    }

    const zone = node('div', { class: 'drop' },
        node('p', { class: 'about' }, 'Drop a model file here, several shards, or a folder. '
            + 'This page reads headers, and what you look at; it cannot send anything anywhere.'),
        node('div', { class: 'fields' }, chooser({ multiple: '', id: 'files' }, 'Files'),
            chooser({ webkitdirectory: '', id: 'folder' }, 'Folder')));

    addEventListener('dragover', (event) => {
        event.preventDefault();
        zone.classList.add('over');
    });
    addEventListener('dragleave', () => zone.classList.remove('over'));
    addEventListener('drop', (event) => {
        event.preventDefault();
        zone.classList.remove('over');
        dropped(event.dataTransfer);
    });
    begin(zone);
})();

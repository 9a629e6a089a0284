// SPDX-License-Identifier: MIT
//
// remote.js - a file of a server that allows pages to read ranges of it

(() => {
    const { node, begin, show, sayFailure } = startPage;
    const input = node('input', { type: 'url', id: 'url', required: '', placeholder: 'https://',
        'aria-label': 'Address of a model file' });
    const form = node('form', { class: 'fields' }, input, node('button', { type: 'submit' }, 'Open'));

    form.onsubmit = (event) => {
        event.preventDefault();
        try {
            const url = new URL(input.value, location.href);

            url.hash = '';
            show('openUrl', { url: url.href }, decodeURIComponent(url.pathname.split('/').pop()));
        } catch (error) {
            sayFailure(error);
        }
    };
    begin(node('p', { class: 'about' }, 'The header of the file, and what you look at, are fetched in '
        + 'ranges from the server that you name, and from those that it redirects to; which, is shown. '
        + 'They must allow other pages to read their files (CORS).'), form);
})();

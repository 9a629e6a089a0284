// SPDX-License-Identifier: MIT
//
// platform_browser.js - a browser: no disk
export async function moduleBytes() {
    const answer = await fetch(new URL('modelfile.wasm', import.meta.url));

    if (!answer.ok)
        throw new Error(`${answer.url}: status ${answer.status}`);
    return answer.arrayBuffer();
}

export function fileOfDisk(name) {
    throw new TypeError(`'${name}': a browser opens no paths; give a File or a URL`);
}

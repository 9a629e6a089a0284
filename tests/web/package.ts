// SPDX-License-Identifier: MIT
//
// package.ts - a program that the package's types have to fit
import { open, ModelfileError, type Entry, type Source } from 'modelfile';

const source: Source = { size: 3, read: (offset, size) => new Uint8Array(size).fill(offset) };

export async function first(path: string): Promise<string[]> {
    const model = await open(path, { neighbour: () => null });
    const values: Float32Array = await model.values('x', 0, 8);
    const { findings } = await model.verdict();
    const entries: Entry[] | undefined = await model.metadata();

    model.close();
    return [...findings.map((finding) => finding.severity), `${values.length} ${entries?.length}`];
}

export async function others(file: File, bytes: Uint8Array): Promise<void> {
    for (const each of [file, bytes, new URL('https://example.org/x.gguf'), source])
        try {
            await open(each);
        } catch (error) {
            if (error instanceof ModelfileError)
                console.log(error.status, error.offset ?? '', error.rule ?? '');
        }
    // @ts-expect-error a number is nothing that can be opened
    await open(5);
}

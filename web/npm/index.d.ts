// SPDX-License-Identifier: MIT

/** Bytes from anywhere. `read` gives all that was asked for. */
export interface Source {
    readonly size: number;
    read(offset: number, size: number): Promise<Uint8Array> | Uint8Array;
}

export interface OpenOptions {
    /** For messages, and to find neighbours; else that of the file. */
    name?: string;
    /** Whether shards of safetensors belong to it that its name counts. */
    together?: boolean;
    /** A file next to it by name, such as a shard or config.json; null: there is none. */
    neighbour?(name: string): Promise<Source | null> | Source | null;
}

/** Integers of more than 53 bits are strings of digits. */
export type Integer = number | string;

export interface Head {
    format: string;
    variant: string;
    version: number;
    version_minor: number;
    byte_order: 'little' | 'big';
    parameters: Integer;
    file_bytes: Integer;
    data_offset: Integer;
    data_bytes: Integer;
    alignment: Integer;
    tensor_count: number;
    metadata_count: number;
    facts: Record<string, unknown>;
    pending_edit: boolean;
    [more: string]: unknown;
}

export interface Finding {
    id: string;
    severity: 'error' | 'warning' | 'note';
    offset?: Integer;
    shard?: number;
    /** An index into the table of tensors. */
    tensor?: number;
    about?: string;
    message: string;
    meaning: string;
}

export interface Verdict {
    valid: boolean;
    level: string;
    errors: number;
    warnings: number;
    notes: number;
    findings: Finding[];
}

/** In columns: see docs/report.md. */
export interface Tensors {
    count: number;
    fastest_first: boolean;
    types: { name: string; elements?: number; bytes?: number }[];
    shapes: Integer[][];
    names: (number | string)[];
    type: number[];
    shape: number[];
    gap: Integer[];
    shards: [number, number][];
    [more: string]: unknown;
}

export interface Entry {
    key: string;
    type: string;
    value: unknown;
    of?: string;
    count?: Integer;
    bytes?: Integer;
}

export interface Model {
    head(): Promise<Head>;
    verdict(): Promise<Verdict>;
    tensors(): Promise<Tensors | undefined>;
    metadata(): Promise<Entry[] | undefined>;
    tokenizer(): Promise<Record<string, unknown> | undefined>;
    plan(): Promise<Record<string, unknown> | undefined>;
    entry(index: number): Promise<Entry>;
    names(): Promise<string[]>;
    /** Elements of a tensor, decoded; 1024 from the first one on, if not said otherwise. */
    values(tensor: string | number, first?: number, count?: number): Promise<Float32Array>;
    readonly fetched: { requests: number; bytes: number };
    close(): void;
}

export class ModelfileError extends Error {
    readonly status: string;
    readonly offset?: Integer;
    readonly rule?: string;
    readonly file?: string;
}

/** A string is a path, in Node; a URL is a file of a server that allows ranges. */
export function open(source: string | URL | Blob | Uint8Array | Source, options?: OpenOptions): Promise<Model>;

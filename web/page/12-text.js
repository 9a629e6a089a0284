// ---- text of a file: what nobody sees is shown as an escape

const HIDDEN = /(?:[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{DI}\u2800]|(?! )\p{Zs})+/gu;
const PLAIN = /^[\x20-\x7e]*$/;

function escapeOf(character) {
    const code = character.codePointAt(0);
    const short = { 9: "\\t", 10: "\\n", 13: "\\r" }[code];

    if (short) return short;
    return code > 0xffff ? `\\u{${code.toString(16)}}`
        : `\\u${code.toString(16).padStart(4, "0")}`;
}

const escapes = (run) => Array.from(run, escapeOf).join("");

// As one string: for titles and labels.
const visible = (text) => (PLAIN.test(text) ? text : text.replace(HIDDEN, escapes));

// What a member of the document is called: its name in words.
const LABELS = {
    block_count: "Blocks", head_count: "Heads", head_count_kv: "KV heads", kv: "KV cache",
    vocab_size: "Vocabulary", feed_forward_length: "Feed-forward length",
    expert_count: "Experts", expert_used_count: "Experts used", energy_reduction: "Less energy",
    kv_cache_reduction: "Less KV cache", peak_mem_reduction: "Less memory at the peak",
};

function labelOf(key) {
    const text = key.replaceAll("_", " ").replace(/\b(?:kv|rss|isa)\b/g, (word) => word.toUpperCase());

    return member(LABELS, key) ?? text.replace(/^[a-z](?=[a-z ])/, (letter) => letter.toUpperCase());
}

// "1 block", "2 blocks".
const plural = (count, word) => `${grouped(count)} ${word}${Number(count) === 1 ? "" : "s"}`;

// As pieces, {text, hidden} each.
function pieces(text) {
    const found = [];
    let at = 0;

    if (PLAIN.test(text)) return text ? [{ text, hidden: false }] : [];
    for (const match of text.matchAll(HIDDEN)) {
        if (match.index > at)
            found.push({ text: text.slice(at, match.index), hidden: false });
        found.push({ text: escapes(match[0]), hidden: true });
        at = match.index + match[0].length;
    }
    if (at < text.length) found.push({ text: text.slice(at), hidden: false });
    return found;
}

// The first characters, without half of a surrogate pair.
function cut(text, length) {
    if (text.length <= length) return text;
    const last = text.charCodeAt(length - 1);

    return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}

// The next lines of a text, at most so many and so long together: a place is
// {at, line, within}, where a line that was cut goes on.
function takeLines(text, place, mostLines, mostChars) {
    const rows = [];
    let { at, line, within } = place, left = mostChars;

    while (at <= text.length && rows.length < mostLines && left > 0) {
        let end = text.indexOf("\n", at);

        if (end < 0) end = text.length;
        const part = cut(text.slice(at, Math.min(end, at + left + 1)), left);

        if (part.length === 0 && end > at) break;
        rows.push({ line, text: part, continued: within });
        left -= part.length + 1;
        within = at + part.length < end;
        at += part.length + (within ? 0 : 1);
        if (!within) line += 1;
    }
    return { rows, place: { at, line, within }, done: at > text.length };
}

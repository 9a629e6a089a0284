// ---- numbers: exact where the document is

// Integers are numbers while those are exact and BigInts beyond; null is not an
// integer.
function fit(big) {
    const number = Number(big);

    return Number.isSafeInteger(number) ? number : big;
}

function exact(value) {
    if (typeof value === "number") return Number.isSafeInteger(value) ? value : null;
    if (typeof value === "bigint") return fit(value);
    return typeof value === "string" && /^-?[0-9]{1,40}$/.test(value)
        ? fit(BigInt(value)) : null;
}

function plus(a, b) {
    if (a === null || b === null) return null;
    if (typeof a === "number" && typeof b === "number") {
        const sum = a + b;

        if (Number.isSafeInteger(sum)) return sum;
    }
    return fit(BigInt(a) + BigInt(b));
}

function times(a, b) {
    if (a === null || b === null) return null;
    if (typeof a === "number" && typeof b === "number") {
        const product = a * b;

        if (Number.isSafeInteger(product)) return product;
    }
    return fit(BigInt(a) * BigInt(b));
}

function dividedUp(a, b) {
    if (a === null || b === null || b <= 0) return null;
    return fit((BigInt(a) + BigInt(b) - 1n) / BigInt(b));
}

// Numbers and BigInts, null last.
function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    return a < b ? -1 : a > b ? 1 : 0;
}

function grouped(integer) {
    return String(integer).replace(/\B(?=(\d{3})+$)/g, ",");
}

// Three digits and a unit; the exact number is for a title.
function scaled(value, step, units) {
    let number = Number(value), at = 0;

    while (Math.abs(number) >= step && at < units.length - 1) {
        number /= step;
        at += 1;
    }
    const digits = at === 0 ? 0 : Math.abs(number) >= 100 ? 0 : Math.abs(number) >= 10 ? 1 : 2;

    return number.toFixed(digits) + units[at];
}

function bytesText(value) {
    return value === null ? "unknown"
        : scaled(value, 1024, [" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"]);
}

function countText(value) {
    if (value === null) return "unknown";
    return Math.abs(Number(value)) < 100000 ? grouped(value)
        : scaled(value, 1000, ["", " K", " M", " B", " T", " P"]);
}

function hexText(value) {
    return value === null ? "unknown"
        : (value < 0 ? "-0x" + (-BigInt(value)).toString(16) : "0x" + value.toString(16));
}

function numberText(value) {
    if (typeof value !== "number") return value === null ? "" : String(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e9) return grouped(value);
    const size = Math.abs(value);

    if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(2);
    return size >= 1000 && Number.isFinite(value) ? grouped(Math.round(value))
        : String(Number(value.toPrecision(4)));
}

function percentText(part) {
    if (!Number.isFinite(part)) return "";
    const percent = part * 100;

    if (percent >= 1) return `${percent.toFixed(1)} %`;
    return percent < 1e-4 && percent > 0 ? `${percent.toExponential(0)} %`
        : `${Number(percent.toPrecision(2))} %`;
}

// ---- members of a document, which may be anything

const object = (value) =>
    value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
const list = (value) => (Array.isArray(value) ? value : []);
const string = (value, other = "") => (typeof value === "string" ? value : other);
const number = (value) =>
    (typeof value === "number" && Number.isFinite(value) ? value : null);
const has = (value) => value !== undefined && value !== null;

// Its own members alone: a key of a file may be "__proto__".
const member = (value, key) =>
    (Object.prototype.hasOwnProperty.call(object(value), key) ? value[key] : undefined);

// Likewise an index into a list may be "constructor".
const element = (values, index) => (Number.isInteger(index) ? values[index] : undefined);

// A number that is a statistic: infinite and NaN ones come as text.
function statistic(value) {
    if (typeof value === "number") return value;
    if (typeof value !== "string") return null;
    const big = exact(value);

    if (big !== null) return Number(big);
    return /^-?(inf|nan)/i.test(value)
        ? (/nan/i.test(value) ? NaN : value[0] === "-" ? -Infinity : Infinity) : null;
}

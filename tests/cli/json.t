#!/bin/sh
# SPDX-License-Identifier: MIT
#
# json.t - with --json standard output is one JSON document, whatever goes wrong
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

if ! command -v node >/dev/null 2>&1; then
    echo "1..0 # SKIP node is not installed"
    exit
fi

modelfile=$(realpath "${MODELFILE:-${BUILD:-build}/modelfile}")
fixtures=$(realpath "${FIXTURES:-fixtures}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-json.XXXXXX")
trap 'rm -rf "$dir"' EXIT
model=$fixtures/good-llama.gguf
mkdir "$dir/said"
count=0

# run ARGUMENT...: keeps what modelfile says, and with which exit code.
run() {
    count=$((count + 1))
    code=0
    "$modelfile" "$@" --json >"$dir/said/$count" 2>"$dir/err" || code=$?
    echo "$count $code $*" >>"$dir/runs"
}

# documents [WHAT]: each is one object, with an object for each file that
# was looked at. WHAT is "error": one that tells of one error, with the exit
# code; "files": there are files; else there are none.
documents() {
    # shellcheck disable=SC2016 # these are JavaScript's
    node -e '
        const fs = require("fs"), [dir, what] = process.argv.slice(1);
        let failed = 0;
        for (const line of fs.readFileSync(dir + "/runs", "utf8")
            .trim().split("\n")) {
            const [, number, code, words] = line.match(/^(\d+) (\d+) (.*)$/);
            const said = fs.readFileSync(dir + "/said/" + number, "utf8");
            let error;
            try {
                const answer = JSON.parse(said);
                if (Object.keys(answer)[0] !== "schema" ||
                    answer.schema !== 2 || !(answer.run.seconds >= 0) ||
                    Object.keys(answer).at(-1) !== "run")
                    throw new Error("no schema or no run");
                const files = answer.files ?? [];
                if (!files.every((file) => Object.keys(file)[0] === "file"))
                    throw new Error("not the objects of files");
                if (what !== "error" && (what === "files") !==
                    (files.length > 0))
                    throw new Error(`${files.length} files`);
                error = answer.error ?? files.find((file) => file.error)?.error;
            } catch (why) {
                console.log(`${words}: ${why.message}: ${said.slice(0, 300)}`);
                failed++;
                continue;
            }
            if (what === "error" && (code === "0" || !error ||
                error.code !== Number(code) ||
                said.split("\"error\":").length !== 2)) {
                console.log(`${words}: exit code ${code}, ${said}`);
                failed++;
            }
        }
        process.exit(failed > 0 ? 1 : 0);' "$dir" "${1:-}"
}

# ---- choices that make no sense, files that are not there

: >"$dir/runs"
cp "$model" "$dir/m.gguf"
echo nonsense >"$dir/text"
for what in "--tensor-type =q8_0" "--tensor-type x" "--override-kv bad" \
    "--override-kv a=int:x" "--prune-layers x" "--prune-layers 99" \
    "--imatrix none" "--keep-split" "--output-type none" "--to nonsense" \
    "--threads 0" "--max-memory 10k" "--nonsense"; do
    [ "$what" != --keep-split ] || what="$what --tensor-type a[=q8_0"
    # shellcheck disable=SC2086 # options are words
    run quantize "$model" "$dir/o.gguf" Q8_0 --allow-requantize $what
done
run quantize "$model" "$dir/o.gguf" nonsense
run quantize "$model" "$dir/o.gguf" Q8_0 many
run quantize "$model" - Q8_0
run quantize none "$dir/o.gguf" Q8_0
for command in convert dequantize "split --max-tensors 3" merge; do
    # shellcheck disable=SC2086
    {
        run $command none "$dir/o.gguf"
        run $command "$model" -
        run $command "$model" "$dir/none/o.gguf"
        run $command "$model"
        run $command "$model" "$dir/o.gguf" more
        run $command "$fixtures/bad-overlap.gguf" "$dir/o.gguf"
    }
done
run split "$model" "$dir/o.gguf"
run convert "$model" "$dir/o.gguf" --names nonsense
run convert "$model" "$dir/o.gguf" --shard-size x
for what in "" "general.name" "=x" "a.b:u9=1" "a.b:u8=x" "a.b=@none" \
    "general.alignment:u32=7"; do
    # shellcheck disable=SC2086
    run meta set "$dir/m.gguf" $what
done
run meta set - a=b
run meta set "$dir" a=b
run meta set none a=b
run meta unset "$dir/m.gguf" none
run meta list none
run meta get none key
run tensors info none
run tensors info "$model" --sort nonsense
run tensors stats none
run tensors export "$model" none "$dir/o.npy"
run tensors export "$model" token_embd.weight "$dir/none/o.npy"
run tensors export none none "$dir/o.npy"
for command in detect info validate hash; do
    run "$command" none
    run "$command"
    run "$command" --nonsense
done
run validate --rules --explain FILE-COUNT
run validate --rules "$model"
run validate --explain NONSENSE
run validate --baseline "$dir/none" "$model"
run validate --baseline "$dir/text" "$model"
run hash --check "$dir/none" "$model"
run hash --check "$dir/text" "$model"
run hash --check "$dir/text" --duplicates "$model"
run plan none
run plan "$model" --type-k nonsense
run plan "$model" --type-v q8_0 --fa off
run plan "$model" --ctx nonsense
run plan "$model" --fit nonsense
run plan "$fixtures/good-base.gguf" --fit 1G
run plan "$model" --plot "$dir/none/p.svg"
run plan "$model" --plot "$model" --force
run plan "$fixtures/good-base.gguf" --plot "$dir/p.svg"
run plan "$fixtures/good-base.gguf" --formula zigllama
run diff none "$model"
run diff "$model" none
run diff "$model" "$model" --values --no-data
run bench --isa nonsense
run bench --type nonsense
run bench --quantize Q8_0
run bench none
run nonsense
run help nonsense
check "a command line that is wrong is one document, with the error" \
    documents error

# ---- files that are damaged; with QUICK, every twelfth

every=1
[ -z "${QUICK:-}" ] || every=12
: >"$dir/runs"
find "$fixtures" -maxdepth 1 -type f \( -name '*.gguf' -o -name '*.apr' -o \
    -name '*.safetensors' -o -name '*.bin' -o -name '*.json' \) \
    ! -name 'good-many*' | LC_ALL=C sort |
    awk -v every="$every" 'NR % every == 0' >"$dir/files"
while read -r file; do
    for command in "tensors info" "tensors stats" "meta list --full" \
        "hash --duplicates" "validate --data" info detect plan "plan --fit 1G"; do
        # shellcheck disable=SC2086
        run $command "$file"
    done
    run diff "$file" "$model" --values
    run convert "$file" "$dir/o.gguf" --dry-run
    run dequantize "$file" "$dir/o.gguf" --force
    run quantize "$file" "$dir/o.gguf" Q4_0 --force
    rm -f "$dir/o.gguf"
done <"$dir/files"
for command in info detect hash validate; do
    run "$command" "$fixtures" none
done
check "so is what is said of damaged files" documents files

# ---- what looks at no file

: >"$dir/runs"
run help
run help tensors
run help tensors stats
run quantize --help
run version
run validate --rules
run validate --explain tensor-overlap
run bench --type q8_0 --rounds 1 --size 1M
check "help and the like are documents, too" documents

# The options that help lists are those that the command takes.
commands() {
    "$modelfile" help --json >"$dir/help" || return 1
    # shellcheck disable=SC2016 # these are JavaScript's
    node -e '
        const { spawnSync } = require("child_process");
        const fs = require("fs"), [program, path] = process.argv.slice(1);
        const help = JSON.parse(fs.readFileSync(path, "utf8"));
        const codes = help.exit_codes.map((each) => each.code).join();
        if (codes !== "0,1,2,3,4,5,129,130,143") throw new Error(codes);
        if (help.commands.length < 18 || help.options.length < 5)
            throw new Error("too few");
        for (const command of help.commands) {
            const words = [command.name, command.sub_command].filter(Boolean);
            for (const option of [...command.options, ...help.options]) {
                const value = option.kind === "flag" ? [] :
                    [{ choice: option.choices?.[0], size: "64M" }[option.kind]
                        ?? "1"];
                const ran = spawnSync(program,
                    [...words, option.name, ...value, "--help"]);
                if (ran.status !== 0 || ran.stdout.length < 100)
                    throw new Error(words.concat(option.name, value) + ": " +
                        ran.stderr);
            }
        }' "$modelfile" "$dir/help"
}
check "help --json lists options that are taken" commands

# shellcheck disable=SC2016 # these are JavaScript's
suffixes() {
    "$modelfile" version --json | node -e '
        const said = JSON.parse(require("fs").readFileSync(0, "utf8"));
        console.log(said.formats.map((format) => format.name + " " +
            format.suffix + " " + format.suffixes.sort().join()).join("\n"));'
}
all_suffixes() {
    suffixes >"$dir/suffixes"
    printf '%s\n' "gguf .gguf .gguf" "apr .apr .apr" \
        "pytorch .pt .pt" "npz .npz .npz" "npy .npy .npy" \
        "safetensors .safetensors .safetensors,.safetensors.index.json" \
        "parquet .parquet .parquet" \
        "imatrix .dat .dat" |
        diff - "$dir/suffixes"
}
check "version --json lists every suffix" all_suffixes

finish

// SPDX-License-Identifier: MIT
//
// search.js - finds sections of all pages, without a server
//
// index.js has a row for each section: page, anchor, title of the page, title
// of the section, its words.
"use strict";
{
    const field = document.getElementById("search");
    const found = document.getElementById("found");
    const MOST = 20;

    // The more of the words are in the title, the better; all must be somewhere.
    const rate = (row, words) => {
        const title = (row[2] + " " + row[3]).toLowerCase();
        const text = row[4].toLowerCase();
        let points = 0;

        for (const word of words) {
            if (row[3].toLowerCase() === word) points += 20;
            else if (title.includes(word)) points += 5;
            else if (text.includes(word)) points += 1;
            else return 0;
        }
        return points;
    };

    const show = (rows) => {
        found.replaceChildren(...rows.map((row) => {
            const item = document.createElement("li");
            const link = document.createElement("a");
            const from = document.createElement("small");

            link.href = row[0] + (row[1] ? "#" + row[1] : "");
            link.textContent = row[3];
            from.textContent = " " + row[2];
            item.append(link, from);
            return item;
        }));
        if (rows.length === 0 && field.value.trim() !== "") {
            const item = document.createElement("li");

            item.textContent = "Nothing has these words.";
            found.append(item);
        }
    };

    field.addEventListener("input", () => {
        const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
        const rated = words.length === 0 ? [] : INDEX
            .map((row) => [rate(row, words), row])
            .filter(([points]) => points > 0)
            .sort((a, b) => b[0] - a[0])
            .slice(0, MOST);

        show(rated.map(([, row]) => row));
    });
}

// SPDX-License-Identifier: MIT
//
// The page that draws the document of docs/report.md.  The files of this
// folder are one script, in the order of their names; this one opens what
// 99-end.js closes.
//
//     modelfilePage.show(document, source)
//
// Draws a document in place of what was shown.  `source`, if there is one, has
// async functions for what the document lacks; without one of them its button
// is not there:
//
//     source.values(model, tensor, first, count)  numbers of a tensor
//     source.entry(model, index)                  a metadata entry, in full
//     source.section(model, name)                 a member of a model, such as
//                                                 "plan", "tokenizer", "data"
//
// A document is never trusted: what has the wrong type is left out, and text
// goes to the page as text alone.
"use strict";

const modelfilePage = (function () {

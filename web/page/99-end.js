
if (typeof document !== "undefined") start();

// `parts` are for tests, which have no page.
return { show, parts: { exact, plus, times, dividedUp, compare, grouped, bytesText, countText,
                        hexText, labelOf, numberText, plural, visible, pieces, takeLines, decodeTensors, placeOf,
                        groupTensors, groupCells, matcher, globMatches, naturalKey, chosen, sorted,
                        decodePlan, longestFit, mixTotal, squarify, scaleOf, histogramBars } };
}());

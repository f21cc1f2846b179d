"use strict";
// Two rows that the reader chooses, on their common problems. All words are set as text, never as markup.
{
  const data = JSON.parse(document.getElementById("data").textContent);
  const picks = ["a", "b"].map((side) => document.getElementById(side));
  const body = document.getElementById("problems").tBodies[0];
  const made = (tag, words, name) => {
    const element = document.createElement(tag);
    element.textContent = words;
    if (name) element.className = name;
    return element;
  };
  const times = (ratio) => `${ratio.toFixed(ratio < 2 ? 3 : ratio < 100 ? 2 : 0)}×`;
  const scored = (figure) => {
    if (!figure || figure.value === null) return "none";
    const ends = figure.low === null || figure.high === null ? "" :
      ` (${Number(figure.low.toPrecision(3))} to ${Number(figure.high.toPrecision(3))})`;
    return `${Number(figure.value.toPrecision(4))}${figure.unit === "x" ? "×" : figure.unit && ` ${figure.unit}`}${ends}`;
  };
  const cell = (outcome) => {
    const timed = outcome.right && outcome.speedup !== null;
    const words = timed ? times(outcome.speedup) : outcome.right ? "right" : "failed";
    const made_ = made("td", words, outcome.right ? "number" : "number faint");
    made_.dataset.value = timed ? outcome.speedup : "";
    return made_;
  };
  const line = (problem, ours, theirs) => {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.className = "wrap";
    const link = made("a", problem.id);
    link.href = problem.page;
    head.append(link);
    const ratio = ours.speedup !== null && theirs.speedup !== null ? ours.speedup / theirs.speedup : null;
    const last = made("td", ratio === null ? "" : times(ratio), "number");
    last.dataset.value = ratio === null ? "" : ratio;
    row.append(head, cell(ours), cell(theirs), last);
    return row;
  };
  const show = () => {
    const [a, b] = picks.map((pick) => data.entries.find((entry) => entry.number === Number(pick.value)));
    const theirs = new Map(b.outcomes.map((outcome) => [outcome.problem, outcome]));
    const common = a.outcomes.filter((one) => theirs.has(one.problem) && !one.excluded && !theirs.get(one.problem).excluded);
    body.replaceChildren(...common.map((one) => line(data.problems[one.problem], one, theirs.get(one.problem))));
    const flipped = a.number > b.number;
    const pair = data.pairs.find((one) => one.a === Math.min(a.number, b.number) && one.b === Math.max(a.number, b.number));
    const caution = document.getElementById("caution");
    caution.hidden = !pair || !pair.caution;
    caution.textContent = pair ? `These two rows were ${pair.caution}.` : "";
    const rows = [];
    if (!pair) {
      rows.push(["Rows", "A and B are the same row; choose two."]);
    } else {
      const sides = flipped ? ["b", "a"] : ["a", "b"];
      const scores = pair.scores ? (flipped ? [...pair.scores].reverse() : pair.scores) : [null, null];
      const ratio = pair.ratio === null ? "no problem where both were timed" : flipped
        ? `${times(1 / pair.ratio)}${pair.low === null ? "" : ` (${times(1 / pair.high)} to ${times(1 / pair.low)})`}`
        : `${times(pair.ratio)}${pair.low === null ? "" : ` (${times(pair.low)} to ${times(pair.high)})`}`;
      rows.push(
        ["Common problems", `${pair.common}; both right ${pair.both}, only A ${pair[`only_${sides[0]}`]}, only B ${pair[`only_${sides[1]}`]}`],
        [`A's ${scores[0] ? scores[0].name : "score"}`, scored(scores[0])],
        [`B's ${scores[1] ? scores[1].name : "score"}`, scored(scores[1])],
        ["A / B", `${ratio}${pair.low === null ? "" : `, geometric mean over ${pair.timed} problems, 95 % interval`}`],
      );
    }
    document.getElementById("summary").replaceChildren(...rows.map(([name, words]) => {
      const both = document.createElement("div");
      both.append(made("dt", name), made("dd", words));
      return both;
    }));
  };
  if (data.entries.length > 1) {
    const asked = new URLSearchParams(location.hash.slice(1));
    picks.forEach((pick, at) => {
      const number = Number(asked.get(pick.id));
      pick.value = String(data.entries.some((entry) => entry.number === number) ? number : data.entries[at].number);
      pick.addEventListener("change", () => {
        history.replaceState(null, "", `#a=${picks[0].value}&b=${picks[1].value}`);
        show();
      });
    });
    document.getElementById("chosen").hidden = false;
    show();
  }
}

/** Style of the page. Its hash stands in the policy of the page, so no other style applies. */
export const STYLE = `
:root {
  --ink: #1b1f24; --soft: #59636e; --line: #d8dee4; --page: #fff; --card: #f6f8fa;
  --s0: #b4bcc6; --s1: #3b6fb6; --s2: #d98232; --s3: #3c9a86; --s4: #8b67b5; --s5: #c2566f; --s6: #8a7a5c;
  --warn: #b3261e; --good: #1a7f37;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6edf3; --soft: #9aa5b1; --line: #30363d; --page: #0d1117; --card: #161b22;
    --s0: #57606c; --s1: #6aa1ec; --s2: #e39a52; --s3: #54b8a3; --s4: #ab8ade; --s5: #e0798f; --s6: #b3a27f;
    --warn: #ff8a80; --good: #56d364;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 32px 24px 48px; max-width: 1080px; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums;
}
h1 { margin: 0; font-size: 24px; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 40px 0 12px; font-size: 17px; }
header p, .note, footer { margin: 4px 0 0; color: var(--soft); }
footer { margin-top: 40px; padding-top: 12px; border-top: 1px solid var(--line); font-size: 13px; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 12px; margin: 24px 0 16px; }
dl div { padding: 12px 14px; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
dt { color: var(--soft); font-size: 13px; }
dd { margin: 2px 0 0; }
dd b { display: block; font-size: 20px; font-weight: 600; line-height: 1.3; }
dd span { color: var(--soft); font-size: 13px; }
code, pre { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
.advice { margin: 0; }
.advice code { padding: 2px 6px; background: var(--card); border: 1px solid var(--line); border-radius: 6px; overflow-wrap: anywhere; }
.chart { display: grid; grid-template-columns: auto 1fr; grid-template-rows: 280px auto; column-gap: 10px; }
.chart svg { width: 100%; height: 100%; overflow: visible; }
.scale, .ends { display: flex; justify-content: space-between; color: var(--soft); font-size: 12px; line-height: 1; }
.scale { flex-direction: column; margin: -6px 0; text-align: right; }
.ends { grid-column: 2; padding-top: 8px; border-top: 1px solid var(--line); }
.grid, .kept { fill: none; vector-effect: non-scaling-stroke; }
.grid { stroke: var(--line); }
.kept { stroke: var(--ink); stroke-width: 1.5; }
.window { fill: none; vector-effect: non-scaling-stroke; stroke: var(--warn); stroke-width: 1.5; stroke-dasharray: 6 4; }
.chart rect { shape-rendering: crispEdges; }
.s0 { fill: var(--s0); } .s1 { fill: var(--s1); } .s2 { fill: var(--s2); } .s3 { fill: var(--s3); }
.s4 { fill: var(--s4); } .s5 { fill: var(--s5); } .s6 { fill: var(--s6); }
.cut { opacity: 0.35; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 14px 0 0; padding: 0; list-style: none; font-size: 13px; }
.legend li { overflow-wrap: anywhere; }
.legend svg { width: 11px; height: 11px; margin-right: 6px; vertical-align: -1px; border-radius: 2px; }
.legend svg:has(path) { width: 22px; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 6px 8px; border-bottom: 1px solid var(--line); text-align: right; font-weight: 400; }
thead th { color: var(--soft); font-size: 13px; vertical-align: bottom; }
th:first-child { padding-left: 0; text-align: left; overflow-wrap: anywhere; }
.bar { width: 32%; padding-right: 0; }
.bar svg { display: block; width: 100%; height: 12px; }
details { border-bottom: 1px solid var(--line); }
summary { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 16px; padding: 8px 2px; cursor: pointer; list-style: none; }
summary b { position: relative; padding-left: 18px; overflow-wrap: anywhere; font-weight: 600; }
summary b::before { content: "\\25b8"; position: absolute; left: 0; color: var(--soft); font-weight: 400; }
details[open] summary b::before { content: "\\25be"; }
summary span { color: var(--soft); font-size: 13px; text-align: right; }
summary .size { grid-column: 1; padding-left: 18px; text-align: left; }
summary .why { grid-column: 1 / -1; padding-left: 18px; text-align: left; }
summary .less { color: var(--warn); }
summary .whole { color: var(--good); }
pre { max-height: 420px; margin: 0 0 12px; padding: 12px; overflow: auto; background: var(--card); border: 1px solid var(--line); border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; }
mark { padding: 1px 4px; border-radius: 4px; background: var(--warn); color: var(--page); }
@media (max-width: 640px) {
  body { padding: 20px 16px 32px; }
  dl { grid-template-columns: 1fr 1fr; }
  .chart { grid-template-rows: 200px auto; }
  .bar, .share { display: none; }
  th, td { padding: 6px 5px; }
  td:last-child, thead th:nth-last-child(2), td:nth-last-child(2) { padding-right: 0; }
}
`

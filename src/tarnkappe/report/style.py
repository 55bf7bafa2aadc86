"""The look of a report: one style sheet, light and dark, screen and paper."""

from __future__ import annotations

#: Every text colour has a contrast of at least 4.5 : 1 on the backgrounds it stands on, in both schemes.
STYLE = """
:root{color-scheme:light dark;
--paper:#fff;--panel:#f5f7f8;--ink:#1c2126;--muted:#56606a;--rule:#d5dbe0;--link:#1f5a83;--shade:rgb(0 0 0/.13);
--bar:#2f6a94;--track:#e6ebef;--ok:#17653f;--okbg:#eef6f1;--warn:#7a4d00;--warnbg:#fdf6e7;--bad:#a1261b;--badbg:#fcefed;
--sans:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif;
--serif:"Iowan Old Style","Palatino Linotype",Palatino,"Book Antiqua","Noto Serif","Liberation Serif",Georgia,serif;
--mono:ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace}
@media (prefers-color-scheme:dark){:root{
--paper:#14181c;--panel:#1b2026;--ink:#e4e7ea;--muted:#a2acb6;--rule:#343c44;--link:#8cc1e6;--shade:rgb(0 0 0/.55);
--bar:#6aa9d2;--track:#2a323a;--ok:#74cfa0;--okbg:#16241d;--warn:#e6b858;--warnbg:#272114;--bad:#ff9d90;--badbg:#2d1a18}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 var(--sans);overflow-wrap:break-word}
.sheet{max-width:60rem;margin:0 auto;padding:3.5rem 1.5rem 4rem}
h1,h2,h3,.verdict{font-family:var(--serif);font-weight:600;line-height:1.25;text-wrap:pretty}
h1{font-size:2.25rem;margin:.35rem 0 .75rem;letter-spacing:-.01em}
h2{font-size:1.5rem;margin:0 0 .75rem}
h3{font-size:1.125rem;margin:0 0 .5rem}
p{margin:0 0 1rem;max-width:42rem}
section{margin-top:3.5rem}
main>section{padding-top:1.75rem;border-top:1px solid var(--rule)}
main>section:first-child{margin-top:2rem}
a{color:var(--link);text-underline-offset:.15em}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.small{font-size:.875rem;color:var(--muted)}
.eyebrow{margin:0;font-size:.8125rem;letter-spacing:.08em;text-transform:uppercase;color:var(--muted)}
.lead{font-size:1.125rem;color:var(--muted)}
nav{margin-top:1.5rem;font-size:.875rem}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.125rem;margin:0;padding:0;list-style:none}
.v{unicode-bidi:isolate;overflow-wrap:anywhere}
.banner{margin:0 0 2rem;padding:.625rem 1rem;max-width:none;border:1px solid var(--bad);color:var(--bad);
background:var(--badbg);font-size:.875rem;font-weight:600}
.proof{margin-top:1rem;padding:1.75rem 1.75rem 1.5rem;border-left:5px solid var(--ok);background:var(--okbg)}
.proof.failed{border-color:var(--bad);background:var(--badbg)}
.proof.warned{border-color:var(--warn);background:var(--warnbg)}
.verdict{font-size:1.5rem;margin:0 0 .5rem;max-width:none}
.proof p:last-child{margin:0}
.yes,.no{font-weight:600;white-space:nowrap}
.yes,.proof .mark{color:var(--ok)}
.no,.proof.failed .mark{color:var(--bad)}
.proof.warned .mark{color:var(--warn)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:1.5rem 2rem;margin:2.25rem 0}
.figures div{border-top:2px solid var(--ink);padding-top:.5rem}
.figures dt{font-size:.875rem;color:var(--muted)}
.figures dd{margin:0;font:600 1.75rem/1.2 var(--serif);font-variant-numeric:lining-nums tabular-nums}
.figures dd small{display:block;font:400 .8125rem/1.4 var(--sans);color:var(--muted);margin-top:.125rem}
.scroll{overflow-x:auto;margin:0 0 1.5rem;
background:linear-gradient(90deg,var(--paper) 30%,transparent) 0 0/2rem 100% no-repeat local,
linear-gradient(270deg,var(--paper) 30%,transparent) 100% 0/2rem 100% no-repeat local,
linear-gradient(90deg,var(--shade),transparent) 0 0/.625rem 100% no-repeat scroll,
linear-gradient(270deg,var(--shade),transparent) 100% 0/.625rem 100% no-repeat scroll}
table{border-collapse:collapse;width:100%;font-size:.9375rem;line-height:1.45;
font-variant-numeric:lining-nums tabular-nums}
caption{text-align:left;padding:0 0 .5rem;font-weight:600}
caption span{display:inline-block;position:sticky;left:0;max-width:calc(100vw - 2rem)}
th,td{text-align:left;vertical-align:top;padding:.5rem 1.25rem .5rem 0;border-bottom:1px solid var(--rule)}
th:last-child,td:last-child{padding-right:0}
thead th{font-size:.8125rem;color:var(--muted);border-bottom:1px solid var(--muted);vertical-align:bottom}
tbody th{font-weight:600}
.columns tbody th{min-width:8.5rem}
.criteria tbody th{min-width:6.5rem}
.codebook td:nth-child(2){min-width:8rem}
.num{text-align:right;white-space:nowrap}
.tabular{font-variant-numeric:tabular-nums}
td .v,th .v{display:inline-block;max-width:20rem;vertical-align:top;overflow-wrap:break-word;white-space:normal}
th>.small>.v{display:inline;overflow-wrap:anywhere}
.columns{min-width:50rem}
.columns td:nth-child(2),.columns td:nth-child(4){white-space:nowrap}
.columns td:last-child{min-width:18rem}
.columns thead th:nth-child(4){white-space:nowrap}
.columns li .small{padding-left:.375em;white-space:nowrap}
td ul{margin:0;padding:0;list-style:none}
td>.small,th>.small{display:block;font-weight:400}
.arrow{color:var(--muted);padding:0 .25em}
dl.facts{display:grid;grid-template-columns:minmax(8rem,auto) 1fr;gap:.25rem 1.5rem;margin:0 0 1.5rem}
.plain-words{margin-top:1.5rem}.plain-words ul{margin:0;padding:0;list-style:none}.plain-words li+li{margin-top:.25rem}
.plain-words dl.facts{gap:.75rem 1.5rem}.plain-words dt{padding-top:0}
dl.facts dt{color:var(--muted)}
dl.facts dd{margin:0;min-width:0}
code,pre{font-family:var(--mono);font-size:.84375em;font-variant-ligatures:none}
code{overflow-wrap:anywhere}
pre code{font-size:inherit;overflow-wrap:normal}
pre{margin:0 0 1rem;padding:1rem;background:var(--panel);overflow-x:auto;line-height:1.5}
pre.wrap{white-space:pre-wrap}
pre.wrap span{white-space:pre}
.alerts{list-style:none;margin:0;padding:0;max-width:46rem}
.alerts li{margin:0 0 .75rem;padding:.75rem 1rem;border-left:4px solid var(--warn);background:var(--warnbg)}
.alerts p{margin:0}
.alerts .code{color:var(--warn);font-weight:600;margin-right:.5em}
.alerts .small{margin-top:.25rem}
.card{margin:0 0 2rem;max-width:46rem}
figure{margin:1.5rem 0 1rem;max-width:46rem}
figcaption{font-weight:600;font-size:.9375rem;margin-bottom:1rem}
figcaption .small{display:block;font-weight:400}
.torn{display:flex;flex-wrap:wrap;gap:.75rem 2.5rem;margin:0;padding:0;list-style:none;overflow:hidden}
.torn li{position:relative;flex:1 1 12rem;padding:.75rem 1rem;border:1px solid var(--rule);background:var(--panel)}
.torn li+li::before{content:"⇠ ? ⇢";position:absolute;right:100%;top:50%;width:2.5rem;translate:0 -50%;
text-align:center;font-size:.8125rem;color:var(--warn);white-space:nowrap}
.torn .small,.torn strong{display:block}
.torn .join{display:inline-block;margin-top:.5rem;padding:0 .5rem;border:1px solid var(--link);color:var(--link);
font-size:.875rem}
summary{cursor:pointer;color:var(--link);font-size:.875rem;padding:.375rem 0;margin-top:.5rem}
details .scroll,details pre{margin-top:.5rem}
main ul.plain{margin:0 0 1rem;padding-left:1.25rem;max-width:42rem}
main ul.plain li{margin-bottom:.5rem}
footer{margin-top:3.5rem;padding-top:1rem;border-top:1px solid var(--rule);font-size:.875rem;color:var(--muted)}
footer p{margin:0;max-width:none}
footer.internal{color:var(--bad);border-color:var(--bad);font-weight:600}
@media (max-width:37.5rem){
.sheet{padding:2rem 1rem 3rem}
h1{font-size:1.75rem}h2{font-size:1.3125rem}.verdict{font-size:1.3125rem}
.proof{padding:1.25rem}
section{margin-top:2.5rem}
.figures{grid-template-columns:1fr 1fr;gap:1.25rem 1rem}.figures dd{font-size:1.375rem}
dl.facts{grid-template-columns:1fr;gap:0}dl.facts dd{margin-bottom:.75rem}
table{font-size:.875rem}th,td{padding-right:.75rem}
.chart .minor{display:none}}
@page{size:auto;margin:18mm 18mm 16mm;@bottom-right{content:counter(page);font:9pt sans-serif;color:#56606a}}
@media print{
:root{color-scheme:light;--paper:#fff;--panel:#f5f7f8;--ink:#000;--muted:#4a535c;--rule:#c3cad0;--link:#000;
--bar:#2f6a94;--track:#e6ebef;--ok:#17653f;--okbg:#fff;--warn:#7a4d00;--warnbg:#fff;--bad:#a1261b;--badbg:#fff}
html{font-size:13px}
body{font-size:10pt;line-height:1.45}
.sheet{display:table;table-layout:fixed;width:100%;max-width:none;padding:0}
nav,summary{display:none}
.figures{grid-template-columns:repeat(4,1fr);gap:0 1.5rem;margin:1.5rem 0}
section{margin-top:8mm}
main>section{padding-top:4mm}
h1{font-size:20pt}h2{font-size:14pt}.verdict{font-size:14pt}
h1,h2,h3,caption,figcaption{break-after:avoid;break-inside:avoid}
tr,li,.chart,.card,.proof,.figures,.criteria{break-inside:avoid}
tbody tr:nth-child(-n+2){break-before:avoid}
thead{display:table-header-group}
p,li{orphans:3;widows:3}
.proof,.alerts li,pre{border:1px solid var(--rule);border-left-width:4px}
.proof{border-left-color:var(--ok)}
.proof.warned{border-left-color:var(--warn)}
.scroll{overflow:visible;background:none}
.columns,.columns td:last-child{min-width:0}
.v,td .v,th .v{overflow-wrap:anywhere}
table,td .small,th .small{font-size:9pt}
pre,pre code,pre.wrap span{white-space:pre-wrap;overflow-wrap:anywhere;font-size:8pt}
details::details-content{content-visibility:visible;block-size:auto}
rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}
footer.internal{display:table-footer-group;break-inside:avoid;font-size:9pt}
footer.internal p{padding-top:3mm}}
"""

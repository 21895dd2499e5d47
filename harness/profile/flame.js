/*
 * A click zooms to a frame, "Search" (or Ctrl-F) marks the functions that match a regular
 * expression and says their share, the pointer shows a frame in full. The address keeps what is
 * shown, as #zoom=N&search=WORD, to be passed on as a link. In an SVG file the picture is the
 * document, in a page the figure around it: there it keeps to the width of the page, and only
 * the first figure has the address. This file must stay free of the ends of a CDATA section and
 * of a script element.
 */
(function () {
'use strict';
var CHAR = 7, page = document.documentElement, alone = page.localName === 'svg';
var root = alone ? page : document.currentScript.parentNode;
var nth = [].indexOf.call(document.querySelectorAll('.flame'), root);
var by = function (name) { return root.querySelector('.' + name); };
var svg = by('frames'), labels = by('labels'), box = svg.viewBox.baseVal;
var total = box.width, height = box.height;
var MARGIN = svg.x.baseVal.value, HEAD = svg.y.baseVal.value, px = svg.width.baseVal.value;
var view = {x: 0, w: total}, zoomed = 0, word = '';
var frames = Array.prototype.map.call(svg.children, function (rect, i) {
  var text = rect.firstChild.textContent, cut = text.lastIndexOf('\n');
  var a = function (n) { return +rect.getAttribute(n); };
  rect.number = i;
  rect.id = (nth ? 'f' + nth + '-' : 'f') + i;
  return {
    rect: rect, name: text.slice(0, cut), about: text.slice(cut + 1), x: a('x'), w: a('width'), y: a('y')
  };
});
function label(f) {
  var from = Math.max(f.x, view.x), to = Math.min(f.x + f.w, view.x + view.w), scale = px / view.w;
  var fits = Math.floor(((to - from) * scale - 4) / CHAR), t;
  if (fits < 3) return;
  t = document.createElementNS(svg.namespaceURI, 'text');
  t.setAttribute('x', MARGIN + (from - view.x) * scale + 3);
  t.setAttribute('y', HEAD + f.y + 12);
  t.textContent = f.name.length <= fits ? f.name : f.name.slice(0, fits - 2) + '..';
  labels.appendChild(t);
}
function draw() {
  svg.setAttribute('viewBox', [view.x, 0, view.w, height].join(' '));
  labels.textContent = '';
  frames.forEach(function (f) {
    f.rect.classList.toggle('p', f.w > view.w);
    label(f);
  });
  by('reset').classList.toggle('hide', view.w === total);
}
function fit(room) {
  if (px === room - 2 * MARGIN) return;
  px = room - 2 * MARGIN;
  svg.ownerSVGElement.setAttribute('viewBox', [0, 0, room, height].join(' '));
  svg.setAttribute('width', px);
  draw();
}
function fit_page() {
  fit(Math.max(200, Math.round(svg.ownerSVGElement.getBoundingClientRect().width)));
}
function keep() {
  var hash = '#zoom=' + zoomed + '&search=' + encodeURIComponent(word);
  if (nth) return;
  try {
    history.replaceState(null, '', zoomed || word ? hash : '#');
  } catch (e) { /* no address to keep it in */ }
}
function zoom(i) {
  var f = frames[i] || frames[0];
  zoomed = frames[i] ? i : 0;
  view = {x: f.x, w: f.w};
  draw();
}
function search(what) {
  var found = 0, reached = {}, re = null;
  word = what;
  try {
    re = what ? new RegExp(what) : null;
  } catch (e) {
    re = {test: function (s) { return s.indexOf(what) >= 0; }};
  }
  frames.slice().sort(function (a, b) { return b.w - a.w || b.y - a.y; }).forEach(function (f) {
    var hit = re !== null && re.test(f.name), end;
    f.rect.classList.toggle('m', hit);
    if (!hit) return;
    for (end in reached)
      if (f.x >= reached[end].x && f.x + f.w <= reached[end].x + reached[end].w) return;
    reached[f.x + '+' + f.w] = f;
    found += f.w;
  });
  by('found').textContent = what ? 'found: ' + (100 * found / total).toFixed(2) + ' %' : '';
  by('search').textContent = what ? 'Reset search' : 'Search';
}
function ask() {
  search(word ? '' : prompt('Functions to mark (a regular expression):') || '');
  keep();
}
function frame_of(event) { return event.target.parentNode === svg ? event.target.number : -1; }
function act(id, what) {
  by(id).addEventListener('click', what);
  if (alone) by(id).addEventListener('keydown', function (e) { if (e.key === 'Enter') what(); });
}
function decoded(text) {
  try { return decodeURIComponent(text); } catch (e) { return text; }
}
function from_address() {
  var m = nth ? null : /^#zoom=(\d+)&search=(.*)$/.exec(location.hash);
  if (!m && !alone && location.hash) return;
  zoom(m ? +m[1] : 0);
  search(m ? decoded(m[2]) : '');
}
svg.addEventListener('click', function (e) {
  if (frame_of(e) >= 0) { zoom(frame_of(e)); keep(); }
});
svg.addEventListener('mouseover', function (e) {
  var f = frames[frame_of(e)];
  by('about').textContent = f ? f.name + ': ' + f.about : '';
});
act('reset', function () { zoom(0); keep(); });
act('search', ask);
by('search').classList.remove('hide');
if (alone) window.addEventListener('keydown', function (e) {
  if ((e.ctrlKey || e.metaKey) && e.key === 'f') { e.preventDefault(); ask(); }
});
window.addEventListener('hashchange', from_address);
from_address();
if (alone) {
  window.scrollTo(0, page.height.baseVal.value);
} else {
  fit_page();
  by('box').scrollTop = by('box').scrollHeight;
  window.addEventListener('resize', fit_page);
  /* The whole of it on one sheet: a deep one is made smaller. */
  window.addEventListener('beforeprint', function () {
    fit(Math.max(700, Math.round(0.9 * height)));
  });
  window.addEventListener('afterprint', fit_page);
}
})();

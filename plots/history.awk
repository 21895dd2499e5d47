# SPDX-License-Identifier: GPL-2.0-or-later
# history.awk -v dir=DIR DATA: cuts what `bpfbench history --format tsv` printed into figures, one for each scenario, drive
# and parameter. For each, DIR/NAME.1, .2, ... hold the points of its curves and DIR/NAME.vars what style.gp, key.gp and
# history.gp must know of them; "history<TAB>NAME<TAB>TITLE" goes to stdout, or "history<TAB>-<TAB>WHY" when there is
# nothing to draw (it takes two runs).
#
# A curve is in percent above its reference, the baseline that the newest run was judged by or, where none was judged, the
# median. Its points: run, percent, kind (0 nothing to say, 1 suspect, 2 regressed, 3 improved, 4 not judged), change.

BEGIN {
	FS = "\t"
	split("learning 0 steady 0 void 0 suspect 1 regressed 2 improved 3 - 4", words, " ")
	for (i = 1; i in words; i += 2)
		kind_of[words[i]] = words[i + 1]
}

# A gnuplot string: in single quotes nothing is special but the quote itself.
function quote(text)
{
	gsub(/'/, "''", text)
	return "'" text "'"
}

function file_name(text)
{
	gsub(/[^A-Za-z0-9._=-]/, "_", text)
	return text
}

# What people read: "stack depth 8", "freq 100 Hz" (units are the last word of a name).
function param_text(param, value,    unit)
{
	unit = ""
	if (sub(/_hz$/, "", param)) unit = " Hz"
	else if (sub(/_ns$/, "", param)) unit = " ns"
	else if (sub(/_us$/, "", param)) unit = " µs"
	else if (sub(/_bytes$/, "", param)) unit = " bytes"
	gsub(/_/, " ", param)
	return param " " value unit
}

# The median of v[1..n], which is sorted in place.
function median(v, n,    i, j, x)
{
	for (i = 2; i <= n; i++) {
		x = v[i]
		for (j = i - 1; j >= 1 && v[j] > x; j--)
			v[j + 1] = v[j]
		v[j + 1] = x
	}
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}

function begin_curve(    name)
{
	name = "history-" $3 "-" $5 ($6 == "-" ? "" : "-" $6 "-" $7)
	fig = file_name(name)
	if (!(fig in n_curves)) {
		figures[++n_figures] = fig
		group[fig] = $3 SUBSEP $5 SUBSEP $6
		n_values[group[fig]]++
		title[fig] = $3 ", " $5 ($6 == "-" ? "" : ", " param_text($6, $7))
	}
	curve = ++n_curves[fig]
	variant[fig, curve] = $4
	# A variant has the same colour in every figure of its scenario: its place among those that are no anchor.
	if (!(($3, $4) in colour_of))
		colour_of[$3, $4] = $8 == "anchor" ? 0 : ++n_colours[$3]
	colour[fig, curve] = colour_of[$3, $4]
	column = $9 == "ratio" ? 9 : 6
	n = 0
	baseline = "NaN"
}

function add_point()
{
	date[$1] = substr($2, 1, 10)
	if ($1 + 0 > last_run)
		last_run = $1 + 0
	if ($column == "NaN" || $column <= 0)
		return
	n++
	run[n] = $1
	value[n] = $column + 0
	mark[n] = $16
	change[n] = $17
	if ($13 != "NaN")
		baseline = $13 + 0
}

function end_curve(    i, file, sorted)
{
	if (!curve)
		return
	for (i = 1; i <= n; i++)
		sorted[i] = value[i]
	if (baseline == "NaN" && n)
		baseline = median(sorted, n)
	file = dir "/" fig "." curve
	for (i = 1; i <= n; i++) {
		level[fig, curve] = 100 * (value[i] / baseline - 1)
		printf "%d\t%.6g\t%d\t%d\n", run[i], level[fig, curve], kind_of[mark[i]], change[i] > file
	}
	newest[fig, curve] = n ? mark[n] : "-"
	points[fig, curve] = n
	close(file)
	curve = 0
}

# At most six dates along the axis, and a day only once.
function tics(    i, step, text, day)
{
	step = last_run > 6 ? int((last_run + 5) / 6) : 1
	for (i = 1; i <= last_run; i += step) {
		if (date[i] == day)
			continue
		day = date[i]
		text = text (text == "" ? "" : ", ") quote(day) " " i
	}
	return text
}

# The curves with points, in the order in which they stand at the right of the picture.
function sort_curves(name,    i, j, m)
{
	m = 0
	for (i = 1; i <= n_curves[name]; i++) {
		if (points[name, i] < 2)
			continue
		for (j = ++m; j > 1 && level[name, order[j - 1]] < level[name, i]; j--)
			order[j] = order[j - 1]
		order[j] = i
	}
	return m
}

function write_vars(name, m,    i, k, file)
{
	file = dir "/" name ".vars"
	printf "title = %s\nsource_run = %s\nsource_machine = %s\n", quote(title[name]),
		quote(last_run " stored runs"), quote(date[1] " to " date[last_run]) > file
	printf "n_runs = %d\ndates = \"(%s)\"\nn_curves = %d\n", last_run, tics(), m > file
	printf "array file[%d]; array variant[%d]; array colour[%d]; array points[%d]\n", m, m, m, m > file
	printf "array newest[%d]; array mark[%d]\n", m, m > file
	for (k = 1; k <= m; k++) {
		i = order[k]
		printf "file[%d] = %s\nvariant[%d] = %s\n", k, quote(dir "/" name "." i), k, quote(variant[name, i]) > file
		printf "colour[%d] = %d; points[%d] = %d; newest[%d] = %.6g\n", k, colour[name, i], k, points[name, i], k,
			level[name, i] > file
		printf "mark[%d] = %s\n", k, quote(newest[name, i]) > file
	}
	close(file)
}

/^# history\t/ && $2 != "case" { end_curve(); begin_curve(); next }
/^#/ || !NF { next }
curve { add_point() }

END {
	end_curve()
	for (f = 1; f <= n_figures; f++) {
		m = sort_curves(figures[f])
		# A parameter with more values (256 inputs) has no figure for each of them: figures.awk says the same.
		if (m && n_values[group[figures[f]]] <= 16) {
			write_vars(figures[f], m)
			printf "history\t%s\t%s\n", figures[f], title[figures[f]]
			drawn = 1
		}
	}
	if (!drawn)
		print "history\t-\tit takes two runs that were stored"
}

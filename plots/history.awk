# SPDX-License-Identifier: GPL-2.0-or-later
# history.awk (after shared.awk) -v dir=DIR -v colours=FILE [-v this=ID] [-v most_tics=N] DATA: cuts what `bpfbench history --format tsv` printed into
# figures, one for each scenario, drive and parameter. For each, DIR/NAME.1, .2, ... hold the points of its curves and
# DIR/NAME.vars what style.gp, key.gp and history.gp must know of them; "history<TAB>NAME<TAB>TITLE<TAB>SCENARIO<TAB>DRIVE<TAB>PARAM" goes to stdout, or
# "history<TAB>-<TAB>WHY" when there is nothing to draw (it takes two runs).
#
# A curve is the judged figure (column 22), in percent above the baseline that the newest run was judged by (column 13, in the
# same unit) or, where none was judged, above the median; of two runs, above the first. Its points: run, percent, kind (0 nothing to say, 1 suspect, 2 regressed, 3 improved, 4 not judged), change.

BEGIN {
	FS = "\t"
	if (!most_tics)
		most_tics = 6
	split("learning 0 steady 0 void 0 suspect 1 regressed 2 improved 3 - 4", words, " ")
	for (i = 1; i in words; i += 2)
		kind_of[words[i]] = words[i + 1]
}

function begin_curve(    name)
{
	name = "history-" joined($3, $5, "-") ($6 == "-" ? "" : "-" $6 "-" $7)
	fig = file_name(name)
	if (!(fig in n_curves)) {
		figures[++n_figures] = fig
		group[fig] = $3 SUBSEP $5 SUBSEP $6
		n_values[group[fig]]++
		key[fig] = $3 FS $5 FS $6
		of_value[fig] = $6 == "-" ? "" : param_text($6, value_text($2, $6, $7))
		title[fig] = joined($3, $5, ", ") ($6 == "-" ? "" : ", " of_value[fig])
	}
	curve = ++n_curves[fig]
	variant[fig, curve] = $4
	colour[fig, curve] = colour_of($3, $4, $8 == "anchor")
	n = 0
	baseline = "NaN"
}

function add_point()
{
	started[$1] = $2
	if ($4 == this)
		run_of_this = $1
	if ($1 + 0 > last_run)
		last_run = $1 + 0
	if (number($22) == "NaN" || $22 <= 0)
		return
	is_in[fig, $1] = 1
	n++
	run[fig, curve, n] = $1
	value[n] = $22 + 0
	mark[n] = $16
	change[fig, curve, n] = $17
	if ($13 != "NaN")
		baseline = $13 + 0
}

# What the figures of a curve of n points are compared with.
function zero_of(n) { return baseline != "NaN" ? "the baseline of the newest run" : n == 2 ? "the first run" : "the median of the runs" }

function end_curve(    i, sorted)
{
	if (!curve)
		return
	for (i = 1; i <= n; i++)
		sorted[i] = value[i]
	if (n > 1)
		zero[fig] = zero[fig] == "" || zero[fig] == zero_of(n) ? zero_of(n) : "the baseline of the newest run, or the median where there is none"
	if (baseline == "NaN" && n)
		baseline = n == 2 ? value[1] : median(sorted, n)
	for (i = 1; i <= n; i++) {
		percent[fig, curve, i] = level[fig, curve] = 100 * (value[i] / baseline - 1)
		kind[fig, curve, i] = kind_of[mark[i]]
	}
	newest[fig, curve] = n ? mark[n] : "-"
	points[fig, curve] = n
	curve = 0
}

# Runs of other scenarios leave no gaps: position[] of a run among those of the figure, and its day, or within a day its
# time (with seconds if two tics share a minute), where there is room for that (`most_tics` along the axis). Texts and positions are data of gnuplot's, no command.
function write_tics(name, file,    r, n, t, step, day, at, last, digits)
{
	n = 0
	for (r = 1; r <= last_run; r++)
		if ((name, r) in is_in)
			position[r] = ++n
	step = n > most_tics ? int((n + most_tics - 1) / most_tics) : 1
	printf "n_runs = %d\nthis_run = %d\nn_tics = %d\n", n, position_of_this(name), int((n + step - 1) / step) > file
	printf "array tic_at[%d]; array tic_name[%d]\n", int((n + step - 1) / step), int((n + step - 1) / step) > file
	digits = 5
	for (r = 1; r <= last_run; r++)
		if ((name, r) in is_in && !((position[r] - 1) % step)) {
			if (substr(started[r], 1, 16) == last)
				digits = 8
			last = substr(started[r], 1, 16)
		}
	for (r = 1; r <= last_run; r++) {
		if (!((name, r) in is_in) || (position[r] - 1) % step)
			continue
		at = substr(started[r], 1, 10) == day ? substr(started[r], 12, digits) : substr(started[r], 1, 10)
		day = substr(started[r], 1, 10)
		printf "tic_at[%d] = %d; tic_name[%d] = %s\n", ++t, position[r], t, quote(at == last ? "" : at) > file
		last = at
	}
	n_positions = n
}

function position_of_this(name) { return this != "" && (name, run_of_this) in is_in ? position[run_of_this] : 0 }

function write_points(name, i,    k, file)
{
	file = dir "/" name "." i
	for (k = 1; k <= points[name, i]; k++)
		printf "%d\t%.6g\t%d\t%d\n", position[run[name, i, k]], percent[name, i, k], kind[name, i, k],
			change[name, i, k] > file
	close(file)
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
	write_tics(name, file)
	printf "zero = %s\n", quote(zero[name]) > file
	printf "title = %s\nsource_run = %s\nsource_machine = %s\n", quote(title[name]),
		quote("bpfbench " machine[2] ", " n_positions " stored runs"),
		quote("Linux " machine[3] ", " machine[4] ", clock " machine[5] ", until " date_text(started[last_run])) > file
	printf "of_value = %s\nn_curves = %d\n", quote(of_value[name]), m > file
	printf "array file[%d]; array variant[%d]; array colour[%d]; array points[%d]\n", m, m, m, m > file
	printf "array newest[%d]; array mark[%d]\n", m, m > file
	for (k = 1; k <= m; k++) {
		i = order[k]
		write_points(name, i)
		printf "file[%d] = %s\nvariant[%d] = %s\n", k, quote(dir "/" name "." i), k, quote(variant[name, i]) > file
		printf "colour[%d] = %d; points[%d] = %d; newest[%d] = %.6g\n", k, colour[name, i], k, points[name, i], k,
			level[name, i] > file
		printf "mark[%d] = %s\n", k, quote(newest[name, i]) > file
	}
	close(file)
}

/^# machine\t/ && !/^# machine\tbpfbench\tkernel/ { split($0, machine, FS) }
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
			printf "history\t%s\t%s\t%s\n", figures[f], title[figures[f]], key[figures[f]]
			drawn = 1
		}
	}
	save_colours()
	if (!drawn)
		print "history\t-\tit takes two runs that were stored"
}

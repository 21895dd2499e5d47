# SPDX-License-Identifier: GPL-2.0-or-later
# figures.awk -v dir=DIR [-v suffix=TEXT] DATA DATA: cuts what `bpfbench show --format plot` printed (given twice: the
# first reading finds colours and ranges, the second writes) into figures. For each, DIR/NAME.1, .2, ... hold the points of
# its curves and DIR/NAME.vars what the scripts must know of them; "KIND<TAB>NAME<TAB>TITLE" goes to stdout, and
# "KIND<TAB>-<TAB>WHY" for a kind that the run has no data for. KIND.gp draws it.
#
# How to add a plot: a row in BEGIN below, and a script KIND.gp that reads the variables of write_vars().

BEGIN {
	FS = "\t"
	# The kind; the block it draws; whether every parameter value is a figure of its own; the only parameter that
	# it is for (any, if empty); how many points one of its curves must have, and what to say where there is none
	# (nothing, if empty).
	kind("ecdf", "ecdf", 1, "", 2, "no valid samples")
	kind("backlog", "backlog", 1, "", 2, "")
	kind("slowdown", "slowdown", 0, "freq_hz", 1, "")
	kind("depth", "cost", 0, "stack_depth", 2, "no program was measured at two values of stack_depth")
	kind("input", "cost", 0, "input", 17, "")	# a few inputs are no curve
	most_values = 16	# a parameter with more has no figure for each of them
	fields["ecdf"] = "case scenario variant drive param value role samples p50 p90 p99 sample"
	fields["backlog"] = "case scenario variant drive param value role"
	fields["cost"] = fields["slowdown"] = "scenario variant drive param role"
}

function kind(name, block, by_value, only_param, min_points, otherwise)
{
	n_kinds++
	k_name[n_kinds] = name
	k_block[n_kinds] = block
	k_by_value[n_kinds] = by_value
	k_param[n_kinds] = only_param
	k_min_points[n_kinds] = min_points
	k_otherwise[n_kinds] = otherwise
}

# "# ecdf<TAB>..." into h["scenario"], h["variant"], ...
function parse_head(    i, n, names)
{
	h["block"] = substr($1, 3)
	n = split(fields[h["block"]], names, " ")
	h["p50"] = h["p90"] = h["p99"] = h["samples"] = h["value"] = h["sample"] = ""
	for (i = 1; i <= n; i++)
		h[names[i]] = $(i + 1)
}

# A gnuplot string: in single quotes nothing is special but the quote itself.
function quote(text)
{
	gsub(/'/, "''", text)
	return "'" text "'"
}

# NaN stays NaN, which is a function of nothing there.
function number(text) { return text ~ /^-?[0-9.]+$/ ? text : "NaN" }

function file_name(text)
{
	gsub(/[^A-Za-z0-9._=-]/, "_", text)
	return substr(text, 1, 200)
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

# Figures of one group share their ranges, so that they can be laid side by side.
function group_of() { return h["scenario"] SUBSEP h["drive"] SUBSEP h["param"] }

function figure_of(k,    name)
{
	if (k_block[k] != h["block"] || (k_param[k] != "" && k_param[k] != h["param"]))
		return ""
	if (k_by_value[k] && n_values[group_of()] > most_values)
		return ""
	name = k_name[k] "-" h["scenario"] "-" h["drive"]
	if (k_by_value[k] && h["param"] != "-")
		name = name "-" h["param"] "-" h["value"]
	return file_name(name suffix)
}

# A variant has the same colour in every figure of its scenario: its place among those that are no floor.
function learn_variant(    key)
{
	key = h["scenario"] SUBSEP h["variant"]
	if (key in colour)
		return
	colour[key] = h["role"] == "floor" ? 0 : ++n_colours[h["scenario"]]
}

# How many values of its parameter a group has.
function learn_value(    key)
{
	key = group_of() SUBSEP h["value"]
	if (h["block"] == "ecdf" && !(key in seen_value)) {
		seen_value[key] = 1
		n_values[group_of()]++
	}
}

function learn_range(ns,    g)
{
	g = group_of()
	if (!(g in range_lo) || ns < range_lo[g]) range_lo[g] = ns
	if (!(g in range_hi) || ns > range_hi[g]) range_hi[g] = ns
}

function add_curve(name, k,    i)
{
	if (!(name in n_curves)) {
		n_curves[name] = 0
		figures[++n_figures] = name
		f_kind[name] = k
		f_title[name] = h["scenario"] ", " h["drive"]
		if (k_by_value[k] && h["param"] != "-")
			f_title[name] = f_title[name] ", " param_text(h["param"], h["value"])
		f_group[name] = group_of()
	}
	i = ++n_curves[name]
	c_variant[name, i] = h["variant"]
	c_colour[name, i] = colour[h["scenario"], h["variant"]]
	c_samples[name, i] = h["samples"]
	f_sample[name] = h["sample"]
	c_p50[name, i] = h["p50"]
	c_p90[name, i] = h["p90"]
	c_p99[name, i] = h["p99"]
	c_level[name, i] = h["p50"] + 0
	return i
}

function begin_block(    k, name)
{
	parse_head()
	n_open = 0
	for (k = 1; k <= n_kinds; k++) {
		name = figure_of(k)
		if (name == "")
			continue
		open[++n_open] = name
		open_curve[n_open] = add_curve(name, k)
	}
}

function end_block(    i)
{
	for (i = 1; i <= n_open; i++)
		close(curve_file(i))
	n_open = 0
}

function curve_file(i) { return dir "/" open[i] "." open_curve[i] }

# A point in every figure that the block is in.
function add_point(row,    i)
{
	for (i = 1; i <= n_open; i++) {
		c_points[open[i], open_curve[i]]++
		print row > curve_file(i)
	}
}

# A step curve starts from nothing; a clock that ticks coarsely may say 0 ns, which a log axis cannot.
function ecdf_row(    ns)
{
	ns = $2 < 1 ? 1 : $2
	if (at_head)
		add_point(ns "\t0")
	add_point(ns "\t" $3)
	at_head = 0
}

# The curve with the most in it at any time stands first in the key. NaN breaks the line between two loads.
function backlog_row(    i)
{
	add_point($2 "\t" $3)
	for (i = 1; i <= n_open; i++)
		if (number($3) != "NaN" && $3 > c_level[open[i], open_curve[i]])
			c_level[open[i], open_curve[i]] = $3 + 0
}

function cost_row(    i)
{
	if (number($6) == "NaN")
		return
	add_point($5 "\t" $6 "\t" (number($7) == "NaN" ? $6 : $7) "\t" (number($8) == "NaN" ? $6 : $8))
	for (i = 1; i <= n_open; i++)
		c_level[open[i], open_curve[i]] = $6 + 0
}

# The curves that have points, in the order in which they stand in the picture (by level, `down` from the largest).
# Returns how many those are.
function sort_curves(name, down,    i, j, n, at)
{
	n = 0
	for (i = 1; i <= n_curves[name]; i++) {
		if (!c_points[name, i])
			continue
		for (j = ++n; j > 1; j--) {
			at = order[j - 1]
			if (down ? c_level[name, at] >= c_level[name, i] : c_level[name, at] <= c_level[name, i])
				break
			order[j] = at
		}
		order[j] = i
	}
	return n
}

function write_vars(name, n,    i, k, file, g, parts)
{
	file = dir "/" name ".vars"
	g = f_group[name]
	printf "title = %s\n", quote(f_title[name]) > file
	printf "source_run = %s\nsource_machine = %s\n", quote(source_run), quote(source_machine) > file
	split(g, parts, SUBSEP)		# scenario, drive, parameter
	printf "timed = %s\n", quote(parts[2] == "slope" ? "gross (without bpf_stats)" : "gross (bpf_stats)") > file
	printf "sample = %s\n", quote(f_sample[name]) > file
	if (g in range_lo)
		printf "ns_min = %s\nns_max = %s\n", range_lo[g], range_hi[g] > file
	printf "n_curves = %d\narray file[%d]; array variant[%d]; array colour[%d]\n", n, n, n, n > file
	printf "array points[%d]; array samples[%d]; array p50[%d]\n", n, n, n > file
	printf "array p90[%d]; array p99[%d]\n", n, n > file
	for (k = 1; k <= n; k++) {
		i = order[k]
		printf "file[%d] = %s\n", k, quote(dir "/" name "." i) > file
		printf "variant[%d] = %s\n", k, quote(c_variant[name, i]) > file
		printf "colour[%d] = %d; points[%d] = %d\n", k, c_colour[name, i], k, c_points[name, i] > file
		printf "samples[%d] = %s; p50[%d] = %s; ", k, number(c_samples[name, i]), k,
			number(c_p50[name, i]) > file
		printf "p90[%d] = %s; p99[%d] = %s\n", k, number(c_p90[name, i]), k, number(c_p99[name, i]) > file
	}
	close(file)
}

# A file's head describes the blocks in the blocks' own words: only what follows "# run" counts.
FNR == 1 { reading++; started = 0 }
/^# run\t/ && FNR < 40 && !/^# run\tid\t/ {
	started = 1
	source_run = "bpfbench run " $2
	source_machine = "Linux " $4 ", " $5 ", " substr($3, 1, 10) " " substr($3, 12, 5) " UTC"
	if (number($6) != "NaN")
		source_machine = source_machine sprintf(", steal %.1f %%", $6)
	if ($7 != "-")
		source_run = source_run " (incomplete: " $7 ")"
	next
}
!started || /^$/ { next }
reading == 1 && /^# / { parse_head(); learn_variant(); learn_value(); next }
reading == 1 && h["block"] == "ecdf" { learn_range($2 < 1 ? 1 : $2 + 0) }
reading == 1 { next }
/^# / { end_block(); begin_block(); at_head = 1; next }
h["block"] == "ecdf" { ecdf_row() }
h["block"] == "backlog" { backlog_row() }
h["block"] == "cost" || h["block"] == "slowdown" { cost_row() }

function has_enough(name, least,    i)
{
	for (i = 1; i <= n_curves[name]; i++)
		if (c_points[name, i] >= least)
			return 1
	return 0
}

END {
	end_block()
	for (i = 1; i <= n_figures; i++) {
		name = figures[i]
		k = f_kind[name]
		if (!has_enough(name, k_min_points[k]))
			continue
		write_vars(name, sort_curves(name, k_block[k] != "ecdf"))
		drawn[k] = 1
		printf "%s\t%s\t%s\n", k_name[k], name, f_title[name]
	}
	for (k = 1; k <= n_kinds; k++)
		if (!(k in drawn) && k_otherwise[k] != "")
			printf "%s\t-\t%s\n", k_name[k], k_otherwise[k]
}

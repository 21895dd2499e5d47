# SPDX-License-Identifier: GPL-2.0-or-later
# figures.awk (after shared.awk) -v dir=DIR [-v suffix=TEXT] [-v brief=1] DATA DATA: cuts what `bpfbench
# show --format plot` printed (given twice: the first reading finds colours and ranges, the second writes) into figures.
# For each, DIR/NAME.1, .2, ... hold the points of its curves and DIR/NAME.vars what the scripts must know of them;
# "KIND<TAB>NAME<TAB>TITLE<TAB>SCENARIO<TAB>DRIVE<TAB>PARAM" goes to stdout, and "KIND<TAB>-<TAB>WHY" for a kind that the run has no data for. KIND.gp
# draws it. `brief`: of a comparison nothing else, as its cases are those of a plain run.
#
# How to add a plot: a row in BEGIN below, a rule for the rows of its block if that is a new one, and a script KIND.gp that
# reads the variables of write_vars().

BEGIN {
	FS = "\t"
	# The kind; the block it draws; what the values of the parameter are: "figure" (each one of its own), "axis", or
	# "rows" (all in one picture, a row or panel a case); the only parameter that it is for (any, if empty); how many
	# points one of its curves must have; the height of a row in pixels (0: no rows); and what to say where there is
	# none (nothing, if empty).
	kind("ecdf", "ecdf", "figure", "", 2, 0, "no valid samples")
	kind("quantiles", "ecdf", "rows", "", 1, 24, "")
	kind("net", "net", "rows", "", 1, 24, "")
	kind("lines", "lines", "rows", "", 1, 22, "")
	kind("layout", "loads", "rows", "", 2, 0, "")
	kind("ab", "ab", "rows", "", 1, 46, "")
	kind("backlog", "backlog", "figure", "", 2, 0, "")
	kind("slowdown", "slowdown", "axis", "freq_hz", 1, 0, "")
	kind("depth", "cost", "axis", "stack_depth", 2, 0, "no program was measured at two values of stack_depth")
	kind("entries", "cost", "axis", "entries", 2, 0, "")
	kind("input", "cost", "axis", "input", 17, 0, "")	# a few inputs are no curve
	most_values = 16	# a parameter with more has no figure and no row for each of them
	least_samples = 20	# fewer are no distribution
	of_case = "case scenario variant drive param value role sample"
	fields["ecdf"] = of_case " samples p50 p90 p99"
	fields["lines"] = fields["backlog"] = fields["loads"] = fields["net"] = of_case
	fields["cost"] = fields["slowdown"] = "scenario variant drive param role"
	fields["ab"] = "case base head threshold confidence verdict"
	verdict_colour["inconclusive"] = 0
	verdict_colour["same"] = 1
	verdict_colour["regressed"] = 2
	verdict_colour["improved"] = 3
	lane["matched"] = 0
	lane["unmatched"] = 1
	lane["net"] = 2
	lane["pair"] = 3
	lane["unmatched-pair"] = 4
}

function kind(name, block, values, only_param, min_points, row_px, otherwise)
{
	n_kinds++
	k_name[n_kinds] = name
	k_block[n_kinds] = block
	k_values[n_kinds] = values
	k_param[n_kinds] = only_param
	k_min_points[n_kinds] = min_points
	k_row_px[n_kinds] = row_px
	k_otherwise[n_kinds] = otherwise
}

# "# ecdf<TAB>..." into h["scenario"], h["variant"], ...
function parse_head(    i, n, names)
{
	n = split(fields["ecdf"], names, " ")
	for (i = 1; i <= n; i++)
		h[names[i]] = ""
	h["block"] = substr($1, 3)
	n = split(fields[h["block"]], names, " ")
	for (i = 1; i <= n; i++)
		h[names[i]] = $(i + 1)
	if (h["block"] == "ab")
		parse_comparison()
}

# "scenario/drive/parameter=value" of a comparison, where the two last parts may be absent. Its row is named by the rest.
function parse_comparison(    i, n, part, at)
{
	n = split(h["case"], part, "/")
	h["param"] = "-"
	if (n > 1 && (at = index(part[n], "=")) > 1) {
		h["param"] = substr(part[n], 1, at - 1)
		h["value"] = substr(part[n--], at + 1)
	}
	h["drive"] = n > 1 ? part[n--] : "-"
	h["scenario"] = part[1]
	for (i = 2; i <= n; i++)
		h["scenario"] = h["scenario"] "/" part[i]
	h["variant"] = h["param"] == "-" ? h["drive"] : h["drive"] ", " param_text(h["param"], h["value"])
}

# Figures of one group share their ranges, so that they can be laid side by side.
function group_of() { return h["scenario"] SUBSEP h["drive"] SUBSEP h["param"] }

function figure_of(k,    name)
{
	if (k_block[k] != h["block"] || (k_param[k] != "" && k_param[k] != h["param"]) || (only != "" && only != k_name[k]))
		return ""
	if (h["block"] == "ab")
		return file_name(k_name[k] "-" h["scenario"] suffix)
	if (h["block"] == "ecdf" && h["samples"] < least_samples)
		return ""
	if (k_values[k] != "axis" && n_values[group_of()] > most_values)
		return ""
	name = k_name[k] "-" joined(h["scenario"], h["drive"], "-")
	if (k_values[k] == "figure" && h["param"] != "-")
		name = name "-" h["param"] "-" h["value"]
	return file_name(name suffix)
}

# How many values of its parameter a group has.
function learn_value(    key)
{
	key = group_of() SUBSEP h["value"]
	if (h["block"] == "net" && !(key in seen_value)) {
		seen_value[key] = 1
		n_values[group_of()]++
	}
}

# The least row_ns that at least this share of the samples is not above.
function quantile(share,    i)
{
	for (i = 1; i < n_rows && row_share[i] < share; i++)
		;
	return row_ns[i]
}

function write_quantiles(i)
{
	if (n_rows)
		add_point_to(i, quantile(0.01) "\t" quantile(0.05) "\t" quantile(0.25) "\t" h["p50"] "\t" \
			quantile(0.75) "\t" quantile(0.95) "\t" quantile(0.99))
}

function learn_range(ns,    g)
{
	g = group_of()
	if (!(g in range_lo) || ns < range_lo[g]) range_lo[g] = ns
	if (!(g in range_hi) || ns > range_hi[g]) range_hi[g] = ns
}

function title_of(k)
{
	if (h["block"] == "ab")
		return h["scenario"] ", A: " h["base"] ", B: " h["head"]
	return joined(h["scenario"], h["drive"], ", ") (of_value(k) == "" ? "" : ", " of_value(k))
}

# The value of the parameter that the whole figure is of, in words: "stack depth 8".
function of_value(k)
{
	return k_values[k] == "figure" && h["param"] != "-" ? value_in_words() : ""
}

function value_in_words() { return param_text(h["param"], value_text(h["case"], h["param"], h["value"])) }

function add_curve(name, k,    i)
{
	if (!(name in n_curves)) {
		n_curves[name] = 0
		figures[++n_figures] = name
		f_kind[name] = k
		f_title[name] = title_of(k)
		f_value[name] = of_value(k)
		f_group[name] = group_of()
		f_key[name] = h["scenario"] FS h["drive"] FS h["param"]
		f_threshold[name] = h["threshold"]
		f_confidence[name] = h["confidence"]
	}
	i = ++n_curves[name]
	c_variant[name, i] = h["variant"]
	c_colour[name, i] = h["block"] == "lines" ? 0 : h["block"] == "ab" ? verdict_colour[h["verdict"]] : colour_of(h["scenario"], h["variant"])
	c_verdict[name, i] = h["verdict"]
	c_samples[name, i] = h["samples"]
	f_sample[name] = h["sample"]
	c_p50[name, i] = h["p50"]
	c_p90[name, i] = h["p90"]
	c_p99[name, i] = h["p99"]
	# Rows are sorted by the value of the parameter; rows of one value keep the order of the run.
	c_level[name, i] = k_values[k] == "rows" ? h["value"] + 0 : h["p50"] + 0
	c_value[name, i] = h["block"] == "ab" || h["param"] == "-" ? "" : value_in_words()
	return i
}

function begin_block(    k, name)
{
	parse_head()
	n_open = n_rows = 0
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
	for (i = 1; i <= n_open; i++) {
		if (k_name[f_kind[open[i]]] == "quantiles")
			write_quantiles(i)
		else if (h["block"] == "loads")
			write_loads(i)
		close(curve_file(i))
	}
	n_open = 0
}

function curve_file(i) { return dir "/" open[i] "." open_curve[i] }

function add_point_to(i, row)
{
	c_points[open[i], open_curve[i]]++
	print row > curve_file(i)
}

# Adds the row to all figures of the block but `quantiles`, which draws other data.
function add_point(row,    i)
{
	for (i = 1; i <= n_open; i++)
		if (k_name[f_kind[open[i]]] != "quantiles")
			add_point_to(i, row)
}

# The curve starts at a share of 0. A coarse clock may say 0 ns, which a log axis cannot show: it becomes 1 ns.
function ecdf_row(    ns)
{
	ns = $2 < 1 ? 1 : $2
	if (!n_rows)
		add_point(ns "\t0")
	add_point(ns "\t" $3)
	row_ns[++n_rows] = ns + 0
	row_share[n_rows] = $3 + 0
}

# The variant whose ring held the most bytes stands first in the key. NaN breaks the line between two loads.
function backlog_row(    i)
{
	add_point($2 "\t" $3)
	for (i = 1; i <= n_open; i++)
		if (number($3) != "NaN" && $3 > c_level[open[i], open_curve[i]])
			c_level[open[i], open_curve[i]] = $3 + 0
}

# Where there is no interval, its ends are the value itself.
function with_interval(value, lo, hi)
{
	return value "\t" (number(lo) == "NaN" ? value : lo) "\t" (number(hi) == "NaN" ? value : hi)
}

function cost_row(    i)
{
	if (number($6) == "NaN")
		return
	add_point($5 "\t" with_interval($6, $7, $8) "\t" $9)
	for (i = 1; i <= n_open; i++) {
		c_level[open[i], open_curve[i]] = $6 + 0
		if ($9 != $5 && $9 != "-" && length($9) > longest_name[open[i]])
			longest_name[open[i]] = length($9)
		learn_bytes(open[i], open_curve[i])
	}
}

# The memory of the maps of a case that are filled to several sizes, bytes.
function learn_bytes(name, curve)
{
	if (!((name, $5) in is_size)) {
		is_size[name, $5] = 1
		size[name, ++n_sizes[name]] = $5
	}
	bytes[name, curve, $5] = number($10)
	c_bytes[name, curve] = c_bytes[name, curve] (number($10) == "NaN" ? "" : $5 " " $10 " ")
}

# Rows of text below the axis, a row for each curve whose maps take other memory than those of the curves before.
function write_bytes(name, n, file,    i, k, s, n_rows, seen, list)
{
	for (k = 1; k <= n; k++) {
		i = order[k]
		if (c_bytes[name, i] == "" || seen[c_bytes[name, i]]++ || n_rows == 4)
			continue
		n_rows++
		list = list sprintf("bytes_of[%d] = %d\n", n_rows, k)
		for (s = 1; s <= n_sizes[name]; s++)
			list = list sprintf("bytes[%d] = %s\n", (n_rows - 1) * n_sizes[name] + s,
				(name, i, size[name, s]) in bytes ? bytes[name, i, size[name, s]] : "NaN")
	}
	printf "n_sizes = %d\narray size[%d]\nn_bytes = %d\n", n_sizes[name], n_sizes[name], n_rows > file
	for (s = 1; s <= n_sizes[name]; s++)
		printf "size[%d] = %s\n", s, number(size[name, s]) > file
	if (n_rows)
		printf "names_px = %d\narray bytes_of[%d]\narray bytes[%d]\n%s", 15 * n_rows + 6, n_rows,
			n_rows * n_sizes[name], list > file
}

# A case with a floor: the floor, the net cost, and the interval of the net cost, ns.
function net_row()
{
	if (number($5) != "NaN" && number($6) != "NaN")
		add_point($5 "\t" with_interval($6, $7, $8))
}

# A line or call of a program: its time with the interval, and its time with cold caches (0: not measured).
function lines_row()
{
	if (number($2) != "NaN")
		add_point(with_interval($2, $3, $4) "\t" (number($5) == "NaN" ? 0 : $5))
}

# Only a sample that is a run of the program depends on the program's JIT address.
function loads_row()
{
	if (h["sample"] != "run" || number($3) == "NaN")
		return
	row_address[++n_rows] = $3
	row_ns[n_rows] = $4 + 0
}

# Address modulo 64, percent above the median of the loads.
function write_loads(i,    k, sorted, middle)
{
	for (k = 1; k <= n_rows; k++)
		sorted[k] = row_ns[k]
	middle = n_rows ? median(sorted, n_rows) : 0
	for (k = 1; middle > 0 && k <= n_rows; k++)
		add_point_to(i, row_address[k] "\t" 100 * (row_ns[k] / middle - 1))
}

# A row of a comparison: its lane (see lane[] in BEGIN), the difference in percent, and the interval of the difference.
function ab_row()
{
	if (number($3) == "NaN")
		return
	add_point(lane[$2] "\t" with_interval($3, $4, $5))
	if ($2 == "matched" && n_open)
		c_p50[open[1], open_curve[1]] = $3
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

function n_variants(name, n,    k, count, seen)
{
	for (k = 1; k <= n; k++)
		count += !seen[c_variant[name, order[k]]]++
	return count
}

# The height of a row, px. Many rows (256 inputs) are lower, so that the figure is at most 1200 px high.
function row_height(px, n) { return px * n <= 1200 ? px : 1200 > 3 * n ? 1200 / n : 3 }

function write_vars(name, n,    i, k, file, g, parts)
{
	file = dir "/" name ".vars"
	g = f_group[name]
	printf "title = %s\nof_value = %s\n", quote(f_title[name]), quote(f_value[name]) > file
	# Names of inputs stand upright below the axis, where there is room for each.
	if (k_name[f_kind[name]] == "input" && c_points[name, order[1]] <= 32)
		printf "names_px = %d\n", 7.2 * longest_name[name] > file
	if (k_name[f_kind[name]] == "entries")
		write_bytes(name, n, file)
	printf "source_run = %s\nsource_machine = %s\n", quote(source_run), quote(source_machine) > file
	split(g, parts, SUBSEP)		# scenario, drive, parameter
	printf "counted = %d\n", counted > file
	printf "timed = %s\n", quote(counted ? "With the floor, counted by the clock of the guest" : \
		parts[2] == "inside" ? "Time by clock readings in the program" : \
		"Time with the floor, measured " (parts[2] == "slope" ? "without bpf_stats" : "by bpf_stats")) > file
	printf "sample = %s\nrow_px = %d\n", quote(f_sample[name]), row_height(k_row_px[f_kind[name]], n) > file
	printf "threshold = %s\nconfidence = %s\n", number(f_threshold[name]), number(f_confidence[name]) > file
	if (k_name[f_kind[name]] == "layout")
		printf "n_panels = %d\n", n_variants(name, n) > file
	if (g in range_lo)
		printf "ns_min = %s\nns_max = %s\n", range_lo[g], range_hi[g] > file
	printf "n_curves = %d\narray file[%d]; array variant[%d]; array colour[%d]\n", n, n, n, n > file
	printf "array points[%d]; array samples[%d]; array p50[%d]\n", n, n, n > file
	printf "array p90[%d]; array p99[%d]; array value[%d]; array verdict[%d]\n", n, n, n, n > file
	for (k = 1; k <= n; k++) {
		i = order[k]
		printf "file[%d] = %s\n", k, quote(dir "/" name "." i) > file
		printf "variant[%d] = %s\n", k, quote(c_variant[name, i]) > file
		printf "value[%d] = %s; verdict[%d] = %s\n", k, quote(c_value[name, i]), k, quote(c_verdict[name, i]) > file
		printf "colour[%d] = %d; points[%d] = %d\n", k, c_colour[name, i], k, c_points[name, i] > file
		printf "samples[%d] = %s; p50[%d] = %s; ", k, number(c_samples[name, i]), k,
			number(c_p50[name, i]) > file
		printf "p90[%d] = %s; p99[%d] = %s\n", k, number(c_p90[name, i]), k, number(c_p99[name, i]) > file
	}
	close(file)
}

# The head of the data explains the blocks, in lines that look like blocks. The data begin with "# run".
FNR == 1 { reading++; started = 0 }
/^# run\t/ && FNR < 60 && !/^# run\tid\t/ {
	started = 1
	source_run = "bpfbench " ($8 == "unknown" ? "" : $8 ", ") "run " $2
	counted = $9 == "instructions"
	source_machine = "Linux " $4 ", " $5 ($9 == "unknown" ? "" : counted ? ", counts, no times" : ", clock " $9) ", " date_text($3)
	if (number($6) != "NaN")
		source_machine = source_machine sprintf(", steal %.1f %%", $6)
	if ($7 != "-")
		source_run = source_run " (incomplete: " $7 ")"
	next
}
!started || /^$/ { next }
reading == 1 && /^# / {
	parse_head()
	if (h["block"] == "ab" && brief)
		only = "ab"
	else if (h["block"] != "ab" && h["block"] != "lines")
		claim_colour(h["scenario"], h["variant"], h["role"] == "floor")
	learn_value()
	next
}
reading == 1 && h["block"] == "ecdf" { learn_range($2 < 1 ? 1 : $2 + 0) }
reading == 1 { next }
/^# / { end_block(); begin_block(); next }
h["block"] == "ecdf" { ecdf_row() }
h["block"] == "backlog" { backlog_row() }
h["block"] == "loads" { loads_row() }
h["block"] == "net" { net_row() }
h["block"] == "lines" { lines_row() }
h["block"] == "cost" || h["block"] == "slowdown" { cost_row() }
h["block"] == "ab" { ab_row() }

function has_enough(name, least,    i)
{
	for (i = 1; i <= n_curves[name]; i++)
		if (c_points[name, i] >= least)
			return 1
	return 0
}

END {
	end_block()
	if (only == "")
		save_colours()	# a comparison has its variants in another order, and does not draw them
	for (i = 1; i <= n_figures; i++) {
		name = figures[i]
		k = f_kind[name]
		if (!has_enough(name, k_min_points[k]))
			continue
		write_vars(name, sort_curves(name, k_values[k] != "rows" && k_block[k] != "ecdf"))
		drawn[k] = 1
		printf "%s\t%s\t%s\t%s\n", k_name[k], name, f_title[name], f_key[name]
	}
	for (k = 1; k <= n_kinds; k++)
		if (!(k in drawn) && k_otherwise[k] != "" && only == "")
			printf "%s\t-\t%s\n", k_name[k], k_otherwise[k]
}

# SPDX-License-Identifier: GPL-2.0-or-later
# shared.awk [-v colours=FILE]: what figures.awk and history.awk have in common. FILE remembers which variant has which
# colour, so that it is the same in all figures that are drawn together; it need not be there.

# A gnuplot string, as an expression: in single quotes nothing is special but the quote itself, which stands apart (gnuplot
# 5.4 takes a doubled one at the beginning for an empty string).
function quote(text)
{
	gsub(/'/, "' . \"\\047\" . '", text)
	return "'" text "'"
}

# The text itself if it is a number; else NaN, which gnuplot does not draw.
function number(text) { return text ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ ? text : "NaN" }

# "2026-11-21T13:55:32Z" for people.
function date_text(started) { return substr(started, 1, 10) " " substr(started, 12, 5) " UTC" }

# "scenario, drive" (with `by` between them), or only the scenario if both have one name.
function joined(scenario, drive, by) { return scenario == drive ? scenario : scenario by drive }

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

# The value of the parameter in words, from the name of its case: an input may have a name.
function value_text(case_name, param, value,    at)
{
	at = index(case_name, "/" param "=")
	return at ? substr(case_name, at + length(param) + 2) : value
}

# The median of v[1..n], which this sorts.
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

# A variant has the same colour in every figure: in those of its scenario, and in those of others that have one of this
# name, where no other took it first. The floor has 0.
function colour_of(scenario, variant, is_floor,    colour)
{
	claim_colour(scenario, variant, is_floor)
	if (!((scenario, variant) in colour_number)) {
		for (colour = 1; (scenario, colour) in taken; colour++)
			;
		set_colour(scenario, variant, colour)
	}
	return colour_number[scenario, variant]
}

# Gives the floor colour 0, and gives a variant the colour that its name has in another scenario, if that is free here. All
# variants claim such a colour before colour_of() gives the other colours away.
function claim_colour(scenario, variant, is_floor)
{
	if (!knows_colours)
		load_colours()
	if ((scenario, variant) in colour_number)
		return
	if (is_floor)
		set_colour(scenario, variant, 0)
	else if (variant in usual_colour && !((scenario, usual_colour[variant]) in taken))
		set_colour(scenario, variant, usual_colour[variant])
}

function set_colour(scenario, variant, colour)
{
	colour_number[scenario, variant] = colour
	if (!colour)
		return
	taken[scenario, colour] = 1
	if (!(variant in usual_colour) || colour < usual_colour[variant])
		usual_colour[variant] = colour
}

function load_colours(    row, cell)
{
	knows_colours = 1
	while (colours != "" && (getline row < colours) > 0) {
		split(row, cell, FS)
		set_colour(cell[1], cell[2], cell[3] + 0)
	}
	if (colours != "")
		close(colours)
}

function save_colours(    key, part)
{
	for (key in colour_number) {
		split(key, part, SUBSEP)
		if (colours != "")
			print part[1] FS part[2] FS colour_number[key] > colours
	}
}

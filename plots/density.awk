# SPDX-License-Identifier: GPL-2.0-or-later
# density.awk: the shape of a distribution, for a violin, from the points of its ECDF: row_ns[] and row_share[], n_rows.

# The least row_ns that at least this share of the samples is not above.
function quantile(share,    i)
{
	for (i = 1; i < n_rows && row_share[i] < share; i++)
		;
	return row_ns[i]
}

# Silverman 1986, 3.31, of the logarithms: 0.9 min(sd, IQR / 1.34) n^-1/5. Below a clock's tick there is no shape:
# it is 1 ns where all are whole, else a slope's, 1 ps.
function bandwidth(n,    i, weight, mean, square, sd, iqr, tick, least)
{
	tick = 1
	for (i = 1; i <= n_rows; i++) {
		weight = row_share[i] - (i > 1 ? row_share[i - 1] : 0)
		mean += weight * log(row_ns[i])
		square += weight * log(row_ns[i]) ^ 2
		if (row_ns[i] != int(row_ns[i]))
			tick = 0.001
	}
	sd = square > mean * mean ? sqrt(square - mean * mean) : 0
	iqr = (log(quantile(0.75)) - log(quantile(0.25))) / 1.34
	least = log(1 + 0.7 * tick / quantile(0.5))
	sd = 0.9 * (iqr < sd ? iqr : sd) * n ^ -0.2
	return sd > least ? sd : least
}

# Three blocks for violin.gp: the outline between the first and the last percentile (ns, height from 0 to 1), the
# quantiles 5, 25, 50, 75 and 95 %, and points: every sample, where there are too few for an outline.
function write_violin(i,    k, few)
{
	if (!n_rows)
		return
	few = h["samples"] < 50
	if (few)
		add_point_to(i, h["p50"] "\t0")
	else
		write_outline(i, bandwidth(h["samples"]))
	print "\n\n" quantile(0.05) "\t" quantile(0.25) "\t" h["p50"] "\t" quantile(0.75) "\t" quantile(0.95) "\n\n" \
		> curve_file(i)
	for (k = 1; few && k <= n_rows; k++)
		print row_ns[k] > curve_file(i)
	if (!few)
		print h["p50"] > curve_file(i)
}

function write_outline(i, width,    at, k, n, from, step, x, y, most)
{
	n = 160
	from = log(quantile(0.01)) - 2 * width
	step = (log(quantile(0.99)) + 2 * width - from) / n
	for (at = 0; at <= n; at++) {
		y[at] = 0
		for (k = 1; k <= n_rows; k++) {
			x = (from + at * step - log(row_ns[k])) / width
			if (x < 5 && x > -5)
				y[at] += (row_share[k] - (k > 1 ? row_share[k - 1] : 0)) * exp(-x * x / 2)
		}
		if (y[at] > most)
			most = y[at]
	}
	for (at = 0; at <= n; at++)
		add_point_to(i, sprintf("%.6g\t%.4f", exp(from + at * step), y[at] / most))
}

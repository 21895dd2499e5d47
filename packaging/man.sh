#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# packaging/man.sh BPFBENCH: its manual page on stdout. Commands, options and formats are what `--help` says, which comes from
# the tables that parse; only what a page has beside them is written here.
set -euo pipefail

bpfbench=$1
version=$("$bpfbench" --version)
date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(stat -c %Y -- "$bpfbench")}" +%F)
# Nothing wrapped: then each line of the help is a headline (one blank before it), an item (two or more), or a paragraph.
export ARGP_HELP_FMT='rmargin=10000,no-dup-args-note'

# to_roff [FORMATS]: help in, roff out. The formats, which are the same everywhere, only with an argument.
to_roff() {
	awk -v formats="${1:-}" '
	function text(s) {
		gsub(/\\/, "\\e", s)
		gsub(/-/, "\\-", s)
		gsub(/`/, "\\(ga", s)
		sub(/^[.\047]/, "\\\\\\&&", s)
		return s
	}
	function item(name, what) { printf ".TP\n\\fB%s\\fR\n%s", text(name), what == "" ? "" : text(what) "\n" }
	skipping && !/^ *$/ { next }
	{
		skipping = 0
		continued = in_paragraph
		in_paragraph = /^[^ ]/ && !/:$/ && !/^Usage: /
		explained = is_example
		is_example = 0
	}
	/^ *$/ || /^  -\?, --help  / || /^      --usage  / { next }
	/^Formats:$/ && !formats { print ".PP\nThe formats are those of\n.BR show ."; skipping = 1; next }
	/^Usage: / { printf ".PP\n\\fB%s\\fR\n", text(substr($0, 8)); next }
	/^ [^ ]/ { printf ".PP\n\\fI%s\\fR\n", text(substr($0, 2)); next }
	/^  (sudo )?bpfbench / && !/[^ ]  / { sub(/^ +/, ""); printf ".PP\n\\fB%s\\fR\n", text($0); is_example = 1; next }	# an example
	explained && /^      / { sub(/^ +/, ""); printf ".br\n%s\n", text($0); next }
	/^            / { sub(/^ +/, ""); print text($0); next }	# of an item with a long name
	/^  / {
		sub(/^ +/, "")
		if (match($0, /   */) || match($0, / /))
			item(substr($0, 1, RSTART - 1), substr($0, RSTART + RLENGTH))
		else
			item($0, "")
		next
	}
	{ printf "%s%s\n", continued ? "" : ".PP\n", text($0) }'
}

main_help=$("$bpfbench" --help)
commands=$(sed -n '/^Commands/,/^Options/s/^  \([a-z]*\) .*/\1/p' <<<"$main_help")
cat <<EOT
.TH BPFBENCH 1 $date "$version" "User Commands"
.SH NAME
bpfbench \- benchmark eBPF programs: what one invocation costs, and whether a change made it slower
.SH SYNOPSIS
.B bpfbench
.RI [ COMMAND ]
.RI [ OPTION .\|.\|.]
.SH DESCRIPTION
EOT
sed 1d <<<"$main_help" | to_roff
echo '.SH COMMANDS'
for command in $commands; do
	formats=''
	[[ $command != show ]] || formats=1
	printf '.SS "%s"\n' "$command"
	"$bpfbench" "$command" --help | to_roff "$formats"
done
cat <<'EOT'
.SH FILES
.TP
.I results/
in the current folder: the stored runs, unless \fB\-\-results\fR names another.
.TP
.I PREFIX/share/bpfbench/scenarios/
the scenarios that are found by name.
.TP
.I PREFIX/lib/bpfbench/
their BPF objects and workloads.
.TP
.I PREFIX/share/bpfbench/plots/plot.sh
draws stored runs with gnuplot.
.TP
.I PREFIX/share/doc/bpfbench/
how it measures, and how scenarios are written.
.SH SEE ALSO
.BR bpftool (8),
.BR perf (1)
EOT

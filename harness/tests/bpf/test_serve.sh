#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench live --serve` and `inside --serve`: scraped by curl and by Debian's Prometheus. As root.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("live" "live: prometheus" "live: bad luck" "inside" "inside: the screen")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"
need_command curl "${names[@]}" || plan_done

owner=''
prometheus=''
trap 'end_processes $owner $prometheus $child; rm -rf -- "$TMP"' EXIT
stats_off() { [[ $(cat /proc/sys/kernel/bpf_stats_enabled) == "$stats_before" ]]; }
valid_openmetrics() { "$O/tests/tools/openmetrics_check" <"$1"; }

# url_of: where $child serves, once it says so; for wait_until.
url_of() { url=$(sed -nE 's,^bpfbench: serving (http://[^ ]*/metrics).*,\1,p' "$TMP/err") && [[ -n $url ]]; }
# scraped TEXT: the figures are served, and TEXT is in them. For wait_until.
scraped() { curl -fsS "$url" >"$TMP/scraped" && grep -qF "$1" "$TMP/scraped"; }

# --- live ---
"$O/tests/tools/live_prog" "$O/tests/bpf/live.bpf.o" 300 >"$TMP/owner" 2>"$TMP/owner.err" </dev/null &
owner=$!
check "live: there is a program" wait_until 5 test -s "$TMP/owner"
id=$(head -n 1 "$TMP/owner")
start "$BPFBENCH" live --serve 127.0.0.1:0 --seconds 0.5
check "live: it says where it serves" wait_until 5 url_of
url_of
check "live: it serves the program" wait_until 10 scraped "bpf_program_run_rate{id=\"$id\""
check "live: OpenMetrics is strictly valid" valid_openmetrics "$TMP/scraped"
runs() { sed -nE "s/^bpf_program_runs_total\{id=\"$id\".*\} //p" "$TMP/scraped"; }
before=$(runs)
grew() { scraped bpf_program_runs_total && more "$(runs)" "$before"; }
check "live: the next period has more runs" wait_until 5 grew
expect_eq "live: who serves is not root" "$(ps -o user= --ppid "$child" | sort -u)" "$(id -un "$(id -u nobody)")"

# --- live: Debian's Prometheus, if it is installed ---
# asked QUERY: Prometheus has an answer, whose number is then in $answer. For wait_until.
asked() {
	answer=$(curl -fsS "http://$console/api/v1/query" --data-urlencode "query=$1" |
		sed -nE 's/.*"value":\[[^"]*"([0-9.e+-]+)"\].*/\1/p') && [[ -n $answer ]]
}
console_of() { console=$(sed -nE 's/.*msg="Listening on" address=([0-9.:]+).*/\1/p' "$TMP/prometheus.log") && [[ -n $console ]]; }
address=${url#http://} address=${address%/metrics}
# promtool reads the older text format, in which a counter's name includes _total.
if need_command promtool "live: promtool finds nothing"; then
	sed -E 's/^# (HELP|TYPE|UNIT) (bpf_program_(runs|run_time_seconds|recursion_misses)) /# \1 \2_total /' "$TMP/scraped" >"$TMP/linted"
	run promtool check metrics <"$TMP/linted"
	expect_status "live: promtool finds nothing" 0
fi
if need_command prometheus "live: prometheus: a query gives the runs" "live: prometheus: and what they cost"; then
	printf 'global: {scrape_interval: 1s}\nscrape_configs: [{job_name: b, static_configs: [{targets: ["%s"]}]}]\n' "$address" >"$TMP/prometheus.yml"
	prometheus --config.file="$TMP/prometheus.yml" --storage.tsdb.path="$TMP/prometheus" --web.listen-address=127.0.0.1:0 \
		>"$TMP/prometheus.log" 2>&1 </dev/null &
	prometheus=$!
	check "live: prometheus: it listens" wait_until 10 console_of
	console_of
	check "live: prometheus: a query gives the runs" wait_until 10 asked "bpf_program_runs_total{id=\"$id\"}"
	asked "bpf_program_runs_total{id=\"$id\"}"
	scraped bpf_program_runs_total
	check "live: prometheus: no more than there were" test "$answer" -le "$(runs)"
	query="rate(bpf_program_run_time_seconds_total{id=\"$id\"}[10s]) / rate(bpf_program_runs_total{id=\"$id\"}[10s])"
	check "live: prometheus: the mean" wait_until 10 asked "$query"
	asked "$query"
	check "live: prometheus: $answer s, and more than nothing" more "$answer" 0
	check "live: prometheus: the median" wait_until 10 asked \
		"histogram_quantile(0.5, bpf_program_single_run_duration_seconds_bucket{id=\"$id\"})"
	end_processes "$prometheus"
	prometheus=''
fi
run "$BPFBENCH" live --serve "$address"
complains "live: a taken port" 1 "cannot serve at $address: Address already in use; give another port"
run "$BPFBENCH" live --serve localhost:1
complains "live: a name" 1 "'localhost:1' is no address to serve at; give one in numbers"
run "$BPFBENCH" live --serve 0 --once
complains "live: --serve and --once" 2 "contradicts --once"

# --- live: bad luck ---
# Clients that never finish their request do not stop the watch.
for _ in {1..40}; do
	exec {fd}<>"/dev/tcp/${address/://}" && printf 'GET /met' >&$fd
done
before=$(runs)
check "live: bad luck: it goes on beside silent clients" wait_until 5 grew
stop_child TERM
expect_eq "live: a signal ends it with exit code 0" "$status" 0
check "live: bpf_stats is off" stats_off
start "$BPFBENCH" live --serve 127.0.0.1:0
check "live: bad luck: once more" wait_until 5 url_of
stop_child KILL
gone() { ! curl -fsS "$url"; }
check "live: bad luck: killed, and nobody serves any more" wait_until 5 gone
check "live: bad luck: killed, and bpf_stats is off" wait_until 5 stats_off
end_processes "$owner"
owner=''

# --- inside ---
agent=("$O/tests/tools/live_prog" "$O/tests/bpf/inside_paths.bpf.o" 300 "" 100)
start "$BPFBENCH" inside --no-store --serve 127.0.0.1:0 -- "${agent[@]}"
check "inside: it says where it serves" wait_until 10 url_of
url_of
check "inside: it serves the program's paths" wait_until 10 scraped 'bpf_path_runs_total{'
check "inside: OpenMetrics is strictly valid" valid_openmetrics "$TMP/scraped"
# total FAMILY: the sum of its figures for inside_paths, in the last scrape.
total() { sed -nE "s/^$1\{.*name=\"inside_paths\".*\} //p" "$TMP/scraped" | awk '{ n += $1 } END { print n + 0 }'; }
check "inside: it has run" more "$(total bpf_program_runs_total)" 0
expect_eq "inside: the paths are all of its runs" "$(total bpf_path_runs_total)" "$(total bpf_program_runs_total)"
expect_eq "inside: so is the histogram" "$(total bpf_program_run_duration_seconds_count)" "$(total bpf_program_runs_total)"
stop_child TERM
expect_eq "inside: a service that is stopped ends with exit code 0" "$status" 0
check "inside: nobody serves any more" wait_until 5 gone
start "$BPFBENCH" live --serve 127.0.0.1:0
check "inside: a taken port: it is taken" wait_until 5 url_of
url_of
address=${url#http://} address=${address%/metrics}
run "$BPFBENCH" inside --no-store --serve "$address" -- touch "$TMP/was-run"
complains "inside: a taken port" 1 "cannot serve at $address: Address already in use"
check "inside: a taken port: the command was not started" test ! -e "$TMP/was-run"
stop_child INT
run "$BPFBENCH" inside --no-store --for 1 --format openmetrics -- "${agent[@]}"
expect_status "inside: --format openmetrics" 0
check "inside: --format openmetrics is strictly valid" valid_openmetrics "$TMP/out"
keys() {
	wait_until 10 grep -q 'q ends' "$TMP/out" || true
	printf q
}
if need_command script "inside: the screen"; then
	: >"$TMP/out"
	printf '#!/bin/sh\necho noise\necho noise >&2\nexec %s\n' "${agent[*]@Q}" >"$TMP/noisy"
	chmod +x "$TMP/noisy"
	keys | script -qec "stty rows 12 cols 70; $BPFBENCH inside --no-store -- $TMP/noisy; echo code=\$?; stty -a" /dev/null >"$TMP/out" 2>&1
	expect_grep "inside: the screen has the program" out 'inside_paths([^.]|$)'
	expect_no_grep "inside: the command does not write on it" out 'noise'
	expect_grep "inside: q ends it" out 'code=0'
	expect_grep "inside: the terminal is as before" out '[^-]icanon'
	expect_grep "inside: the table stays at the end" out '^price: the instrumented copies took'
fi
nothing_left "at the end" 0
plan_done

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench live --serve`: scraped by curl and by Debian's Prometheus. As root.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("live" "live: bad luck")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"
need_command curl "${names[@]}" || plan_done

owner=''
trap 'end_processes $owner $child; rm -rf -- "$TMP"' EXIT
stats_off() { [[ $(cat /proc/sys/kernel/bpf_stats_enabled) == "$stats_before" ]]; }
valid_openmetrics() { "$O/tests/tools/openmetrics_check" <"$1"; }

# url_of: where $child serves, once it says so; for wait_until.
url_of() { url=$(sed -nE 's,^bpfbench: serving (http://[^ ]*/metrics).*,\1,p' "$TMP/err") && [[ -n $url ]]; }
# scraped TEXT: the figures have been served, and this is in them. For wait_until.
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
address=${url#http://} address=${address%/metrics}
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
nothing_left "at the end" 0
plan_done

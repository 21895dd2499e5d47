#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slow: an agent's cost is measured for a minute
# `bpfbench overhead` with an agent whose cost is known and large, and with agents and workloads that misbehave. As root.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

need_root "an agent that costs" "agents that misbehave" "workloads that misbehave" || plan_done
tool=$O/tests/tools/known_cost object=$O/tests/bpf/overhead.bpf.o
agent="$tool agent $object"

# over ARG...: with little work, so that the agent's share is large.
over() { run "${sudo[@]}" "$BPFBENCH" overhead --seed 1 "$@" -- "$tool" work 20000 0; }
figure() { sed -nE "s/^ *\"$1\": [{]\"base_s\": ([^,]*), \"head_s\": ([^,]*), .*/\\$2/p" "$TMP/out"; }
is_more() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; }
none_runs() { ! pgrep -f "^$agent" >/dev/null; }

# --- a program of 1000 rounds a call costs more than all the rest of the workload ---
over --agent "$agent 1000" --budget 25 --bystander true --format json -o "$WORK/over.json"
cp "$WORK/over.json" "$TMP/out"
blocks=$(sed -nE 's/^ "blocks": ([0-9]+),/\1/p' "$TMP/out")
printf '# %s blocks\n' "$blocks"
check "an agent that costs: at least one block" test "${blocks:-0}" -ge 1
if ((blocks >= 8)); then
	expect_status "an agent that costs: exit code 3" 3
	expect_grep "an agent that costs: the verdict" out '"cpu": .*"verdict": "above"'
else
	skip "an agent that costs: the verdict" "this machine is too slow for eight blocks in 25 s"
fi
check "an agent that costs: CPU time with it is more" is_more "$(figure cpu 2)" "$(figure cpu 1)"
check "an agent that costs: the bystander has a time" is_more "$(figure bystander 1)" 0
expect_grep "an agent that costs: its program" out '"type": "raw_tracepoint", "name": "costs_rounds", "runs": [0-9]{5,}'
check "an agent that costs: it is ended" none_runs

over --agent "$agent 1" --against "$agent 1000" --budget 4
expect_grep "against another agent: the columns" out ' against +agent +increase %'
expect_grep "against another agent: it is cheaper" out '^  CPU time .* -[0-9.]+( |$)'

over --agent "$agent 1" --budget 1 --format bmf
expect_status "a budget that is too short: no failure" 0
check "a budget that is too short: BMF" valid_bmf "$TMP/out"
over --agent "$agent 1" --budget 1
expect_grep "a budget that is too short: not judged" out '^  CPU time +not judged '
expect_grep "a budget that is too short: which budget" out '^next: .sudo bpfbench overhead --budget [0-9]+0 --seed 1 --agent '

# --- agents that misbehave ---
over --agent 'sleep 100' --ready-within 1 --budget 5
complains "an agent that loads nothing" 1 "was not ready within 1 s: it has loaded no BPF program; --ready-within .* --ready CMD"
over --agent "$agent 1" --ready false --ready-within 1 --budget 5
complains "an agent that --ready never likes" 1 "was not ready within 1 s: --ready 'false' still fails"
over --agent 'echo oops >&2; exit 3' --budget 5
complains "an agent that fails" 1 'ended with exit code 3 before it was ready; its stderr ends: oops'
over --agent "$agent 1 dies" --budget 60
expect_status "an agent that dies midway: exit code 1" 1
expect_grep "an agent that dies midway: said, with its last words" err 'ended with exit code 7 while it was measured; its stderr ends: .*out of luck'
over --agent "$agent 1 late" --budget 2
expect_status "an agent that is late: waited for" 0
over --agent "$agent 1 deaf" --budget 1
expect_grep "an agent that ignores SIGTERM" out 'ignored SIGTERM for 5 s and was killed'
check "an agent that ignores SIGTERM: it is ended" none_runs

over --agent "$agent 1 unread" --budget 1
expect_grep "a ring buffer that nobody reads: full" out "its ring buffer 'unread' was up to (9[5-9]|100) % full: events may have been lost"
expect_no_grep "lost events: none is said of the kernel, which left out none" out '^lost events: '
over --agent "$agent 1" --budget 1
expect_grep "a ring buffer that nobody writes: empty" out "its ring buffer 'unread' was up to 0 % full$"

# The verifier works on a second program for a second or more. If half a second of quiet were enough
# to be ready, the workload would run meanwhile.
long=10000
for ((i = 0; i < 6; i++)); do
	began=${EPOCHREALTIME/./}
	"$tool" verify "$long" || break
	((${EPOCHREALTIME/./} - began < 1000000)) || break
	((long = long * 3 / 2))
done
over_run() { run "$BPFBENCH" overhead --seed 1 "$@"; }
over_run --agent "$agent 1 & touch $TMP/loading; sleep 0.1; $tool verify $long; rm $TMP/loading; wait" --budget 1 \
	-- sh -c "[ ! -e $TMP/loading ] || touch $TMP/early; $tool work 20000 0"
expect_status "the verifier works on a program: waited for" 0
check "the verifier works on a program: the agent is not ready" test ! -e "$TMP/early"

# --- signals ---
# Two signals at random moments, of one kind or of two. The agent is a child of a shell, so that it
# does not die with that shell.
RANDOM=1
for ((i = 0; i < 8; i++)); do
	kinds=(TERM TERM INT)
	start "$BPFBENCH" overhead --agent "$agent 1 & wait" --budget 30 -- "$tool" work 20000 0
	sleep "$((RANDOM % 4)).$((RANDOM % 10))"
	kill -s TERM "$child"
	sleep "0.$((RANDOM % 5))"
	stop_child "${kinds[i % 3]}"
	expect_status "two signals: exit code 1" 1
	expect_grep "two signals: said" err 'stopped by signal'
	check "two signals: the agent is ended" none_runs
done

over --agent "$agent 1 & sleep 0.2; $agent 1000 & wait" --budget 3 --format json
ns=$(sed -nE 's/.*"name": "costs_rounds", .*"ns_per_run": ([0-9.]+),.*/\1/p' "$TMP/out" | sort -n | tr '\n' ' ')
read -r low high more <<<"$ns" || :
check "two programs of one name: a row each ($ns)" test -n "$high" -a -z "$more"
check "two programs of one name: with times of their own" is_more "$high" "$(awk "BEGIN { print 3 * $low }")"
over --agent 'sleep 100' --ready true --budget 1
expect_grep "an agent without programs: the rest of the difference" out '^  unexplained '

mkdir "$TMP/pins"
if unshare -m mount -t bpf bpf "$TMP/pins" 2>/dev/null; then
	# shellcheck disable=SC2016 # the inner shell's
	leaves() {
		PINS=$TMP/pins run unshare -m sh -c 'mount -t bpf bpf "$PINS" && "$@"; rc=$?; ls "$PINS" >&2; exit $rc' sh \
			"$BPFBENCH" overhead --agent "$agent 1 $TMP/pins/left" --budget 5 "$@" -- true
	}
	leaves
	expect_status "a program that is left behind: exit code 1" 1
	expect_grep "a program that is left behind: named" err "left 1 of its programs loaded: 'costs_rounds' \(id [0-9]+\)"
	expect_grep "a program that is left behind: it is left" err '^left$'
	leaves --clean
	expect_status "--clean: goes on" 0
	expect_grep "--clean: says it" out 'left pins of its programs behind; they were removed, and that unloaded [0-9]+ program'
	expect_no_grep "--clean: the pin is gone" err '^left$'
else
	skip "a program that is left behind" "no BPF file system can be mounted"
fi

# --- workloads that misbehave ---
run "$BPFBENCH" overhead --agent "$agent 1" --budget 5 -- sh -c 'echo alas >&2; exit 9'
complains "a workload that fails" 1 "the workload 'sh' ended with exit code 9 without the agent; its stderr ends: alas"
run "$BPFBENCH" overhead --agent "$agent 1" --budget 5 -- "$WORK/none"
complains "a workload that is not there" 1 "workload '$WORK/none' not found"
run "$BPFBENCH" overhead --agent "$agent 1" --budget 1 -- sleep 50
complains "a workload that does not end" 1 "one run of the workload 'sleep' takes longer than the budget \(1 s\)"
check "a workload that does not end: nothing of it is left" none_runs

# --- the workload is the caller's, the agent root's ---
run "${sudo[@]}" "$BPFBENCH" overhead --agent "id -u >$TMP/agent_id; exec $agent 1" --budget 1 -- sh -c "id -u >$WORK/id"
expect_eq "the agent is root's" "$(cat "$TMP/agent_id")" 0
((${#sudo[@]} == 0)) || expect_eq "the workload is the caller's" "$(cat "$WORK/id")" "$NOBODY"

# --- a server ---
over_server() { run "$BPFBENCH" overhead --agent "$agent 1" --budget 1 --format json "$@"; }
over_server --server 'sleep 100' --server-start 0.1 --load "$tool work 2000 0" --requests 2000
expect_status "a server and a load" 0
check "a server and a load: the figures are a request" is_more 0.001 "$(figure cpu 1)"
# The shell ends at once, but what it started takes a while to end. The next turn's server must not
# start before that.
late="$TMP/late"
over_server --server "(trap 'sleep 0.3; rmdir $late; exit 0' TERM; mkdir $late || exit 1; while :; do sleep 0.05; done) & wait" \
	--server-start 0.3 --load "$tool work 2000 0"
expect_status "a server whose child ends late is waited for" 0

# --- a load generator's own figures ---
printf '    Latency   600.00us    0.89ms  12.92ms   93.69%%\n     50%%  250.00us\n     99%%    5.80ms\nRequests/sec: 1000\n' >"$TMP/wrk"
chmod a+r "$TMP/wrk"
over_server --generator wrk --load "$tool work 2000 0; cat $TMP/wrk"
expect_status "a load generator" 0
check "a load generator: its p99" awk -v x="$(figure latency-p99 1)" 'BEGIN { exit !(x > 0.0057 && x < 0.0059) }'
expect_grep "a load generator: its requests a second" out '"throughput": [{]"base_per_s": 1000, "head_per_s": 1000,'
run "$BPFBENCH" overhead --agent "$agent 1" --budget 1 --generator wrk -- cat "$TMP/wrk"
expect_grep "a load generator: the table" out '^  latency, p99 +no limit +5[.]80 ms +5[.]80 ms +[+]0[.]0'
over_server --generator wrk --load true
complains "a load generator that prints no figures" 1 'printed no requests a second of .wrk --latency. on its stdout'

if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	socket=$TMP/redis.sock # no port, which another may have
	over_server --generator redis-benchmark --server "exec redis-server --port 0 --unixsocket $socket --save '' --dir $TMP" \
		--server-start 2 --load "redis-benchmark --csv -s $socket -t get -n 2000" --requests 2000
	expect_status "redis-benchmark itself" 0
	check "redis-benchmark itself: requests a second" \
		is_more "$(sed -nE 's/^ *"throughput": [{]"base_per_s": ([^,]*),.*/\1/p' "$TMP/out")" 0
	check "redis-benchmark itself: the 99th percentile" is_more "$(figure latency-p99 1)" 0
else
	skip "redis-benchmark itself" "redis-server and redis-benchmark are not installed"
fi

# --- servers that misbehave ---
over_server --server 'exit 5' --load true
complains "a server that fails" 1 "the server 'exit 5' ended with exit code 5"
over_server --server true --load true
complains "a server that goes into the background" 1 "it must stay in the foreground"
plan_done

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In situ by packets, HTTP and attachment, from the command line, as root: what is reported, that
# the senders have no rights of root, and that no program, link, process, device or network
# namespace is left behind, however it ends.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("packets and HTTP" "attach" "who the senders are" "nothing is left behind")
need_root "${names[@]}" || plan_done
if (($(nproc) < 2)); then
	skip_each "in-situ needs two CPUs" "${names[@]}" || plan_done
fi
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# scenario OBJECT VARIANTS DRIVE...
scenario() {
	printf 'name: net\nobject: %s\nvariants: [%s]\ndrive:\n' "$O/tests/bpf/$1" "$2"
	shift 2
	printf '  - {with: in-situ, %s}\n' "$@"
}

# --- packets and HTTP ---
scenario packets.bpf.o '{name: xdp_sees}, {name: xdp_drops}' 'event: packets, rate_hz: [500, 1000], seconds: 0.3' \
	'event: http, seconds: 0.3' >"$WORK/net.yml"
real -s "$WORK/net.yml" --loads 3 --seed 1
if ((status == 4)) && grep -q 'network namespace\|veth' "$TMP/err"; then
	skip_each "$(grep -m 1 'network namespace\|veth' "$TMP/err")" "${names[@]}" || plan_done
fi
expect_status "packets and HTTP: succeeds" 0
check "packets and HTTP: stdout is strictly valid BMF" valid_bmf "$TMP/out"
expect_no_grep "packets and HTTP: every packet was one run" err ' void: '
for case in xdp_sees/in-situ-packets/rate_hz=500 xdp_drops/in-situ-packets/rate_hz=1000 xdp_sees/in-situ-http/rate_hz=50; do
	check "packets and HTTP: $case has its cost" more "$(bmf "$TMP/out" "net/$case" latency)" 0
	check "packets and HTTP: $case has its rate" more "$(bmf "$TMP/out" "net/$case" sample-rate)" 0
done
expect_grep "HTTP over a program that drops: skipped by name" err \
	"skipped: net/xdp_drops/in-situ-http: .*Connection timed out; does 'xdp_drops' let packets pass"
nothing_left "packets and HTTP" 1
real -s "$WORK/net.yml" -d in-situ-packets --loads 2 --quiet
expect_no_grep "-d in-situ-packets: no HTTP" out http
rm -rf "$results"
scenario packets.bpf.o '{name: a, program: xdp_sees}, {name: b, program: xdp_sees}' 'event: packets' >"$WORK/two.yml"
real compare -s "$WORK/two.yml" --base a --head b --loads 2 --no-store
expect_status "compare by packets: succeeds" 0
expect_grep "compare by packets: names the case" out '^net/in-situ-packets/rate_hz=1000'
nothing_left "compare by packets" 0

# --- attach ---
# shellcheck disable=SC2016 # the workload's
scenario attach.bpf.o '{name: on_uprobe}, {name: on_tracepoint}, {name: on_sys_enter}, {name: nowhere}' \
	'event: attach, workload: /bin/sh, args: [-c, "while :; do echo; done"], seconds: 0.3' >"$WORK/attach.yml"
mounts_before=$(grep -c '^tracefs ' /proc/self/mounts || true)
real -s "$WORK/attach.yml" --loads 3
expect_no_grep "attach: a tracepoint is found, also where tracefs is not mounted" err "attaching 'on_tracepoint'"
expect_eq "attach: the machine's mounts stay as they are" "$(grep -c '^tracefs ' /proc/self/mounts || true)" "$mounts_before"
expect_grep "attach: a program that our own polling runs is void, and why" err \
	'void: net/on_sys_enter/in-situ-attach: .*bpfbench.s own readings make it run: '
expect_grep "attach: a section that names no hook is skipped by name" err 'skipped: net/nowhere/in-situ-attach: .*does not say where'
expect_no_grep "attach: a uprobe counts" err '(void|skipped): net/on_uprobe'
nothing_left "attach" 1

# --- who the senders are, and however it ends ---
network() { cut -d: -f1 /proc/net/dev | sort; ls /run/netns 2>/dev/null || true; }
network_before=$(network)
no_network() { [[ $(network) == "$network_before" ]]; }
senders() { pgrep -P "$child" || true; }
no_senders() { ! pgrep -f -- "--results $results"; }
# have_sent SWITCHES: the senders had more context switches since, and so have sent packets: before
# each packet a sender sleeps.
switches() { while read -r pid; do sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$pid/status"; done <"$TMP/senders" | awk '{ n += $1 } END { print n + 0 }'; }
have_sent() { (($(switches) > $1 + 100)); }
some_senders() { [[ $(senders | wc -l) == "$1" ]] && senders >"$TMP/senders"; }
# of_senders KEY: the different values of that line in the senders' status.
of_senders() { while read -r pid; do awk -v key="$1:" '$1 == key { $1 = ""; print substr($0, 2) }' "/proc/$pid/status"; done <"$TMP/senders" | sort -u; }
fds_of_senders() { while read -r pid; do find "/proc/$pid/fd" -printf '%l\n'; done <"$TMP/senders"; }

# ends SIGNAL EVENT SENDERS
ends() {
	local name="SIG$1 during $2" expected=1

	scenario packets.bpf.o '{name: xdp_sees}' "event: $2, seconds: 600" >"$WORK/long.yml"
	start "${sudo[@]}" "$BPFBENCH" -s "$WORK/long.yml" --loads 1 --budget 0 --results "$results"
	check "$name: before it, there are senders" wait_until 10 some_senders "$3"
	check "$name: and they send" wait_until 10 have_sent "$(switches)"
	if [[ $1 == KILL ]]; then
		expect_eq "$2: they run as the user who called sudo" "$(of_senders Uid)" "$NOBODY $NOBODY $NOBODY $NOBODY"
		expect_eq "$2: without capabilities" "$(of_senders CapEff)" "0000000000000000"
		expect_eq "$2: and hold nothing of BPF's and no namespace" "$(fds_of_senders | grep -cE '^anon_inode:bpf|^net:')" 0
		expect_eq "$2: all on one CPU" "$(of_senders Cpus_allowed_list | grep -cx '[0-9]*')" 1
	fi
	[[ $1 != KILL ]] || expected=137
	stop_child "$1"
	expect_status "$name: exit code $expected" "$expected"
	expect_empty "$name: no BMF" out
	check "$name: no sender is left" wait_until 2 no_senders
	check "$name: no device or namespace is left" wait_until 2 no_network
	nothing_left "$name" "$((expected == 1))"
}
if need_user "who the senders are" "nothing is left behind"; then
	for signal in INT KILL; do
		ends "$signal" packets 1
		ends "$signal" http 2
	done
fi

plan_done

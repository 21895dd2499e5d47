#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The documentation as a whole: links lead somewhere; options and files that it names exist; docs/scenario.md has exactly the keys that
# bpfbench accepts in scenarios, each with an example that it accepts; and each page has a test of its commands.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check calls
. "$(dirname "$0")/../tool.sh"

mapfile -t pages < <(printf '%s\n' README.md CONTRIBUTING.md docs/*.md docs/methods/*.md plots/README.md results/README.md)

# --- links ---
# Prints the anchors of a page, as GitHub makes them from its headings.
anchors_of() {
	sed -nE 's/^#+ +//p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# links_of PAGE: prints the targets of its links outside of code, one a line.
links_of() {
	awk '/^```/ { code = !code } !code && !/^    /' "$1" | sed 's/`[^`]*`//g' | grep -oE '\]\([^)]+\)' | sed -E 's/^\]\(//; s/\)$//'
}

dead_links() {
	local page=$1 link file anchor

	while IFS= read -r link; do
		[[ $link != http* ]] || continue
		file=${link%%#*} anchor=''
		[[ $link != *#* ]] || anchor=${link#*#}
		[[ -z $file ]] && file=$page || file=$(dirname "$page")/$file
		if [[ ! -e $file ]]; then
			echo "$link: no such file"
		elif [[ -n $anchor ]] && ! grep -qxF -- "$anchor" <<<"$(anchors_of "$file")"; then
			echo "$link: no such heading"
		fi
	done < <(links_of "$page" || true)
}

for page in "${pages[@]}"; do
	expect_eq "$page: links lead somewhere" "$(dead_links "$page")" ""
done
linked=$(for page in "${pages[@]}"; do links_of "$page" || true; done)
leads_to() { grep -qE -- "$1" <<<"$linked"; }
for page in docs/*.md docs/methods/*.md; do
	check "$page: some page leads to it" leads_to "(^|/)${page##*/}(#|\$)"
done
for image in docs/images/*; do
	check "$image: some page shows it" leads_to "(^|/)${image##*/}\$"
done

# --- the README, and a test for each page with commands ---
check "README.md: at most 150 lines" test "$(wc -l <README.md)" -le 150
# The pages whose commands a test runs. A test names one page, or a pattern for those of a folder.
tested=$(sed -n 's/^run_page //p' harness/tests/docs/test_*.sh | while IFS= read -r pattern; do compgen -G "$pattern"; done)
untested=''
for page in README.md CONTRIBUTING.md docs/*.md docs/methods/*.md; do
	! grep -qE '^(```sh|    \$ )' "$page" || grep -qxF "$page" <<<"$tested" || untested+=" $page"
done
expect_eq "the commands of every page are run by a test" "$untested" ""

# --- options and files that are named ---
commands=$("$BPFBENCH" --help | sed -n '/^Commands/,/^Options/s/^  \([a-z]*\) .*/\1/p')
{
	"$BPFBENCH" --help
	for command in $commands; do "$BPFBENCH" "$command" --help; done
	ci/bencher.sh --help
} | grep -oE -- '--[a-z][a-z-]+' | sort -u >"$TMP/options"
# options of other programs: bencher, systemctl, valgrind, ctags, cargo, a server, redis-server; and one of plot.sh
printf '%s\n' --adapter --allow-failure --now --tool --c-kinds --bench --page --release --port --appendonly >>"$TMP/options"
found=$(grep -ohE -- '(^|[ `(|[])--[a-z][a-z-]+' "${pages[@]}" | grep -oE -- '--[a-z-]+' | sort -u | grep -vxF -f "$TMP/options" || true)
expect_eq "every option that the pages name exists" "$found" ""

missing=$(sed 's/`harness\//`/g' docs/architecture.md CONTRIBUTING.md | grep -oE '`[a-z_]+/[a-zA-Z0-9_./-]+`' | tr -d '`' | sort -u | while IFS= read -r file; do
	[[ $file == *NAME* || $file == *__* || $file == *KIND* || -e $file || -e harness/$file || -n $(compgen -G "harness/$file.[ch]") ]] || echo "$file"
done)
expect_eq "docs/architecture.md, CONTRIBUTING.md: every file that they name exists" "$missing" ""

# --- the keys of a scenario ---
cd -- "$TMP"
head -c 60 /dev/zero >syn.bin
head -c 4 /dev/zero >ctx.bin
echo 0a000001 >keys.csv
printf '{"maps": [{"name": "flows", "entries": {"01": "02"}}]}' >maps.json
{
	printf '\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x3c\0\0\0\x3c\0\0\0'
	head -c 60 /dev/zero
} >capture.pcap

# scenario KIND MAPPING: prints a whole scenario with that mapping in it.
scenario() {
	local head='object: a.bpf.o' name='name: t' variants='variants: [{name: a}]' drive='drive: [{with: step}]' at=$2

	case $1 in
	xdp | skb) at="{name: x, file: syn.bin, $1: $2}" ;;
	sweep) at="{sweep: $2}" ;;
	prepare) at="{name: b, prepare: [$2]}" ;;
	fired_by) at="{name: b, fired_by: $2}" ;;
	buffer) at="{name: b, fired_by: {call: f, arguments: [$2]}}" ;;
	packet) at="{name: x, packet: $2}" ;;
	eth) at="{name: x, packet: {eth: $2}}" ;;
	ipv4) at="{name: x, packet: {ipv4: $2}}" ;;
	ipv6) at="{name: x, packet: {ipv6: $2}}" ;;
	ports) at="{name: x, packet: {ipv4: {src: 10.0.0.1, dst: 10.0.0.2}, udp: $2}}" ;;
	esac
	case $1 in
	scenario)
		case $2 in
		name:*) name='' ;;
		object:*) head='' ;;
		variants:*) variants='' ;;
		drive:*) drive='' ;;
		esac
		head+=$'\n'$2
		;;
	expect) head+=$'\n'"expect: $2" ;;
	variant) variants="variants: [{name: a}, $2]" ;;
	prepare | fired_by | buffer) variants="variants: [{name: a}, $at]" ;;
	drive) drive="drive: [$2]" ;;
	map) head+=$'\n'"maps: [$2]" ;;
	fill) head+=$'\n'"maps: [{name: m, fill: $2}]" ;;
	fill_key) head+=$'\n'"maps: [{name: m, fill: {count: 1, key: $2}}]" ;;
	inner) head+=$'\n'"maps: [{name: m, inner: $2}]" ;;
	entry) head+=$'\n'"maps: [{name: m, entries: [$2]}]" ;;
	*) drive="drive: [{with: step, trigger: test-run, inputs: [$at]}]" ;;
	esac
	printf '%s\n' "$name" "$head" "$variants" "$drive"
}

# taken KIND MAPPING: prints the keys that bpfbench accepts in such a mapping, one a line, from its own message about an unknown key.
taken() {
	scenario "$1" "$2" >taken.yml
	"$BPFBENCH" -s ./taken.yml --dry-run 2>&1 | sed -nE 's/^.*unknown key .* takes: //p' | tr ',' '\n' | tr -d ' '
}

keys_of() {
	local with by

	case $1 in
	scenario) taken scenario 'nosuch: 1' ;;
	drive)
		for with in $(taken_drives); do
			taken drive "{with: $with, nosuch: 1}"
		done
		for by in page-fault test-run; do taken drive "{with: step, trigger: $by, nosuch: 1}"; done
		for by in cpu-clock packets http attach; do taken drive "{with: in-situ, event: $by, nosuch: 1}"; done
		;;
	sweep)
		taken sweep '{nosuch: 1}'
		taken sweep '{hex: "ffffffffffff 000000000000 0800", nosuch: 1}'
		;;
	*) taken "$1" '{nosuch: 1}' ;;
	esac | sort -u
}

taken_drives() {
	scenario drive '{nosuch: 1}' >taken.yml
	"$BPFBENCH" -s ./taken.yml --dry-run 2>&1 | sed -nE "s/^.*the key 'with', one of: //p" | tr -d ','
}

# rows_of KIND: prints "KEY<TAB>EXAMPLE" for each row of the table after the comment that names KIND.
rows_of() {
	awk -v kind="$1" '
	$0 == "<!-- keys: " kind " -->" { inside = 1; next }
	inside && !/^\|/ { exit }
	inside && /^\| `/ {
		key = $0; sub(/^\| `/, "", key); sub(/`.*/, "", key)
		example = $0; sub(/` \|$/, "", example); sub(/.*\| `/, "", example)
		print key "\t" example
	}' "$ROOT/docs/scenario.md"
}

mapfile -t kinds < <(sed -nE 's/^<!-- keys: (.*) -->$/\1/p' "$ROOT/docs/scenario.md")
check "docs/scenario.md: tables of keys were seen" test "${#kinds[@]}" -ge 12
for kind in "${kinds[@]}"; do
	expect_eq "docs/scenario.md: $kind: exactly the keys that are taken" "$(rows_of "$kind" | cut -f 1 | sort)" "$(keys_of "$kind")"
	bad=''
	while IFS=$'\t' read -r key example; do
		scenario "$kind" "$example" >example.yml
		[[ $example =~ (^|[ {])$key: ]] || bad+="$key: not in its example"$'\n'
		why=$("$BPFBENCH" -s ./example.yml --dry-run 2>&1 >/dev/null) || bad+="$example: $why"$'\n'
	done < <(rows_of "$kind")
	expect_eq "docs/scenario.md: $kind: the reader accepts every example" "$bad" ""
done

# The page's YAML blocks, which are whole scenarios or parts of one.
awk '/^```yaml$/ { n++; inside = 1; next } /^```/ { inside = 0 } inside { print > ("block" n ".yml") }' "$ROOT/docs/scenario.md"
for block in block*.yml; do
	grep -q '^name:' "$block" || sed -i '1i name: t' "$block"
	grep -q '^object:' "$block" || echo 'object: a.bpf.o' >>"$block"
	grep -q '^variants:' "$block" || echo 'variants: [{name: a}]' >>"$block"
	grep -q '^drive:' "$block" || echo 'drive: [{with: step}]' >>"$block"
	run "$BPFBENCH" -s "./$block" --dry-run
	expect_status "docs/scenario.md: yaml block ${block//[!0-9]/} is a scenario" 0
done
plan_done

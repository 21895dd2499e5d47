# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Helpers for the shell tests that look at a page in headless Chromium. Source it after tool.sh. $browser is empty where there
# is none: skip by name then. What it keeps of its own is in $WORK/browser.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)

# dom URL [FLAG]...: the document after its scripts have run is then in $TMP/out, what they had to complain of in $TMP/err.
dom() {
	local url=$1

	shift
	run timeout 60 "$browser" --headless --no-sandbox --disable-gpu --enable-logging=stderr \
		--user-data-dir="$WORK/browser" "$@" --dump-dom "$url"
}

# probe FILE WIDTH SCRIPT [FLAG]...: the page in a window of that width (its own would not get below 500 px), and in $TMP/out
# what SCRIPT says of it by say(name, value), each as a line "name: value". It has `page` (the document) and `view` (the window).
probe() {
	local file=$1 width=$2 script=$3

	shift 3
	cat >"$WORK/probe.html" <<-HTML
	<!DOCTYPE html><body><iframe id=frame src="file://$file" width=$width height=900></iframe><pre id=said></pre><script>
	document.getElementById('frame').onload = function () {
		var view = this.contentWindow, page = this.contentDocument, said = [];
		function say(name, value) { said.push(name + ': ' + value); }
		$script
		document.getElementById('said').textContent = said.join('\n') + '\n';
	};
	</script></body>
	HTML
	dom "file://$WORK/probe.html" --allow-file-access-from-files "$@"
	sed -n '/<pre id="said">/,/<\/pre>/{s,.*<pre id="said">,,; s,</pre>.*,,; p}' "$TMP/out" >"$TMP/said"
	mv "$TMP/said" "$TMP/out"
	sed -i '/CONSOLE/!d' "$TMP/err"
}

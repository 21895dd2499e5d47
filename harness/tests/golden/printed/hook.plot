# bpfbench plot data, version 4. Tabs part the columns, two empty lines the blocks (gnuplot: index).
# A block begins with a comment line, its name and what it is of, parted by tabs. NaN: none.
# run	id	started	kernel	cpu	steal_percent	why_incomplete	bpfbench	clocksource, once, before the blocks;
#	clocksource "instructions": ns are machine instructions
# ecdf	case	scenario	variant	drive	param	param_value	role	sample	samples	p50_ns	p90_ns	p99_ns,
#	one block a case; its rows:
#	case	ns	share (of the valid samples that took at most that long; thinned, the ends are kept)
# backlog	case	scenario	variant	drive	param	param_value	role	sample, one block a case with a ring; its rows:
#	case	ms	bytes (in the ring; a row of NaN parts the loads)
# loads	(as backlog), one block a case that was loaded anew; its rows, one a load that counts:
#	case	load	jit_address_mod_64	ns (its mean without outliers)
# net	(as backlog), one block a case; its row:
#	case	latency_ns	lo_ns	hi_ns	floor_ns	net_ns	net_lo_ns	net_hi_ns
# cost	scenario	variant	drive	param	role, one block each; its rows, in the order of the run:
#	scenario	variant	drive	param	param_value	latency_ns	lo_ns	hi_ns	value_name	map_bytes
# slowdown, as cost; its rows: percent above the floor instead of ns.
# ab	name	base	head	threshold_percent	confidence_percent	verdict, one block a comparison; its rows:
#	name	what	percent	lo	hi (of head above base; what: matched, unmatched, net, or pair, unmatched-pair: of one)
# lines	(as backlog, the scenario with its program, the variant a part of it), one block a line
#	or call of one run that takes 3 ns or more, 20 at most, the longest first; its row:
#	case	ns	lo_ns	hi_ns	cold_ns
# sample: the time is that of a "run", "call", "command" or "lag".
# role is "floor" for the program that the others are measured against, else "-".
# run	20261123T185851Z-golden_hook-0257df23	2026-11-23T18:58:51Z	6.18.44	AMD EPYC	0.087	-	0.1.0	tsc


# ecdf	golden_hook/on_openat/hook	golden_hook	on_openat	hook	-	0	-	event	30	294.4	NaN	NaN
golden_hook/on_openat/hook	132.32	0.033333
golden_hook/on_openat/hook	157.28	0.066667
golden_hook/on_openat/hook	227.168	0.100000
golden_hook/on_openat/hook	237.6	0.133333
golden_hook/on_openat/hook	262.112	0.166667
golden_hook/on_openat/hook	266.688	0.200000
golden_hook/on_openat/hook	267.328	0.233333
golden_hook/on_openat/hook	271.68	0.266667
golden_hook/on_openat/hook	273.088	0.300000
golden_hook/on_openat/hook	283.584	0.333333
golden_hook/on_openat/hook	284.096	0.366667
golden_hook/on_openat/hook	285.504	0.400000
golden_hook/on_openat/hook	286.144	0.433333
golden_hook/on_openat/hook	289.216	0.466667
golden_hook/on_openat/hook	294.336	0.500000
golden_hook/on_openat/hook	294.464	0.533333
golden_hook/on_openat/hook	298.56	0.566667
golden_hook/on_openat/hook	304.064	0.600000
golden_hook/on_openat/hook	304.832	0.633333
golden_hook/on_openat/hook	308.032	0.666667
golden_hook/on_openat/hook	309.44	0.700000
golden_hook/on_openat/hook	310.592	0.733333
golden_hook/on_openat/hook	310.72	0.766667
golden_hook/on_openat/hook	313.152	0.800000
golden_hook/on_openat/hook	314.56	0.833333
golden_hook/on_openat/hook	315.584	0.866667
golden_hook/on_openat/hook	318.272	0.900000
golden_hook/on_openat/hook	328.64	0.933333
golden_hook/on_openat/hook	336.448	0.966667
golden_hook/on_openat/hook	378.304	1.000000


# ecdf	golden_hook/on_openat/step	golden_hook	on_openat	step	-	0	-	run	5945	70	70	80
golden_hook/on_openat/step	60	0.325315
golden_hook/on_openat/step	61	0.354920
golden_hook/on_openat/step	70	0.924811
golden_hook/on_openat/step	71	0.986880
golden_hook/on_openat/step	80	0.996131
golden_hook/on_openat/step	81	0.997813
golden_hook/on_openat/step	90	0.999327
golden_hook/on_openat/step	91	0.999832
golden_hook/on_openat/step	130	1.000000


# loads	golden_hook/on_openat/hook	golden_hook	on_openat	hook	-	0	-	event
golden_hook/on_openat/hook	0	8	286.227
golden_hook/on_openat/hook	1	20	290.854
golden_hook/on_openat/hook	2	16	313.203
golden_hook/on_openat/hook	3	12	317.53
golden_hook/on_openat/hook	4	8	284.358
golden_hook/on_openat/hook	5	12	220.589


# loads	golden_hook/on_openat/step	golden_hook	on_openat	step	-	0	-	run
golden_hook/on_openat/step	0	8	64.278
golden_hook/on_openat/step	1	20	67.641
golden_hook/on_openat/step	2	16	66.571
golden_hook/on_openat/step	3	12	66.259
golden_hook/on_openat/step	4	8	69.67
golden_hook/on_openat/step	5	12	65.639


# net	golden_hook/on_openat/hook	golden_hook	on_openat	hook	-	0	-	event
golden_hook/on_openat/hook	288.541	220.589	317.53	286.894	0.781	-12.435	30.615


# net	golden_hook/on_openat/step	golden_hook	on_openat	step	-	0	-	run
golden_hook/on_openat/step	66.415	64.278	69.67	NaN	NaN	NaN	NaN


# cost	golden_hook	on_openat	hook	-	-
golden_hook	on_openat	hook	-	0	288.541	220.589	317.53	-	NaN


# cost	golden_hook	on_openat	step	-	-
golden_hook	on_openat	step	-	0	66.415	64.278	69.67	-	NaN

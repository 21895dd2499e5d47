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
# run	20261123T185856Z-golden_call-35828a8a	2026-11-23T18:58:56Z	6.18.44	AMD EPYC	0.066	-	0.1.0	tsc


# ecdf	golden_call/oops/call	golden_call	oops	call	-	0	-	call	13	437080031.232	NaN	NaN
golden_call/oops/call	106048782.336	0.076923
golden_call/oops/call	193038647.296	0.153846
golden_call/oops/call	212030455.808	0.230769
golden_call/oops/call	354133475.328	0.307692
golden_call/oops/call	386077294.592	0.384615
golden_call/oops/call	402049204.224	0.461538
golden_call/oops/call	437080031.232	0.538462
golden_call/oops/call	528079650.816	0.615385
golden_call/oops/call	546064826.368	0.692308
golden_call/oops/call	714172530.688	0.769231
golden_call/oops/call	779133911.04	0.846154
golden_call/oops/call	811077730.304	0.923077
golden_call/oops/call	961133150.208	1.000000


# ecdf	golden_call/fixed/call	golden_call	fixed	call	-	0	-	call	4150	38.888	39.592	59.48
golden_call/fixed/call	37.352	0.000241
golden_call/fixed/call	37.496	0.003614
golden_call/fixed/call	37.544	0.009639
golden_call/fixed/call	37.576	0.015181
golden_call/fixed/call	37.608	0.020241
golden_call/fixed/call	37.64	0.026024
golden_call/fixed/call	37.672	0.033735
golden_call/fixed/call	37.704	0.040000
golden_call/fixed/call	37.736	0.046988
golden_call/fixed/call	37.768	0.055422
golden_call/fixed/call	37.8	0.060723
golden_call/fixed/call	37.848	0.067229
golden_call/fixed/call	37.88	0.073735
golden_call/fixed/call	37.944	0.079759
golden_call/fixed/call	37.992	0.085060
golden_call/fixed/call	38.04	0.091084
golden_call/fixed/call	38.104	0.097831
golden_call/fixed/call	38.136	0.103855
golden_call/fixed/call	38.168	0.109157
golden_call/fixed/call	38.2	0.115422
golden_call/fixed/call	38.232	0.125783
golden_call/fixed/call	38.264	0.134458
golden_call/fixed/call	38.296	0.143373
golden_call/fixed/call	38.312	0.148675
golden_call/fixed/call	38.344	0.158554
golden_call/fixed/call	38.376	0.166265
golden_call/fixed/call	38.408	0.173253
golden_call/fixed/call	38.424	0.178795
golden_call/fixed/call	38.44	0.184819
golden_call/fixed/call	38.456	0.190602
golden_call/fixed/call	38.488	0.201928
golden_call/fixed/call	38.504	0.209880
golden_call/fixed/call	38.52	0.218554
golden_call/fixed/call	38.536	0.224819
golden_call/fixed/call	38.552	0.232771
golden_call/fixed/call	38.568	0.240000
golden_call/fixed/call	38.584	0.247229
golden_call/fixed/call	38.6	0.254458
golden_call/fixed/call	38.616	0.262892
golden_call/fixed/call	38.632	0.269639
golden_call/fixed/call	38.648	0.280241
golden_call/fixed/call	38.664	0.292530
golden_call/fixed/call	38.68	0.307952
golden_call/fixed/call	38.696	0.318795
golden_call/fixed/call	38.712	0.332771
golden_call/fixed/call	38.728	0.346747
golden_call/fixed/call	38.744	0.358313
golden_call/fixed/call	38.76	0.372530
golden_call/fixed/call	38.776	0.388675
golden_call/fixed/call	38.792	0.406265
golden_call/fixed/call	38.808	0.421928
golden_call/fixed/call	38.824	0.439759
golden_call/fixed/call	38.84	0.460964
golden_call/fixed/call	38.856	0.473494
golden_call/fixed/call	38.872	0.491084
golden_call/fixed/call	38.888	0.506747
golden_call/fixed/call	38.904	0.524337
golden_call/fixed/call	38.92	0.543614
golden_call/fixed/call	38.936	0.561205
golden_call/fixed/call	38.952	0.576627
golden_call/fixed/call	38.968	0.591084
golden_call/fixed/call	38.984	0.603855
golden_call/fixed/call	39	0.617349
golden_call/fixed/call	39.016	0.634699
golden_call/fixed/call	39.032	0.648193
golden_call/fixed/call	39.048	0.664096
golden_call/fixed/call	39.064	0.679036
golden_call/fixed/call	39.08	0.689398
golden_call/fixed/call	39.096	0.700964
golden_call/fixed/call	39.112	0.711807
golden_call/fixed/call	39.128	0.722410
golden_call/fixed/call	39.144	0.732530
golden_call/fixed/call	39.16	0.741928
golden_call/fixed/call	39.176	0.752771
golden_call/fixed/call	39.192	0.760241
golden_call/fixed/call	39.208	0.769639
golden_call/fixed/call	39.224	0.778313
golden_call/fixed/call	39.24	0.787470
golden_call/fixed/call	39.256	0.799036
golden_call/fixed/call	39.272	0.806024
golden_call/fixed/call	39.288	0.817349
golden_call/fixed/call	39.304	0.826265
golden_call/fixed/call	39.32	0.831807
golden_call/fixed/call	39.352	0.844096
golden_call/fixed/call	39.368	0.850120
golden_call/fixed/call	39.4	0.860723
golden_call/fixed/call	39.416	0.865783
golden_call/fixed/call	39.432	0.870843
golden_call/fixed/call	39.464	0.877108
golden_call/fixed/call	39.496	0.884096
golden_call/fixed/call	39.528	0.890361
golden_call/fixed/call	39.56	0.895904
golden_call/fixed/call	39.592	0.901205
golden_call/fixed/call	39.64	0.908916
golden_call/fixed/call	39.672	0.914458
golden_call/fixed/call	39.72	0.919518
golden_call/fixed/call	39.752	0.924819
golden_call/fixed/call	39.784	0.929880
golden_call/fixed/call	39.848	0.935422
golden_call/fixed/call	39.912	0.941205
golden_call/fixed/call	39.976	0.946747
golden_call/fixed/call	40.088	0.951807
golden_call/fixed/call	40.184	0.957108
golden_call/fixed/call	40.328	0.960000
golden_call/fixed/call	40.456	0.963614
golden_call/fixed/call	40.584	0.966747
golden_call/fixed/call	40.712	0.968434
golden_call/fixed/call	40.904	0.969880
golden_call/fixed/call	41.032	0.971566
golden_call/fixed/call	41.224	0.972289
golden_call/fixed/call	41.416	0.973253
golden_call/fixed/call	41.608	0.973735
golden_call/fixed/call	41.912	0.974940
golden_call/fixed/call	42.056	0.975181
golden_call/fixed/call	42.2	0.975422
golden_call/fixed/call	42.344	0.977108
golden_call/fixed/call	42.6	0.977590
golden_call/fixed/call	43.064	0.977831
golden_call/fixed/call	43.72	0.978072
golden_call/fixed/call	44.056	0.978554
golden_call/fixed/call	45.64	0.978795
golden_call/fixed/call	45.96	0.979036
golden_call/fixed/call	46.6	0.979277
golden_call/fixed/call	48.28	0.979518
golden_call/fixed/call	48.968	0.979759
golden_call/fixed/call	49.864	0.980000
golden_call/fixed/call	50.248	0.980482
golden_call/fixed/call	51.656	0.980723
golden_call/fixed/call	52.936	0.981205
golden_call/fixed/call	54.024	0.981446
golden_call/fixed/call	54.792	0.981687
golden_call/fixed/call	55.88	0.982169
golden_call/fixed/call	56.072	0.982651
golden_call/fixed/call	56.68	0.982892
golden_call/fixed/call	57.416	0.983133
golden_call/fixed/call	57.704	0.983373
golden_call/fixed/call	58.008	0.983855
golden_call/fixed/call	58.312	0.984578
golden_call/fixed/call	58.52	0.985542
golden_call/fixed/call	58.76	0.986506
golden_call/fixed/call	58.952	0.987711
golden_call/fixed/call	59.144	0.988193
golden_call/fixed/call	59.4	0.989639
golden_call/fixed/call	59.624	0.990602
golden_call/fixed/call	59.928	0.992530
golden_call/fixed/call	60.136	0.993494
golden_call/fixed/call	60.344	0.994699
golden_call/fixed/call	60.536	0.995181
golden_call/fixed/call	60.92	0.996627
golden_call/fixed/call	61.32	0.996867
golden_call/fixed/call	61.688	0.997108
golden_call/fixed/call	61.912	0.997349
golden_call/fixed/call	62.12	0.997831
golden_call/fixed/call	62.376	0.998313
golden_call/fixed/call	62.664	0.998795
golden_call/fixed/call	63	0.999036
golden_call/fixed/call	63.56	0.999277
golden_call/fixed/call	64.168	0.999518
golden_call/fixed/call	64.696	0.999759
golden_call/fixed/call	69.136	1.000000


# loads	golden_call/oops/call	golden_call	oops	call	-	0	-	call
golden_call/oops/call	0	NaN	961133150.208
golden_call/oops/call	1	NaN	437080031.232
golden_call/oops/call	2	NaN	811077730.304
golden_call/oops/call	3	NaN	402049204.224
golden_call/oops/call	4	NaN	714172530.688
golden_call/oops/call	5	NaN	779133911.04
golden_call/oops/call	6	NaN	193038647.296
golden_call/oops/call	7	NaN	159039619.072
golden_call/oops/call	8	NaN	386077294.592
golden_call/oops/call	9	NaN	528079650.816
golden_call/oops/call	10	NaN	354133475.328
golden_call/oops/call	11	NaN	546064826.368


# loads	golden_call/fixed/call	golden_call	fixed	call	-	0	-	call
golden_call/fixed/call	0	NaN	38.991
golden_call/fixed/call	1	NaN	39.181
golden_call/fixed/call	2	NaN	39.098
golden_call/fixed/call	3	NaN	39.107
golden_call/fixed/call	4	NaN	38.904
golden_call/fixed/call	5	NaN	39.158
golden_call/fixed/call	6	NaN	39.137
golden_call/fixed/call	7	NaN	38.779
golden_call/fixed/call	8	NaN	39.118
golden_call/fixed/call	9	NaN	38.73
golden_call/fixed/call	10	NaN	38.141
golden_call/fixed/call	11	NaN	38.058


# net	golden_call/oops/call	golden_call	oops	call	-	0	-	call
golden_call/oops/call	482579841.024	354133475.328	779133911.04	NaN	NaN	NaN	NaN


# net	golden_call/fixed/call	golden_call	fixed	call	-	0	-	call
golden_call/fixed/call	39.045	38.73	39.137	NaN	NaN	NaN	NaN


# cost	golden_call	oops	call	-	-
golden_call	oops	call	-	0	482579841.024	354133475.328	779133911.04	-	NaN


# cost	golden_call	fixed	call	-	-
golden_call	fixed	call	-	0	39.045	38.73	39.137	-	NaN

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
# run	20261123T190332Z-golden_lines-0c8b87aa	2026-11-23T19:03:32Z	6.18.44	AMD EPYC	0.069	-	0.1.0	tsc


# ecdf	golden_lines/ringbuf/lines/stack_depth=8	golden_lines	ringbuf	lines	stack_depth	8	-	run	17010	6511	6801	8522
golden_lines/ringbuf/lines/stack_depth=8	6069	0.000118
golden_lines/ringbuf/lines/stack_depth=8	6139	0.002116
golden_lines/ringbuf/lines/stack_depth=8	6179	0.007525
golden_lines/ringbuf/lines/stack_depth=8	6201	0.013169
golden_lines/ringbuf/lines/stack_depth=8	6219	0.019224
golden_lines/ringbuf/lines/stack_depth=8	6231	0.024515
golden_lines/ringbuf/lines/stack_depth=8	6249	0.033157
golden_lines/ringbuf/lines/stack_depth=8	6259	0.039859
golden_lines/ringbuf/lines/stack_depth=8	6269	0.047090
golden_lines/ringbuf/lines/stack_depth=8	6279	0.055026
golden_lines/ringbuf/lines/stack_depth=8	6289	0.065197
golden_lines/ringbuf/lines/stack_depth=8	6299	0.076543
golden_lines/ringbuf/lines/stack_depth=8	6301	0.081717
golden_lines/ringbuf/lines/stack_depth=8	6309	0.089653
golden_lines/ringbuf/lines/stack_depth=8	6319	0.101881
golden_lines/ringbuf/lines/stack_depth=8	6321	0.107349
golden_lines/ringbuf/lines/stack_depth=8	6329	0.115050
golden_lines/ringbuf/lines/stack_depth=8	6331	0.120635
golden_lines/ringbuf/lines/stack_depth=8	6339	0.128277
golden_lines/ringbuf/lines/stack_depth=8	6341	0.135626
golden_lines/ringbuf/lines/stack_depth=8	6349	0.143034
golden_lines/ringbuf/lines/stack_depth=8	6351	0.151146
golden_lines/ringbuf/lines/stack_depth=8	6359	0.160435
golden_lines/ringbuf/lines/stack_depth=8	6361	0.170018
golden_lines/ringbuf/lines/stack_depth=8	6369	0.179365
golden_lines/ringbuf/lines/stack_depth=8	6371	0.187184
golden_lines/ringbuf/lines/stack_depth=8	6379	0.195532
golden_lines/ringbuf/lines/stack_depth=8	6381	0.204292
golden_lines/ringbuf/lines/stack_depth=8	6389	0.214168
golden_lines/ringbuf/lines/stack_depth=8	6391	0.225338
golden_lines/ringbuf/lines/stack_depth=8	6399	0.235685
golden_lines/ringbuf/lines/stack_depth=8	6401	0.247678
golden_lines/ringbuf/lines/stack_depth=8	6409	0.257731
golden_lines/ringbuf/lines/stack_depth=8	6411	0.270135
golden_lines/ringbuf/lines/stack_depth=8	6419	0.279541
golden_lines/ringbuf/lines/stack_depth=8	6421	0.292240
golden_lines/ringbuf/lines/stack_depth=8	6429	0.301940
golden_lines/ringbuf/lines/stack_depth=8	6431	0.315461
golden_lines/ringbuf/lines/stack_depth=8	6439	0.326044
golden_lines/ringbuf/lines/stack_depth=8	6441	0.339683
golden_lines/ringbuf/lines/stack_depth=8	6449	0.347854
golden_lines/ringbuf/lines/stack_depth=8	6451	0.362904
golden_lines/ringbuf/lines/stack_depth=8	6459	0.370664
golden_lines/ringbuf/lines/stack_depth=8	6461	0.383480
golden_lines/ringbuf/lines/stack_depth=8	6469	0.392593
golden_lines/ringbuf/lines/stack_depth=8	6471	0.408466
golden_lines/ringbuf/lines/stack_depth=8	6479	0.418166
golden_lines/ringbuf/lines/stack_depth=8	6481	0.434333
golden_lines/ringbuf/lines/stack_depth=8	6489	0.443269
golden_lines/ringbuf/lines/stack_depth=8	6491	0.458907
golden_lines/ringbuf/lines/stack_depth=8	6499	0.465785
golden_lines/ringbuf/lines/stack_depth=8	6501	0.481893
golden_lines/ringbuf/lines/stack_depth=8	6509	0.489183
golden_lines/ringbuf/lines/stack_depth=8	6511	0.504527
golden_lines/ringbuf/lines/stack_depth=8	6519	0.509818
golden_lines/ringbuf/lines/stack_depth=8	6521	0.527043
golden_lines/ringbuf/lines/stack_depth=8	6529	0.533510
golden_lines/ringbuf/lines/stack_depth=8	6531	0.551146
golden_lines/ringbuf/lines/stack_depth=8	6541	0.571252
golden_lines/ringbuf/lines/stack_depth=8	6549	0.576543
golden_lines/ringbuf/lines/stack_depth=8	6551	0.593827
golden_lines/ringbuf/lines/stack_depth=8	6561	0.614580
golden_lines/ringbuf/lines/stack_depth=8	6571	0.634744
golden_lines/ringbuf/lines/stack_depth=8	6581	0.651382
golden_lines/ringbuf/lines/stack_depth=8	6591	0.668607
golden_lines/ringbuf/lines/stack_depth=8	6601	0.688066
golden_lines/ringbuf/lines/stack_depth=8	6611	0.705644
golden_lines/ringbuf/lines/stack_depth=8	6621	0.723457
golden_lines/ringbuf/lines/stack_depth=8	6631	0.739976
golden_lines/ringbuf/lines/stack_depth=8	6641	0.754027
golden_lines/ringbuf/lines/stack_depth=8	6651	0.768489
golden_lines/ringbuf/lines/stack_depth=8	6661	0.782716
golden_lines/ringbuf/lines/stack_depth=8	6671	0.794944
golden_lines/ringbuf/lines/stack_depth=8	6681	0.808230
golden_lines/ringbuf/lines/stack_depth=8	6691	0.819753
golden_lines/ringbuf/lines/stack_depth=8	6701	0.830394
golden_lines/ringbuf/lines/stack_depth=8	6711	0.840212
golden_lines/ringbuf/lines/stack_depth=8	6721	0.848383
golden_lines/ringbuf/lines/stack_depth=8	6731	0.856790
golden_lines/ringbuf/lines/stack_depth=8	6741	0.864962
golden_lines/ringbuf/lines/stack_depth=8	6751	0.874015
golden_lines/ringbuf/lines/stack_depth=8	6761	0.880541
golden_lines/ringbuf/lines/stack_depth=8	6771	0.886479
golden_lines/ringbuf/lines/stack_depth=8	6781	0.892416
golden_lines/ringbuf/lines/stack_depth=8	6791	0.899706
golden_lines/ringbuf/lines/stack_depth=8	6801	0.905761
golden_lines/ringbuf/lines/stack_depth=8	6821	0.914051
golden_lines/ringbuf/lines/stack_depth=8	6841	0.922634
golden_lines/ringbuf/lines/stack_depth=8	6861	0.930041
golden_lines/ringbuf/lines/stack_depth=8	6881	0.936626
golden_lines/ringbuf/lines/stack_depth=8	6901	0.943327
golden_lines/ringbuf/lines/stack_depth=8	6921	0.948618
golden_lines/ringbuf/lines/stack_depth=8	6951	0.954733
golden_lines/ringbuf/lines/stack_depth=8	6991	0.961082
golden_lines/ringbuf/lines/stack_depth=8	7031	0.966490
golden_lines/ringbuf/lines/stack_depth=8	7091	0.971781
golden_lines/ringbuf/lines/stack_depth=8	7171	0.976132
golden_lines/ringbuf/lines/stack_depth=8	7251	0.979248
golden_lines/ringbuf/lines/stack_depth=8	7331	0.980423
golden_lines/ringbuf/lines/stack_depth=8	7411	0.982128
golden_lines/ringbuf/lines/stack_depth=8	7491	0.983245
golden_lines/ringbuf/lines/stack_depth=8	7571	0.984068
golden_lines/ringbuf/lines/stack_depth=8	7653	0.984774
golden_lines/ringbuf/lines/stack_depth=8	7741	0.985538
golden_lines/ringbuf/lines/stack_depth=8	7843	0.986067
golden_lines/ringbuf/lines/stack_depth=8	7933	0.986420
golden_lines/ringbuf/lines/stack_depth=8	8023	0.986831
golden_lines/ringbuf/lines/stack_depth=8	8113	0.987125
golden_lines/ringbuf/lines/stack_depth=8	8202	0.987713
golden_lines/ringbuf/lines/stack_depth=8	8294	0.988595
golden_lines/ringbuf/lines/stack_depth=8	8414	0.989183
golden_lines/ringbuf/lines/stack_depth=8	8514	0.989888
golden_lines/ringbuf/lines/stack_depth=8	8614	0.990535
golden_lines/ringbuf/lines/stack_depth=8	8714	0.991064
golden_lines/ringbuf/lines/stack_depth=8	8814	0.991711
golden_lines/ringbuf/lines/stack_depth=8	8914	0.992240
golden_lines/ringbuf/lines/stack_depth=8	9054	0.993004
golden_lines/ringbuf/lines/stack_depth=8	9166	0.993474
golden_lines/ringbuf/lines/stack_depth=8	9266	0.994004
golden_lines/ringbuf/lines/stack_depth=8	9394	0.994415
golden_lines/ringbuf/lines/stack_depth=8	9526	0.994709
golden_lines/ringbuf/lines/stack_depth=8	9674	0.995003
golden_lines/ringbuf/lines/stack_depth=8	9794	0.995356
golden_lines/ringbuf/lines/stack_depth=8	9946	0.995532
golden_lines/ringbuf/lines/stack_depth=8	10066	0.995591
golden_lines/ringbuf/lines/stack_depth=8	10258	0.995885
golden_lines/ringbuf/lines/stack_depth=8	10446	0.996120
golden_lines/ringbuf/lines/stack_depth=8	10566	0.996296
golden_lines/ringbuf/lines/stack_depth=8	10786	0.996590
golden_lines/ringbuf/lines/stack_depth=8	10966	0.996884
golden_lines/ringbuf/lines/stack_depth=8	11098	0.997002
golden_lines/ringbuf/lines/stack_depth=8	11326	0.997178
golden_lines/ringbuf/lines/stack_depth=8	11810	0.997237
golden_lines/ringbuf/lines/stack_depth=8	12218	0.997296
golden_lines/ringbuf/lines/stack_depth=8	12350	0.997413
golden_lines/ringbuf/lines/stack_depth=8	12698	0.997472
golden_lines/ringbuf/lines/stack_depth=8	13630	0.997531
golden_lines/ringbuf/lines/stack_depth=8	13842	0.997707
golden_lines/ringbuf/lines/stack_depth=8	14082	0.997766
golden_lines/ringbuf/lines/stack_depth=8	14302	0.997942
golden_lines/ringbuf/lines/stack_depth=8	14674	0.998119
golden_lines/ringbuf/lines/stack_depth=8	14834	0.998236
golden_lines/ringbuf/lines/stack_depth=8	15674	0.998413
golden_lines/ringbuf/lines/stack_depth=8	16314	0.998471
golden_lines/ringbuf/lines/stack_depth=8	16492	0.998530
golden_lines/ringbuf/lines/stack_depth=8	18164	0.998589
golden_lines/ringbuf/lines/stack_depth=8	18436	0.998648
golden_lines/ringbuf/lines/stack_depth=8	20212	0.998707
golden_lines/ringbuf/lines/stack_depth=8	21036	0.998765
golden_lines/ringbuf/lines/stack_depth=8	21740	0.998883
golden_lines/ringbuf/lines/stack_depth=8	22276	0.998942
golden_lines/ringbuf/lines/stack_depth=8	22988	0.999059
golden_lines/ringbuf/lines/stack_depth=8	23644	0.999118
golden_lines/ringbuf/lines/stack_depth=8	24044	0.999177
golden_lines/ringbuf/lines/stack_depth=8	26052	0.999236
golden_lines/ringbuf/lines/stack_depth=8	26860	0.999295
golden_lines/ringbuf/lines/stack_depth=8	28140	0.999412
golden_lines/ringbuf/lines/stack_depth=8	32052	0.999471
golden_lines/ringbuf/lines/stack_depth=8	32872	0.999530
golden_lines/ringbuf/lines/stack_depth=8	35032	0.999588
golden_lines/ringbuf/lines/stack_depth=8	37432	0.999647
golden_lines/ringbuf/lines/stack_depth=8	38936	0.999706
golden_lines/ringbuf/lines/stack_depth=8	41256	0.999765
golden_lines/ringbuf/lines/stack_depth=8	43960	0.999882
golden_lines/ringbuf/lines/stack_depth=8	48680	1.000000


# loads	golden_lines/ringbuf/lines/stack_depth=8	golden_lines	ringbuf	lines	stack_depth	8	-	run
golden_lines/ringbuf/lines/stack_depth=8	0	40	6641.744
golden_lines/ringbuf/lines/stack_depth=8	1	28	6648.55
golden_lines/ringbuf/lines/stack_depth=8	2	32	6562.74
golden_lines/ringbuf/lines/stack_depth=8	3	8	6511.953
golden_lines/ringbuf/lines/stack_depth=8	4	56	6474.113
golden_lines/ringbuf/lines/stack_depth=8	5	52	6490.841
golden_lines/ringbuf/lines/stack_depth=8	6	36	6564.959
golden_lines/ringbuf/lines/stack_depth=8	7	48	6551.67
golden_lines/ringbuf/lines/stack_depth=8	8	16	6569.899
golden_lines/ringbuf/lines/stack_depth=8	9	60	6544.452
golden_lines/ringbuf/lines/stack_depth=8	10	20	6510.873
golden_lines/ringbuf/lines/stack_depth=8	11	44	6513.015
golden_lines/ringbuf/lines/stack_depth=8	12	24	6481.409
golden_lines/ringbuf/lines/stack_depth=8	13	12	6425.25


# net	golden_lines/ringbuf/lines/stack_depth=8	golden_lines	ringbuf	lines	stack_depth	8	-	run
golden_lines/ringbuf/lines/stack_depth=8	6528.734	6481.409	6569.899	NaN	NaN	NaN	NaN


# cost	golden_lines	ringbuf	lines	stack_depth	-
golden_lines	ringbuf	lines	stack_depth	8	6528.734	6481.409	6569.899	8	NaN


# lines	golden_lines/ringbuf/lines/stack_depth=8	golden_lines/ringbuf	83 bpf_ringbuf_submit	lines	stack_depth	8	-	run
golden_lines/ringbuf/lines/stack_depth=8	5245.805	5173.415	5318.195	NaN


# lines	golden_lines/ringbuf/lines/stack_depth=8	golden_lines/ringbuf	77 bpf_get_stack	lines	stack_depth	8	-	run
golden_lines/ringbuf/lines/stack_depth=8	1158.06	1146.586	1169.534	NaN


# lines	golden_lines/ringbuf/lines/stack_depth=8	golden_lines/ringbuf	70 bpf_ringbuf_reserve	lines	stack_depth	8	-	run
golden_lines/ringbuf/lines/stack_depth=8	26.9	26.095	27.73	NaN

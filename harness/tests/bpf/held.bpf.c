/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that hold something between two calls, each something else. A run that is cut between
 * the two must give it back. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct task_struct {
	int pid;
} __attribute__((preserve_access_index));

struct cgroup {
	int level;
} __attribute__((preserve_access_index));

struct bpf_cpumask {
	int unused;
} __attribute__((preserve_access_index));

extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;
extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;
extern void bpf_local_irq_save(unsigned long *flags) __ksym __weak;
extern void bpf_local_irq_restore(unsigned long *flags) __ksym __weak;
extern struct task_struct *bpf_task_from_pid(int pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *p) __ksym __weak;
extern struct cgroup *bpf_cgroup_from_id(__u64 id) __ksym __weak;
extern void bpf_cgroup_release(struct cgroup *c) __ksym __weak;
extern struct bpf_cpumask *bpf_cpumask_create(void) __ksym __weak;
extern void bpf_cpumask_release(struct bpf_cpumask *m) __ksym __weak;

__u64 seen;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} ring SEC(".maps");

SEC("tc")
int rcu(struct __sk_buff *skb)
{
	bpf_rcu_read_lock();
	seen += bpf_ktime_get_ns();
	bpf_rcu_read_unlock();
	return 0;
}

SEC("tc")
int preempt(struct __sk_buff *skb)
{
	bpf_preempt_disable();
	seen += bpf_ktime_get_ns();
	bpf_preempt_enable();
	return 0;
}

SEC("tc")
int irq(struct __sk_buff *skb)
{
	unsigned long flags;

	bpf_local_irq_save(&flags);
	seen += bpf_get_smp_processor_id();
	bpf_local_irq_restore(&flags);
	return 0;
}

SEC("tc")
int task(struct __sk_buff *skb)
{
	struct task_struct *p = bpf_task_from_pid(1);

	if (!p)
		return 0;
	seen += bpf_ktime_get_ns();
	seen += p->pid;
	bpf_task_release(p);
	return 0;
}

SEC("tc")
int cgroup(struct __sk_buff *skb)
{
	struct cgroup *c = bpf_cgroup_from_id(1);

	if (!c)
		return 0;
	seen += bpf_ktime_get_ns();
	bpf_cgroup_release(c);
	return 0;
}

SEC("tc")
int socket(struct __sk_buff *skb)
{
	struct bpf_sock_tuple t = {.ipv4 = {.daddr = 0x0100007f, .dport = 0x1600}};
	struct bpf_sock *sk = bpf_sk_lookup_tcp(skb, &t, sizeof(t.ipv4), BPF_F_CURRENT_NETNS, 0);

	seen += bpf_ktime_get_ns();
	if (sk)
		bpf_sk_release(sk);
	return 0;
}

SEC("syscall")
int cpumask(void *ctx)
{
	struct bpf_cpumask *m = bpf_cpumask_create();

	if (!m)
		return 0;
	seen += bpf_ktime_get_ns();
	bpf_cpumask_release(m);
	return 0;
}

SEC("tc")
int dynptr(struct __sk_buff *skb)
{
	struct bpf_dynptr p;
	__u64 x = 1;

	bpf_ringbuf_reserve_dynptr(&ring, 16, 0, &p);
	x += bpf_ktime_get_ns();
	bpf_dynptr_write(&p, 0, &x, sizeof(x), 0);
	bpf_ringbuf_discard_dynptr(&p, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

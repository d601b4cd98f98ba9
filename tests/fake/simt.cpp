// The scheduler of simt.h: fibers made with ucontext, then switched with _setjmp and
// _longjmp, which need no system call.
#include "simt.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>
#include <vector>

namespace simt
{
thread_local uint3 thread_index, block_index, block_dim, grid_dim;

namespace
{
constexpr size_t stack_size = 128 << 10;

struct fiber {
	jmp_buf at;
	ucontext_t start;
	char *stack = nullptr;
	unsigned number = 0; // of the thread in its block
	bool begun = false, ended = true;
};

// A meeting of the lanes of mask. Values lie in two sets by turns: whoever is a meeting
// ahead writes into the other one.
struct meeting {
	unsigned mask = 0, here = 0, turn = 0;
	alignas(16) char values[2][32][32];
	meeting()
	{
		memset(values, 0xA5, sizeof values);
	}
};

struct warp {
	std::deque<meeting> meetings; // which stay where they are when others come
	// its lanes that have not ended: asked at every meeting, so not looked up in 32
	// fibers
	unsigned alive = 0;
};

struct block {
	const fake_launch *launch;
	void (*call)(void *);
	void *context;
	std::vector<fiber> fibers;
	std::vector<warp> warps;
	std::vector<unsigned> order;
	std::vector<char> shared;
	unsigned threads, alive, arrived, turn;
	// meetings held, threads ended, sleeps: none in a round means that nobody can go
	// on
	unsigned long progress;
	jmp_buf scheduler;
	fiber *self;
};

thread_local block *now;

[[noreturn]] void fail(const char *what)
{
	fprintf(stderr, "simt: %s (block %u,%u,%u, thread %u)\n", what, block_index.x,
		block_index.y, block_index.z, now->self ? now->self->number : 0);
	abort();
}

void place(unsigned number)
{
	const unsigned *b = now->launch->block;
	thread_index = {number % b[0], number / b[0] % b[1], number / b[0] / b[1]};
}

void back_to_scheduler()
{
	if (_setjmp(now->self->at) == 0)
		_longjmp(now->scheduler, 1);
	place(now->self->number);
}

void trampoline()
{
	now->call(now->context);
	now->self->ended = true;
	now->warps[now->self->number / 32].alive &= ~(1u << now->self->number % 32);
	now->alive--;
	now->progress++;
	_longjmp(now->scheduler, 1);
}

void resume(fiber &f)
{
	now->self = &f;
	if (_setjmp(now->scheduler))
		return;
	if (f.begun)
		_longjmp(f.at, 1);
	f.begun = true;
	place(f.number);
	getcontext(&f.start);
	f.start.uc_stack.ss_sp = f.stack;
	f.start.uc_stack.ss_size = stack_size;
	f.start.uc_link = nullptr;
	makecontext(&f.start, trampoline, 0);
	setcontext(&f.start);
}

void make_order(block &b)
{
	b.order.resize(b.threads);
	for (unsigned i = 0; i < b.threads; i++)
		b.order[i] = b.launch->order == FAKE_REVERSE ? b.threads - 1 - i : i;
	if (b.launch->order == FAKE_SHUFFLE) {
		std::mt19937 random(block_index.x * 7919 + block_index.y * 31 + b.threads);
		for (unsigned i = b.threads; i > 1; i--)
			std::swap(b.order[i - 1], b.order[random() % i]);
	}
}

void run_block(block &b, uint3 index)
{
	block_index = index;
	block_dim = {b.launch->block[0], b.launch->block[1], b.launch->block[2]};
	grid_dim = {b.launch->grid[0], b.launch->grid[1], b.launch->grid[2]};
	now = &b;
	b.alive = b.threads;
	b.arrived = b.turn = 0;
	b.warps.assign((b.threads + 31) / 32, warp());
	// shared memory starts with anything
	std::fill(b.shared.begin(), b.shared.end(), (char)0xA5);
	make_order(b);
	for (unsigned i = 0; i < b.threads; i++) {
		b.fibers[i].number = i;
		b.fibers[i].begun = b.fibers[i].ended = false;
		b.warps[i / 32].alive |= 1u << i % 32;
	}
	while (b.alive) {
		unsigned long before = b.progress;
		for (unsigned i : b.order)
			if (!b.fibers[i].ended)
				resume(b.fibers[i]);
		if (b.progress == before)
			fail("a barrier is not reached by all of its threads");
	}
}

// Stacks of launches before, for the next: mapping 256 of them and touching their pages
// was half of a launch's time.
struct stacks {
	std::mutex lock;
	std::vector<char *> spare;
	~stacks()
	{
		for (char *s : spare)
			munmap(s, stack_size);
	}
} stacks;

char *new_stack()
{
	{
		std::lock_guard<std::mutex> guard(stacks.lock);
		if (!stacks.spare.empty()) {
			char *s = stacks.spare.back();
			stacks.spare.pop_back();
			return s;
		}
	}
	void *p = mmap(nullptr, stack_size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		abort();
	return static_cast<char *>(p);
}

struct worker {
	block b{};
	worker(const fake_launch &launch, void (*call)(void *), void *context)
	{
		b.launch = &launch;
		b.call = call;
		b.context = context;
		b.threads = launch.block[0] * launch.block[1] * launch.block[2];
		b.fibers.resize(b.threads);
		b.shared.resize(launch.shared + 16);
		for (fiber &f : b.fibers)
			f.stack = new_stack();
	}
	~worker()
	{
		std::lock_guard<std::mutex> guard(stacks.lock);
		for (fiber &f : b.fibers)
			stacks.spare.push_back(f.stack);
	}
	worker(const worker &) = delete;
	worker &operator=(const worker &) = delete;
};

std::vector<uint3> block_order(const fake_launch &l)
{
	std::vector<uint3> all;
	for (unsigned z = 0; z < l.grid[2]; z++)
		for (unsigned y = 0; y < l.grid[1]; y++)
			for (unsigned x = 0; x < l.grid[0]; x++)
				all.push_back({x, y, z});
	std::mt19937 random(1);
	if (l.order == FAKE_REVERSE)
		for (size_t i = 0; i < all.size() / 2; i++)
			std::swap(all[i], all[all.size() - 1 - i]);
	if (l.order == FAKE_SHUFFLE)
		for (size_t i = all.size(); i > 1; i--)
			std::swap(all[i - 1], all[random() % i]);
	return all;
}

meeting &find_meeting(unsigned mask)
{
	warp &w = now->warps[now->self->number / 32];
	for (meeting &m : w.meetings)
		if (m.mask == mask)
			return m;
	w.meetings.emplace_back();
	w.meetings.back().mask = mask;
	return w.meetings.back();
}

// Waits until every lane of mask that has not ended has come with its value; returns the
// set in which the values lie.
char (*meet(unsigned mask, const void *value, size_t size))[32]
{
	unsigned me = 1u << lane();
	if (!(mask & me))
		fail("a thread is not in the mask that it gives");
	if (size > 32)
		fail("a value of more than 32 bytes");
	meeting &m = find_meeting(mask);
	unsigned turn = m.turn;
	m.here |= me;
	if (size)
		memcpy(m.values[turn & 1][lane()], value, size);
	for (;;) {
		unsigned expected = mask & active_mask();
		if (m.turn == turn && (m.here & expected) == expected) {
			m.here = 0;
			m.turn++;
			now->progress++;
		}
		if (m.turn != turn)
			return m.values[turn & 1];
		back_to_scheduler();
	}
}
} // namespace

unsigned lane()
{
	return now->self->number % 32;
}

unsigned active_mask()
{
	return now->warps[now->self->number / 32].alive;
}

void check_aligned(const void *p)
{
	if (reinterpret_cast<uintptr_t>(p) % 16 == 0)
		return;
	fprintf(stderr, "simt: a vector of 16 bytes at %p, which is not aligned\n", p);
	abort();
}

void *dynamic_shared()
{
	return reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(now->shared.data()) + 15) &
					~(uintptr_t)15);
}

void yield()
{
	now->progress++;
	std::this_thread::yield();
	back_to_scheduler();
}

void sync_block()
{
	unsigned turn = now->turn;
	now->arrived++;
	for (;;) {
		// threads that end while others wait count as come
		if (now->turn == turn && now->arrived >= now->alive) {
			now->arrived = 0;
			now->turn++;
			now->progress++;
		}
		if (now->turn != turn)
			return;
		back_to_scheduler();
	}
}

void sync_warp(unsigned mask)
{
	meet(mask, nullptr, 0);
}

void exchange(unsigned mask, const void *value, size_t size, void *out)
{
	char(*values)[32] = meet(mask, value, size);
	// what a lane outside the mask would give is not defined: here it is rubbish
	for (unsigned i = 0; i < 32; i++)
		memcpy(static_cast<char *>(out) + i * size, values[i], size);
}

void run(const fake_launch &launch, void (*call)(void *), void *context)
{
	std::vector<uint3> blocks = block_order(launch);
	if (!launch.cooperative) {
		worker w(launch, call, context);
		for (uint3 index : blocks)
			run_block(w.b, index);
		return;
	}
	std::vector<std::thread> all;
	all.reserve(blocks.size());
	for (uint3 index : blocks)
		all.emplace_back([&launch, call, context, index] {
			worker w(launch, call, context);
			run_block(w.b, index);
		});
	for (std::thread &t : all)
		t.join();
}
} // namespace simt

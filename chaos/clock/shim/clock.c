/*
 * The clock shim: preloaded into a program, it answers for the system's
 * real-time clock from a control word that another process sets. Package clock
 * builds it; type control in its clock.go is the same as the struct below.
 *
 * It is linked without any library, so that one build serves glibc and musl.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define EXPORT __attribute__((visibility("default")))

_Static_assert(sizeof(time_t) == 8, "the clock shim needs a 64-bit time_t");

/* The control file. What counts is slot[generation % 2]; the other one may be
 * half written. */
struct control {
	uint64_t generation;
	struct {
		int64_t frozen; /* 1: ns is the time; 0: ns is added to the time */
		int64_t ns;
	} slot[2];
};

static struct control *mapped;

static void die(const char *why)
{
	static const char who[] = "leasekit clock shim: ";
	/* A server on the wrong clock would pass for one that is broken. */
	if (write(2, who, sizeof who - 1) < 0 || write(2, why, strlen(why)) < 0 || write(2, "\n", 1) < 0)
		_exit(113);
	_exit(112);
}

static struct control *control(void)
{
	struct control *c = __atomic_load_n(&mapped, __ATOMIC_ACQUIRE);
	if (c)
		return c;
	const char *path = getenv("LEASEKIT_CLOCK");
	if (!path)
		die("LEASEKIT_CLOCK is not set");
	int saved = errno;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("the control file that LEASEKIT_CLOCK names can't be opened");
	/* A mapping outlives fork, and is shared with what was forked. */
	c = mmap(NULL, sizeof *c, PROT_READ, MAP_SHARED, fd, 0);
	if (c == MAP_FAILED)
		die("the control file that LEASEKIT_CLOCK names can't be mapped");
	close(fd);
	errno = saved;
	/* Two threads may come here at once: either mapping serves. */
	__atomic_store_n(&mapped, c, __ATOMIC_RELEASE);
	return c;
}

/* Before any thread is there, and any chroot or change of user. */
__attribute__((constructor)) static void begin(void) { control(); }

static int kernel(clockid_t id, struct timespec *t) { return (int)syscall(SYS_clock_gettime, id, t); }

/* moved reads the kernel's clock and turns it into the one that is shown. */
static int moved(clockid_t id, struct timespec *t)
{
	struct control *c = control();
	for (;;) {
		uint64_t generation = __atomic_load_n(&c->generation, __ATOMIC_ACQUIRE);
		int64_t frozen = __atomic_load_n(&c->slot[generation % 2].frozen, __ATOMIC_RELAXED);
		int64_t ns = __atomic_load_n(&c->slot[generation % 2].ns, __ATOMIC_RELAXED);
		struct timespec now = {0, 0};
		int failed = frozen ? 0 : kernel(id, &now);
		if (failed)
			return failed;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&c->generation, __ATOMIC_RELAXED) != generation)
			continue; /* it was set meanwhile */
		int64_t sum = (int64_t)now.tv_sec * SECOND + now.tv_nsec + ns;
		t->tv_sec = sum / SECOND;
		t->tv_nsec = sum % SECOND;
		return 0;
	}
}

EXPORT int clock_gettime(clockid_t id, struct timespec *t)
{
	if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
		return moved(id, t);
	return kernel(id, t);
}

EXPORT int gettimeofday(struct timeval *restrict v, void *restrict zone)
{
	struct timespec t;
	if (zone)
		memset(zone, 0, sizeof(struct timezone));
	int failed = moved(CLOCK_REALTIME, &t);
	if (failed)
		return failed;
	v->tv_sec = t.tv_sec;
	v->tv_usec = t.tv_nsec / 1000;
	return 0;
}

EXPORT time_t time(time_t *seconds)
{
	struct timespec t;
	if (moved(CLOCK_REALTIME, &t))
		return -1;
	if (seconds)
		*seconds = t.tv_sec;
	return t.tv_sec;
}

EXPORT int timespec_get(struct timespec *t, int base)
{
	return base == TIME_UTC && moved(CLOCK_REALTIME, t) == 0 ? base : 0;
}

/* What not every libc has. */
#define WEAK __attribute__((weak))
WEAK int pthread_cond_clockwait(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);

/* A program says until when it waits on the clock that it is shown, and the
 * kernel has another: after a step back a wait would end at once, and after one
 * forward never. MariaDB waits for row locks that way. What is waited for is
 * what is left now; a wait does not notice a later move. */
EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                                  const struct timespec *restrict until)
{
	/* A condition variable may be set to the monotonic clock, which counts
	 * from the start of the machine. The one that is shown is past 1970. */
	static const time_t year = 365 * 24 * 60 * 60;
	static int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	clockid_t id = pthread_cond_clockwait ? CLOCK_MONOTONIC : CLOCK_REALTIME;
	struct timespec shown, now, t = *until;

	if (t.tv_nsec < 0 || t.tv_nsec >= SECOND)
		return EINVAL;
	if (t.tv_sec >= year && moved(CLOCK_REALTIME, &shown) == 0 && kernel(id, &now) == 0) {
		t.tv_sec += now.tv_sec - shown.tv_sec;
		t.tv_nsec += now.tv_nsec - shown.tv_nsec;
		if (t.tv_nsec >= SECOND)
			t.tv_sec++, t.tv_nsec -= SECOND;
		if (t.tv_nsec < 0)
			t.tv_sec--, t.tv_nsec += SECOND;
		if (t.tv_sec < 0)
			t.tv_sec = t.tv_nsec = 0;
	}
	if (pthread_cond_clockwait)
		return pthread_cond_clockwait(cond, mutex, id, &t);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	return next(cond, mutex, &t);
}

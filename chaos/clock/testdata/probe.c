/*
 * What a program sees of the clock. For each line that it reads it prints the
 * time in ns, as several calls tell it:
 *
 *   clock_gettime coarse gettimeofday time timespec_get monotonic
 *
 * With the argument "fork" a child does so, which was forked from it. With
 * "race" it reads the clock until its input ends, and prints the least and the
 * greatest. With "wait NS" it waits on a condition variable until NS from now,
 * and prints how long that took on the monotonic clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long ns(struct timespec t) { return t.tv_sec * 1000000000LL + t.tv_nsec; }

static long long clock_ns(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return ns(t);
}

static int answer(void)
{
	char line[16];
	while (fgets(line, sizeof line, stdin)) {
		struct timeval v;
		struct timespec t;
		gettimeofday(&v, NULL);
		timespec_get(&t, TIME_UTC);
		printf("%lld %lld %lld %lld %lld %lld\n", clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_REALTIME_COARSE),
		       v.tv_sec * 1000000000LL + v.tv_usec * 1000LL, time(NULL) * 1000000000LL, ns(t), clock_ns(CLOCK_MONOTONIC));
		fflush(stdout);
	}
	return 0;
}

static int race(void)
{
	long long least = clock_ns(CLOCK_REALTIME), greatest = least;
	char c;
	fcntl(0, F_SETFL, O_NONBLOCK);
	printf("ready\n");
	fflush(stdout);
	do {
		for (int i = 0; i < 1000; i++) {
			long long now = clock_ns(CLOCK_REALTIME);
			least = now < least ? now : least;
			greatest = now > greatest ? now : greatest;
		}
	} while (read(0, &c, 1) != 0);
	printf("%lld %lld\n", least, greatest);
	return 0;
}

static int wait_for(long long left)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	long long until = clock_ns(CLOCK_REALTIME) + left, began = clock_ns(CLOCK_MONOTONIC);
	struct timespec t = {until / 1000000000, until % 1000000000};
	int result;
	pthread_mutex_lock(&mutex);
	do
		result = pthread_cond_timedwait(&cond, &mutex, &t);
	while (result == 0);
	printf("%lld\n", clock_ns(CLOCK_MONOTONIC) - began);
	return result == ETIMEDOUT ? 0 : 1;
}

int main(int n, char **args)
{
	int status;
	if (n > 1 && strcmp(args[1], "race") == 0)
		return race();
	if (n > 2 && strcmp(args[1], "wait") == 0)
		return wait_for(atoll(args[2]));
	if (n > 1 && strcmp(args[1], "fork") == 0 && fork() > 0)
		return wait(&status) < 0 || status != 0;
	return answer();
}

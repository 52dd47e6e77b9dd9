// Package clock gives a server a clock that a test moves.
//
// A lease is judged by the clock of the server that keeps it. To see what
// happens at its expiry, when the clock steps back, or in the year 2150, a test
// needs to move that clock: of a real server, that knows nothing of it. The clock
// shim, a small library in C, is preloaded into the server, answers its
// questions for the time of day, and adds to the system's time what the test
// says:
//
//	c, err := clock.New(dir)
//	cmd := exec.Command("redis-server", …)
//	cmd.Env = append(os.Environ(), c.Env()...)
//	…                       // start it
//	err = c.Governs(cmd.Process.Pid)
//	c.Move(-48 * time.Hour) // at once, for the server and all its children
//	c.Freeze(true)          // it stands still
//
// Several servers may share a clock; whoever has c.Env in its environment does.
//
// The shim is built with the C compiler when it is first needed, and kept in the
// user's cache folder. Where that can't be done – it takes Linux and a C
// compiler – [Available] says why.
//
// # What the shim moves, and what it does not
//
// It answers clock_gettime for CLOCK_REALTIME and CLOCK_REALTIME_COARSE,
// gettimeofday, time and timespec_get, in programs that call them in a shared
// libc, glibc or musl. Monotonic clocks, and with them the timeouts of a
// server's event loop, stay as they are. So do the time stamps of files, and
// timers that the kernel runs against the real-time clock.
//
// It does not reach programs that are linked statically or ask the kernel
// themselves, as those in Go do, nor setuid programs, for which the dynamic
// linker ignores the shim. [Clock.Governs] tells whether it has reached one.
//
// While the clock stands still, what a server bounds by the time of day does
// not end: in PostgreSQL statement_timeout, deadlock_timeout and pg_sleep. Stop
// the clock for calls that need not wait.
package clock

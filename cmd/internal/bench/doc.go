// Package bench measures how fast a lease is: it makes the calls of a workload on a
// target, and, taking turns with them, the same number of bare round trips – the
// floor – and the same calls by other lock libraries.
package bench

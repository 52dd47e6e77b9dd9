// Package adapter judges lease implementations in any language: it runs programs
// that speak the adapter protocol of PROTOCOL.md, each of them a worker, and makes a
// leasetest.Harness of them.
//
// An adapter is foreign code, and is not trusted: one that dies, hangs, floods or
// talks nonsense ends the run within the limit of one call, with what it did and the
// last lines of its stderr.
package adapter

// Leasecheck checks a lease implementation against the contract of CONFORMANCE.md: a
// store that its DSN names, or one in any language by an adapter (PROTOCOL.md).
//
//	leasecheck run redis://127.0.0.1:6379
//	leasecheck run -report r.html -deviations known.txt 'exec:node adapter.js'
//
// The exit code is 0 if the contract is kept, but for declared deviations; 1 if it is
// not, or a declared deviation is stale; 2 if the command line makes no sense; 3 if the
// run was inconclusive, failed itself, or checked nothing. leasecheck -help has the rest.
package main

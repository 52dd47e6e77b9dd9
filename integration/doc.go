// Package integration tests the backends on real servers. Nothing imports it.
//
// Package server finds or starts the servers; its documentation says how. A test
// whose server is missing is skipped and says what to install, or fails if
// LEASE_REQUIRE_SERVERS=1 is set.
package integration

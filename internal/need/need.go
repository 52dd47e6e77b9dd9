// Package need ends tests that lack something on the machine they run on. In CI that
// is a failure: a test that is skipped there would read as green.
package need

import (
	"os"
	"testing"
)

// Required says whether what is missing is a failure, as in CI: whether the variable
// LEASE_REQUIRE_SERVERS is set, and not to 0.
func Required() bool {
	v := os.Getenv("LEASE_REQUIRE_SERVERS")
	return v != "" && v != "0"
}

// Missing ends the test, which lacks what the text says: it fails if that is
// [Required], and is skipped otherwise.
func Missing(t testing.TB, text string) {
	t.Helper()
	if Required() {
		t.Fatal(text + " (LEASE_REQUIRE_SERVERS=1)")
	}
	t.Skip(text)
}

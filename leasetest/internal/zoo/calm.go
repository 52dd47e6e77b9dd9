package zoo

import "time"

// calm reports whether the key is in none of the situations that have a clause
// of their own, so that a fault which shows now shows by its own clause: its
// ttl is ordinary (ARG-2, ARG-3), its expiry is at least two milliseconds off
// (EXPIRY-2), its counter is far from 2^53 (TOKEN-8, -9), and the clock did not
// step back since the expiry was set (EXPIRY-7).
func calm(c *call) bool {
	if c.rec == nil || !ordinary(c.rec.ttl) || c.rec.token >= 1<<40 || c.back {
		return false
	}
	left := c.rec.expires - c.now.UnixMilli()
	return left <= -2 || left >= 2
}

// ordinary reports whether a ttl is neither below a millisecond nor a matter of
// centuries.
func ordinary(ttl time.Duration) bool {
	return ttl >= time.Millisecond && ttl <= 365*24*time.Hour
}

// halfDay is short of what counts as a jump of the clock (EXPIRY-6).
const halfDay = 12 * time.Hour

// lapsed reports whether the key's last grant ended by its expiry. Neither its
// ttl nor the time since then is longer than within, so that no clock jumped
// (EXPIRY-6).
func lapsed(c *call, within time.Duration) bool {
	return c.rec != nil && !c.rec.released && !live(c) &&
		c.rec.ttl <= within && c.now.UnixMilli()-c.rec.expires <= within.Milliseconds()
}

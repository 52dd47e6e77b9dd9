"""A small lease on Redis, with redis-py.

A lease is a hash with holder, token and expiry; the counter of its tokens is a key
beside it, which nothing deletes. Each call is one script, and the clock that decides is
the server's.
"""

import datetime

# Numbers of Lua are floats: exact for milliseconds, and not for tokens, which stay
# strings.
PRELUDE = """
local lease, counter = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local ms, us = time[1] * 1000 + math.floor(time[2] / 1000), time[2] % 1000
local held = redis.call('HMGET', lease, 'holder', 'token', 'expires')
local live = held[1] and ms < tonumber(held[3])

-- grant is until ttl from now, rounded up to the millisecond
local function grant(holder, token, ttlMs, ttlUs)
  local expires = string.format('%.0f', ms + ttlMs + math.ceil((us + ttlUs) / 1000))
  redis.call('HSET', lease, 'holder', holder, 'token', token, 'expires', expires)
  redis.call('PEXPIREAT', lease, expires) -- only to tidy up
  return {holder, token, expires}
end
"""

ACQUIRE = PRELUDE + """
if live and held[1] ~= ARGV[1] then return 'held' end
local token = held[2]
if not live then
  redis.call('INCR', counter) -- fails at the end of int64
  token = redis.call('GET', counter)
end
return grant(ARGV[1], token, ARGV[2], ARGV[3])
"""

RENEW = PRELUDE + """
if not live or held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return 'lost' end
return grant(held[1], held[2], ARGV[3], ARGV[4])
"""

RELEASE = PRELUDE + """
if live and held[1] == ARGV[1] and held[2] == ARGV[2] then redis.call('DEL', lease) end
return false
"""

GET = PRELUDE + """
if not live then return 'not-held' end
return held
"""


class Leases:
    def __init__(self, server, prefix):
        self.server = server
        self.prefix = prefix

    def acquire(self, key, holder, ttl):
        if not valid(key) or not valid(holder) or ttl <= 0:
            return "invalid"
        return self._run(ACQUIRE, key, holder, *parts(ttl))

    def renew(self, lease, ttl):
        if not valid_lease(lease) or ttl <= 0:
            return "invalid"
        return self._run(RENEW, lease["key"], lease["holder"], lease["token"], *parts(ttl))

    def release(self, lease):
        if not valid_lease(lease):
            return "invalid"
        return self._run(RELEASE, lease["key"], lease["holder"], lease["token"])

    def get(self, key):
        if not valid(key):
            return "invalid"
        return self._run(GET, key)

    def now(self):
        """The server clock, as in RFC 3339."""
        seconds, us = self.server.time()
        return instant(seconds * 1000000 + us)

    def seed(self, key, token):
        """Raises the counter of a key that was never taken."""
        self.server.set(f"{self.prefix}counter:{key}", token)

    def close(self):
        self.server.close()

    def _run(self, script, key, *args):
        names = (f"{self.prefix}lease:{key}", f"{self.prefix}counter:{key}")
        got = self.server.eval(script, 2, *names, *args)
        if not isinstance(got, list):
            return got
        return {"key": key, "holder": got[0], "token": got[1], "expires": instant(int(got[2]) * 1000)}


def parts(ttl):
    """The milliseconds of a ttl in ns, and the microseconds beyond, rounded up."""
    return divmod((ttl + 999) // 1000, 1000)


def instant(us):
    """µs since 1970 as in RFC 3339; timestamp() would go through a float."""
    since = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (since + datetime.timedelta(microseconds=us)).isoformat()


def valid(name):
    return 1 <= len(name.encode()) <= 512 and "\0" not in name


def valid_lease(lease):
    return valid(lease["key"]) and valid(lease["holder"]) and int(lease["token"]) > 0

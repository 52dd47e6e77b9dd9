-- What every script of this package starts with. What it works on, record.lua or
-- fenced.lua, follows, and then the script proper.
--
-- KEYS[1] is always a hash.

-- positive tells whether s is a positive int64 as Redis writes one.
local function positive(s)
  return string.find(s, '^[1-9]%d*$') and
    (#s < 19 or (#s == 19 and s <= '9223372036854775807'))
end

-- unreadable is the reply for a record that was not written by this package.
-- It must never pass for a free key, nor may anything be written over it.
local function unreadable(what, value)
  return {'unreadable', what, value}
end

-- writable raises an error if this server does not take writes: a replica
-- would otherwise answer from stale data. The write changes nothing and is not
-- replicated. As the first write of a script it also decides the check for
-- memory: what follows is let through, because HDEL itself needs none. Call it
-- when the record has been judged, so that it has no field of that name.
local function writable()
  redis.call('HDEL', KEYS[1], '')
end

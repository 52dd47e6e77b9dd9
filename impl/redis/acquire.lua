-- Acquire. ARGV: holder, ttl in whole ms, us beyond them.
-- Replies: granted token expires | kept token expires | held | unreadable what value

local lease, fault = load(true)
if fault then
  return fault
end
local ms, us = now()
local expires = expiry(ms, us, ARGV[2], ARGV[3])

if lease and ms < lease.expires then
  writable()
  if lease.holder ~= ARGV[1] then
    return 'held'
  end
  extend(expires)
  return 'kept ' .. lease.token .. ' ' .. expires
end

-- The counter goes first. If the server refuses to write, or the counter is at
-- its maximum, INCR raises the error and nothing is granted. After it nothing
-- can fail, since the type of the lease is known.
local count = redis.call('INCR', KEYS[2])
local token
if count < 9007199254740992 then
  token = string.format('%.0f', count)
else
  token = redis.call('GET', KEYS[2])
end
redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'token', token, 'expires', expires)
redis.call('PEXPIREAT', KEYS[1], expires)
return 'granted ' .. token .. ' ' .. expires

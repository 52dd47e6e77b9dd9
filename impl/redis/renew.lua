-- Renew. ARGV: holder, token, ttl in whole ms, us beyond them.
-- Replies: renewed expires | lost | unreadable what value

local lease, fault = load(false)
if fault then
  return fault
end
writable()
local ms, us = now()
if not lease or lease.holder ~= ARGV[1] or lease.token ~= ARGV[2] or ms >= lease.expires then
  return 'lost'
end
local expires = expiry(ms, us, ARGV[3], ARGV[4])
extend(expires)
return 'renewed ' .. expires

-- Release. ARGV: holder, token.
-- Replies: released | unreadable what value
--
-- It needs no clock: a grant that has expired may be removed like a live one.
-- The counter stays for ever.

local lease, fault = load(false)
if fault then
  return fault
end
if lease and lease.holder == ARGV[1] and lease.token == ARGV[2] then
  redis.call('DEL', KEYS[1])
else
  writable()
end
return 'released'

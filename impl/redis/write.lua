-- Write. ARGV: token, value.
-- Replies: written | stale highest | unreadable what value

local highest, fault = mark()
if fault then
  return fault
end
-- Both are decimal, without zeros in front: the longer one is the higher, and of
-- two as long as each other the one that comes later as text.
if #ARGV[1] < #highest or (#ARGV[1] == #highest and ARGV[1] < highest) then
  writable()
  return 'stale ' .. highest
end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'value', ARGV[2])
return 'written'

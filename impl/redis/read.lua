-- Read. Replies: record token value | none | unreadable what value

local highest, fault = mark()
if fault then
  return fault
end
writable()
if highest == '0' then
  return 'none'
end
return {'record', highest, redis.call('HGET', KEYS[1], 'value')}

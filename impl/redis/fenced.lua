-- What every script on fenced values starts with, after check.lua.
--
-- KEYS[1]  the value: a hash of value and token, the highest one seen
--
-- Tokens stay strings, as in record.lua.

-- mark returns the highest token seen, '0' for a key that was never written; then,
-- if something about the record is wrong, the reply that says so. It leaves the
-- value alone, which may be long.
local function mark()
  local fields = redis.call('HLEN', KEYS[1])
  if fields == 0 then
    return '0', nil
  end
  local token = redis.call('HGET', KEYS[1], 'token')
  if fields ~= 2 or not token or redis.call('HEXISTS', KEYS[1], 'value') == 0 then
    return nil, unreadable('the record does not have just the fields value and token, but this many', tostring(fields))
  end
  if not positive(token) then
    return nil, unreadable('the field token is no token', token)
  end
  return token, nil
end

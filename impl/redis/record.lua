-- What every script on leases starts with, after check.lua: reading and judging
-- the record of a lease. The script proper is appended to it.
--
-- KEYS[1]  the lease: a hash of holder, token and expires (ms since 1970)
-- KEYS[2]  the counter: the highest token ever granted for the key
--
-- Tokens stay strings throughout. A Lua number is a double and loses digits
-- above 2^53; a token may be any int64 above 0.

-- load returns the lease, or nil if there is no record; then, if something
-- about it is wrong, the reply that says so. Without a record the counter is
-- only read if need_counter is true.
local function load(need_counter)
  -- All fields, not the three: only so does a hash of other fields differ
  -- from no hash, and a record of a future version from one of ours.
  local fields = redis.call('HGETALL', KEYS[1])
  if #fields == 0 and not need_counter then
    return nil, nil
  end

  local counter = redis.call('GET', KEYS[2]) or '0'
  if counter ~= '0' and not positive(counter) then
    return nil, unreadable('the token counter is no count', counter)
  end
  if #fields == 0 then
    return nil, nil
  end

  local lease = {}
  for i = 1, #fields, 2 do
    lease[fields[i]] = fields[i + 1]
  end
  local holder, token, expires = lease.holder, lease.token, lease.expires
  if #fields ~= 6 or not (holder and token and expires) then
    return nil, unreadable('the lease does not have just the fields holder, token and expires, but this many', tostring(#fields / 2))
  end
  if holder == '' or #holder > 512 or string.find(holder, '\0', 1, true) then
    return nil, unreadable('the field holder is no holder', holder)
  end
  if not positive(token) then
    return nil, unreadable('the field token is no token', token)
  end
  -- 15 digits reach the year 33658 and are exact in a double.
  if #expires > 15 or not positive(expires) then
    return nil, unreadable('the field expires is no time in ms', expires)
  end
  -- With a counter that was lost or set back, the next grant would repeat a
  -- token. This is the last moment at which that can be seen.
  if #counter < #token or (#counter == #token and counter < token) then
    return nil, unreadable('the token counter is below the token of the lease', counter)
  end
  lease.expires = tonumber(expires)
  return lease, nil
end

-- now returns the server clock: whole ms since 1970, and the us beyond them.
local function now()
  local t = redis.call('TIME')
  local us = tonumber(t[2])
  return tonumber(t[1]) * 1000 + math.floor(us / 1000), us % 1000
end

-- expiry returns now + ttl in ms, rounded up, as a string. The ttl comes as
-- whole ms and the us beyond them: in us, now plus the longest ttl would exceed
-- what a double can hold.
local function expiry(ms, us, ttl_ms, ttl_us)
  return string.format('%.0f', ms + tonumber(ttl_ms) + math.ceil((us + tonumber(ttl_us)) / 1000))
end

-- extend gives a lease that is live another expiry. PEXPIREAT comes last: it
-- removes a key whose time has passed meanwhile, and HSET would then bring a
-- part of it back.
local function extend(expires)
  redis.call('HSET', KEYS[1], 'expires', expires)
  redis.call('PEXPIREAT', KEYS[1], expires)
end

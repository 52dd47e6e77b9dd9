-- Get. Replies: live holder token expires | free | unreadable what value

local lease, fault = load(false)
if fault then
  return fault
end
writable()
local ms = now()
if not lease or ms >= lease.expires then
  return 'free'
end
return {'live', lease.holder, lease.token, string.format('%.0f', lease.expires)}

'use strict';
// A small lease on Redis, with ioredis. A lease is a hash with holder, token and expiry;
// the counter of its tokens is a key beside it, which nothing deletes. Each call is one
// script, and the clock that decides is the server's.

const { validName, validLease } = require('./protocol');

// Numbers of Lua are floats: exact for milliseconds, and not for tokens, which stay
// strings.
const prelude = `
local lease, counter = KEYS[1], KEYS[2]
local time = TIME
local ms, us = time[1] * 1000 + math.floor(time[2] / 1000), time[2] % 1000
local held = redis.call('HMGET', lease, 'holder', 'token', 'expires')
local live = held[1] and ms < tonumber(held[3])

-- expiry is ttl from now, rounded up to the millisecond
local function expiry(ttlMs, ttlUs)
  return string.format('%.0f', ms + ttlMs + math.ceil((us + ttlUs) / 1000))
end

local function grant(holder, token, expires)
  redis.call('HSET', lease, 'holder', holder, 'token', token, 'expires', expires)
  redis.call('PEXPIREAT', lease, expires) -- only to tidy up
  return {holder, token, expires}
end
`;

const scripts = {
  acquire: `
if live and held[1] ~= ARGV[1] then return 'held' end
local token = held[2]
if not live then
  redis.call('INCR', counter) -- fails at the end of int64
  token = redis.call('GET', counter)
end
return grant(ARGV[1], token, expiry(ARGV[2], ARGV[3]))`,
  renew: `
if not live or held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return 'lost' end
return grant(held[1], held[2], expiry(ARGV[3], ARGV[4]))`,
  release: `
if live and held[1] == ARGV[1] and held[2] == ARGV[2] then redis.call('DEL', lease) end
return nil`,
  get: `
if not live then return 'not-held' end
return held`,
};

class Leases {
  constructor(redis, prefix) {
    this.redis = redis;
    this.prefix = prefix;
  }

  // time is where the scripts have the time from, as seconds and microseconds.
  time() { return "redis.call('TIME')"; }

  async run(name, key, ...args) {
    const script = prelude.replace('TIME', () => this.time()) + scripts[name];
    const got = await this.redis.eval(script, 2, `${this.prefix}lease:${key}`, `${this.prefix}counter:${key}`, ...args);
    if (!Array.isArray(got)) return got;
    return { key, holder: got[0], token: got[1], expires: new Date(Number(got[2])).toISOString() };
  }

  async acquire(key, holder, ttl) {
    if (!validName(key) || !validName(holder) || ttl <= 0n) return 'invalid';
    return this.run('acquire', key, holder, ...parts(ttl));
  }

  async renew(lease, ttl) {
    if (!validLease(lease) || ttl <= 0n) return 'invalid';
    return this.run('renew', lease.key, lease.holder, lease.token, ...parts(ttl));
  }

  async release(lease) {
    if (!validLease(lease)) return 'invalid';
    return this.run('release', lease.key, lease.holder, lease.token);
  }

  async get(key) {
    if (!validName(key)) return 'invalid';
    return this.run('get', key);
  }

  // now reads the server clock.
  async now() {
    const [s, us] = await this.redis.time();
    return new Date(Number(s) * 1000).toISOString().slice(0, 19) + '.' + String(us).padStart(6, '0') + 'Z';
  }

  // seed raises the counter of a key that was never taken.
  async seed(key, token) { await this.redis.set(`${this.prefix}counter:${key}`, token); }

  async close() { await this.redis.quit(); }
}

// parts are the milliseconds of a ttl and the microseconds beyond, rounded up.
function parts(ttl) {
  const us = (ttl + 999n) / 1000n;
  return [String(us / 1000n), String(us % 1000n)];
}

module.exports = { Leases };

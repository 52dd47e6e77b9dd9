'use strict';
// The adapter of the package redlock, with one Redis.
//
// What Redlock calls the value of a lock, a random text that names one grant, is made of
// a random number and the holder here, so that any worker can name a grant by holder and
// token. Redlock has no fencing tokens: the number identifies a grant, and does not rise.
// deviations.redlock.txt says what it does not keep.
//
// Redlock says how long a lock is valid by the worker's clock. That is an estimate for
// the worker alone; what is reported here is when the key ends in Redis, on its clock.

const crypto = require('node:crypto');
const Redis = require('ioredis').Redis;
const Redlock = require('redlock');
const { serve, validName, validLease } = require('./protocol');

// Redlock gives back a lock at once of which little is left when it has it.
const shortest = 100; // ms

class Locks {
  constructor(redis, prefix) {
    this.redis = redis;
    this.prefix = prefix;
    this.redlock = new Redlock([redis], { retryCount: 0 });
  }

  async acquire(key, holder, ttl) {
    if (!validName(key) || !validName(holder) || ttl <= 0n) return 'invalid';
    const token = String(crypto.randomBytes(8).readBigUInt64BE() >> 2n);
    this.redlock._random = () => value(token, holder);
    try {
      await this.redlock.lock(this.prefix + key, milliseconds(ttl));
    } catch (err) {
      return refused(err, 'held');
    }
    return this.look(key);
  }

  async renew(lease, ttl) {
    if (!validLease(lease) || ttl <= 0n) return 'invalid';
    try {
      await this.lock(lease).extend(milliseconds(ttl));
    } catch (err) {
      return refused(err, 'lost');
    }
    return this.look(lease.key);
  }

  async release(lease) {
    if (!validLease(lease)) return 'invalid';
    try {
      await this.lock(lease).unlock();
    } catch (err) {
      return refused(err, 'lost');
    }
  }

  async get(key) {
    if (!validName(key)) return 'invalid';
    return this.look(key);
  }

  // lock is the lock of a lease, which any worker may have.
  lock(lease) {
    return new Redlock.Lock(this.redlock, [this.prefix + lease.key], value(lease.token, lease.holder), Infinity);
  }

  // look reads the key in Redis; Redlock has no call for that.
  async look(key) {
    const [[, text], [, end]] = await this.redis.multi().get(this.prefix + key).call('PEXPIRETIME', this.prefix + key).exec();
    if (text === null) return 'not-held';
    const cut = text.indexOf(':');
    return { key, holder: text.slice(cut + 1), token: text.slice(0, cut), expires: new Date(end).toISOString() };
  }

  async now() {
    const [s, us] = await this.redis.time();
    return new Date(Number(s) * 1000).toISOString().slice(0, 19) + '.' + String(us).padStart(6, '0') + 'Z';
  }

  async close() { await this.redis.quit(); }
}

const value = (token, holder) => `${token}:${holder}`;

// milliseconds has one more: Redis counts from the millisecond that has begun.
const milliseconds = (ttl) => Math.max(shortest, Number((ttl + 999999n) / 1000000n) + 1);

// refused tells a lock that is not to be had from a Redis that fails.
function refused(err, word) {
  if (err.name === 'LockError') return word;
  throw err;
}

// In Redis a key is live in the millisecond of its end, too.
serve(
  { name: 'redlock 4 on ioredis', features: ['now'], minTTL: String(shortest * 1e6), expiryLag: String(1e6) },
  (store) => new Locks(new Redis(process.env.REDIS_URL || 'redis://127.0.0.1:6379'), `${store}/`),
);

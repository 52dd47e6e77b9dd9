'use strict';
// lease.js made wrong, to see that it is found: the worker's clock decides.

const Redis = require('ioredis').Redis;
const { serve } = require('./protocol');
const { Leases } = require('./lease');

class ClientClock extends Leases {
  time() {
    const now = Date.now();
    return `{${Math.floor(now / 1000)}, ${(now % 1000) * 1000}}`;
  }
}

serve(
  { name: 'lease.js by the client\'s clock', features: ['now', 'seed'] },
  (store) => new ClientClock(new Redis(process.env.REDIS_URL || 'redis://127.0.0.1:6379'), `${store}/`),
);

'use strict';
// The adapter of the small lease in lease.js: leasecheck run 'exec:node ioredis.js'

const Redis = require('ioredis').Redis;
const { serve } = require('./protocol');
const { Leases } = require('./lease');

const url = process.env.REDIS_URL || 'redis://127.0.0.1:6379';

// Two names that are joined must not give what two others give.
const prefix = (store, namespace) => `${store}/${namespace.length}:${namespace}/`;

serve(
  { name: 'lease.js on ioredis', features: ['namespace', 'now', 'seed'] },
  (store, namespace) => new Leases(new Redis(url), prefix(store, namespace)),
);

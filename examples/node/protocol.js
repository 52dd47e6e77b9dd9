'use strict';
// The adapter protocol of leasecheck (PROTOCOL.md): one JSON object per line, one
// request on stdin, one reply on stdout.

const readline = require('node:readline');

// serve answers requests until stdin ends. about is what the adapter says of itself
// in its hello; open(store, namespace) makes a client, an object with
//
//   acquire(key, holder, ttl)  a lease, or a refusal
//   renew(lease, ttl)          the same
//   release(lease)             nothing, or a refusal
//   get(key)                   a lease, or a refusal
//   now(), seed(key, token)    if about.features names them
//   close()
//
// all async. A refusal is one of the words held, lost, not-held, invalid. A ttl is a
// BigInt in nanoseconds, a lease has the strings key, holder, token and expires.
async function serve(about, open) {
  let client = null;
  const handle = {
    hello: () => ({ version: 1, time: new Date().toISOString(), ...about }),
    open: async (r) => { client = await open(r.store, r.namespace); },
    close: async () => { const old = client; client = null; await old.close(); },
    acquire: (r) => client.acquire(r.key, r.holder, BigInt(r.ttl)),
    renew: (r) => client.renew(r.lease, BigInt(r.ttl)),
    release: (r) => client.release(r.lease),
    get: (r) => client.get(r.key),
    now: async () => ({ time: await client.now() }),
    seed: (r) => client.seed(r.key, r.token),
  };
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    let reply;
    try {
      const got = await handle[request.op](request);
      if (typeof got === 'string') reply = { result: got };
      else if (got && got.token !== undefined) reply = { result: 'ok', lease: got };
      else reply = { result: 'ok', ...got };
    } catch (err) {
      reply = { result: 'error', text: String(err) };
    }
    process.stdout.write(JSON.stringify({ id: request.id, ...reply }) + '\n');
  }
}

// validName says whether a key or a holder is within the contract.
function validName(name) {
  const n = Buffer.byteLength(name);
  return n >= 1 && n <= 512 && !name.includes('\0');
}

// validLease says the same of a lease.
function validLease(lease) {
  return validName(lease.key) && validName(lease.holder) && BigInt(lease.token) > 0n;
}

module.exports = { serve, validName, validLease };

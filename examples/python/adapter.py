"""The adapter of the small lease in lease.py: leasecheck run 'exec:python3 adapter.py'"""

import datetime
import json
import os
import sys

import redis

import lease

ABOUT = {"version": 1, "name": "lease.py on redis-py", "features": ["namespace", "now", "seed"]}


def handle(client, request):
    """Makes the call that a request asks for: a lease, a refusal in a word, or None."""
    op = request["op"]
    if op == "acquire":
        return client.acquire(request["key"], request["holder"], int(request["ttl"]))
    if op == "renew":
        return client.renew(request["lease"], int(request["ttl"]))
    if op == "release":
        return client.release(request["lease"])
    if op == "get":
        return client.get(request["key"])
    if op == "seed":
        return client.seed(request["key"], request["token"])
    if op == "close":
        return client.close()
    raise ValueError("unknown op " + op)


def answer(client, request):
    """Returns the client from now on, and the reply."""
    reply = {"result": "ok"}
    if request["op"] == "hello":
        now = datetime.datetime.now(datetime.timezone.utc)
        reply.update(ABOUT, time=now.isoformat())
    elif request["op"] == "open":
        space = request["namespace"]
        # Two names that are joined must not give what two others give.
        prefix = f"{request['store']}/{len(space)}:{space}/"
        server = redis.Redis.from_url(os.environ.get("REDIS_URL", "redis://127.0.0.1:6379"), decode_responses=True)
        client = lease.Leases(server, prefix)
    elif request["op"] == "now":
        reply["time"] = client.now()
    else:
        got = handle(client, request)
        if isinstance(got, str):
            reply["result"] = got
        elif got is not None:
            reply["lease"] = got
    return client, reply


def main():
    client = None
    sys.stdin.reconfigure(encoding="utf-8")
    for line in sys.stdin:
        request = json.loads(line)
        try:
            client, reply = answer(client, request)
        except Exception as err:
            reply = {"result": "error", "text": repr(err)}
        print(json.dumps({"id": request["id"], **reply}), flush=True)


if __name__ == "__main__":
    main()

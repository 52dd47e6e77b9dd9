package integration

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease/chaos"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
)

// replicated is a primary with replicas, each of which replicates over a link.
type replicated struct {
	t        *testing.T
	primary  *server.RedisServer
	replicas []*server.RedisServer
	links    []*chaos.Link
}

func startReplicated(t *testing.T, replicas int) *replicated {
	t.Helper()
	r := &replicated{t: t}
	r.primary, r.replicas = server.StartRedisPair(t, replicas)
	for _, replica := range r.replicas {
		link, err := chaos.NewLink("of a replica")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { link.Close() })
		addr, err := link.Listen("tcp", r.primary.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if err := replica.Replicate(patient(t), addr); err != nil {
			t.Fatal(err)
		}
		r.links = append(r.links, link)
	}
	return r
}

// patient is a context for what must not hang.
func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// service is one on the given server that waits for so many replicas.
func (r *replicated) service(on *server.RedisServer, wait int) *redislease.Service {
	return redislease.New(redisClient(r.t, on, nil), &redislease.Options{Replicas: wait, ReplicaTimeout: 200 * time.Millisecond})
}

// part cuts a replica off, so that it learns of nothing more.
func (r *replicated) part(replica int) {
	r.t.Helper()
	f := chaos.BlackHole(r.links[replica])
	if err := f.Start(patient(r.t)); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { f.Heal(context.Background()) })
}

// failover kills the primary and promotes a replica, of which it returns a
// service.
func (r *replicated) failover(to int) *redislease.Service {
	r.t.Helper()
	r.primary.Crash(r.t)
	if err := r.replicas[to].Promote(patient(r.t)); err != nil {
		r.t.Fatal(err)
	}
	return r.service(r.replicas[to], 0)
}

// TOKEN-11, without waiting: what the promoted replica had not got yet is granted
// again, under the same token.
func TestFailoverRepeatsToken(t *testing.T) {
	r := startReplicated(t, 1)
	s := r.service(r.primary, 0)
	first := acquire(t, s, "job", "a", time.Hour)
	if err := s.Release(context.Background(), first); err != nil {
		t.Fatal(err)
	}
	awaitOffset(t, r.primary, r.replicas[0])
	r.part(0)
	lost := acquire(t, s, "job", "a", time.Hour)
	again := acquire(t, r.failover(0), "job", "b", time.Hour)
	t.Logf("without waiting for replicas: a was granted token %d, and after the failover b was granted token %d", lost.Token, again.Token)
	if again.Token != lost.Token {
		t.Errorf("the token after the failover is %d, want the repeated %d: did the replica get the grant?", again.Token, lost.Token)
	}
}

// TOKEN-11, waiting for the replica that is promoted: what was answered is there,
// and what it could not confirm was not answered.
func TestFailoverWithWait(t *testing.T) {
	r := startReplicated(t, 1)
	s := r.service(r.primary, 1)
	first := acquire(t, s, "job", "a", time.Hour)
	if err := s.Release(context.Background(), first); err != nil {
		t.Fatal(err)
	}
	kept := acquire(t, s, "kept", "a", time.Hour)
	last := acquire(t, s, "job", "a", time.Hour)
	if err := s.Release(context.Background(), last); err != nil {
		t.Fatal(err)
	}
	awaitOffset(t, r.primary, r.replicas[0])
	r.part(0)
	_, err := s.Acquire(context.Background(), "job", "a", time.Hour)
	wantError(t, "Acquire that no replica confirms", err)
	_, err = s.Renew(context.Background(), kept, time.Hour)
	wantError(t, "Renew that no replica confirms", err)
	if got, err := s.Get(context.Background(), "job"); err == nil {
		t.Errorf("a grant that was not confirmed is not taken back: %v", got)
	}
	if got, err := s.Get(context.Background(), "kept"); err != nil || got.Token != kept.Token {
		t.Errorf("a renewal that was not confirmed ended the grant: %v, %v", got, err)
	}

	after := r.failover(0)
	again := acquire(t, after, "job", "b", time.Hour)
	t.Logf("waiting for one replica: a was granted token %d, and after the failover b was granted token %d", last.Token, again.Token)
	if again.Token <= last.Token {
		t.Errorf("token after the failover: got %d, want more than %d", again.Token, last.Token)
	}
	if got, err := after.Get(context.Background(), "kept"); err != nil || got != kept {
		t.Errorf("Get after the failover: got %v, %v, want %v", got, err, kept)
	}
}

// TOKEN-11, waiting for a replica that is not the one promoted: a token may be
// repeated, as the documentation says.
func TestFailoverToAnotherReplica(t *testing.T) {
	r := startReplicated(t, 2)
	s := r.service(r.primary, 1)
	first := acquire(t, s, "job", "a", time.Hour)
	if err := s.Release(context.Background(), first); err != nil {
		t.Fatal(err)
	}
	awaitOffset(t, r.primary, r.replicas[1])
	r.part(1)
	lost := acquire(t, s, "job", "a", time.Hour)
	again := acquire(t, r.failover(1), "job", "b", time.Hour)
	t.Logf("waiting for one of two replicas, and promoting the other: a was granted token %d, and after the failover b was granted token %d", lost.Token, again.Token)
	if again.Token != lost.Token {
		t.Errorf("the token after the failover is %d, want the repeated %d", again.Token, lost.Token)
	}
}

// On a cluster the node that has the key is asked. Here it has no replicas, and
// what it grants is taken back.
func TestFailedWaitOnCluster(t *testing.T) {
	s := redislease.New(clusterClient(t, server.RedisCluster(t), nil), &redislease.Options{
		Prefix: "lease-" + t.Name(), Replicas: 1, ReplicaTimeout: 50 * time.Millisecond,
	})
	_, err := s.Acquire(context.Background(), "job", "a", time.Hour)
	wantError(t, "Acquire on a cluster without replicas", err)
	if got, err := s.Get(context.Background(), "job"); err == nil {
		t.Errorf("the grant is not taken back: %v", got)
	}
}

// awaitOffset waits until a replica has everything that its primary has written.
func awaitOffset(t *testing.T, primary, replica *server.RedisServer) {
	t.Helper()
	// What a PING on the primary's stream would show too, without waiting for one.
	ctx := patient(t)
	from, to := redisClient(t, primary, nil), redisClient(t, replica, nil)
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for {
		want, got := replOffset(t, ctx, from), replOffset(t, ctx, to)
		if got == want {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("the replica is at %s, its primary at %s", got, want)
		}
	}
}

func replOffset(t *testing.T, ctx context.Context, client *redis.Client) string {
	t.Helper()
	info := client.InfoMap(ctx, "replication")
	if err := info.Err(); err != nil {
		t.Fatal(err)
	}
	section := info.Val()["Replication"]
	if at, ok := section["slave_repl_offset"]; ok {
		return at
	}
	return section["master_repl_offset"]
}

package bench

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// serverTime reads how long a Redis has spent so far on commands, by their names, in
// µs; of a cluster all masters together. A script's time includes that of the
// commands that it calls, which are counted under their own names too. It returns
// nil where the server does not tell.
func serverTime(ctx context.Context, client redis.UniversalClient) map[string]float64 {
	total := map[string]float64{}
	if cluster, ok := client.(*redis.ClusterClient); ok {
		var mu sync.Mutex
		err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			text, err := node.Info(ctx, "commandstats").Result()
			mu.Lock()
			defer mu.Unlock()
			addCommandStats(total, text)
			return err
		})
		if err != nil || len(total) == 0 {
			return nil
		}
		return total
	}
	text, err := client.Info(ctx, "commandstats").Result()
	if err != nil {
		return nil
	}
	addCommandStats(total, text)
	if len(total) == 0 {
		return nil
	}
	return total
}

// addCommandStats adds lines such as
// "cmdstat_evalsha:calls=3,usec=120,usec_per_call=40.00,…".
func addCommandStats(total map[string]float64, text string) {
	for line := range strings.Lines(text) {
		name, fields, ok := strings.Cut(strings.TrimSpace(line), ":")
		name, isStat := strings.CutPrefix(name, "cmdstat_")
		if !ok || !isStat {
			continue
		}
		for field := range strings.SplitSeq(fields, ",") {
			if text, ok := strings.CutPrefix(field, "usec="); ok {
				us, _ := strconv.ParseFloat(text, 64)
				total[strings.ToLower(name)] += us
			}
		}
	}
}

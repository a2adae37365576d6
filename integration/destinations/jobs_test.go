package destinations

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

// jobs is the way of a job: published, relayed to Redis, run by a worker.
type jobs struct {
	job  delayedjob.Job[payload]
	pool *pgxpool.Pool
	pub  *delayedjob.Publisher[pgx.Tx]
	*delayedjob.Handler
	runs *runs
}

// runs are the runs of a job, by the number in its payload.
type runs struct {
	mu sync.Mutex
	at map[int][]time.Time
	// correlation is what the last run's context held.
	correlation string
}

func (r *runs) total() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range r.at {
		n += len(at)
	}
	return n
}

func (r *runs) distinct() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.at)
}

// workers is how many jobs run at once.
const workers = 10

// control is what a publisher stores with an entry for a job.
func control(t *testing.T, d delayedjob.Defaults) map[string]json.RawMessage {
	t.Helper()
	doc, err := json.Marshal(delayedjob.Snapshot(d))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]json.RawMessage{delayedjob.DeliveryKey: doc}
}

// newJobs runs a worker for a job with a queue of its own until the test ends.
func newJobs(t *testing.T, client *redis.Client) *jobs {
	t.Helper()
	set := propagation.NewSet(nil, propagation.Standard()...)
	queue := "it-" + outbox.NewMessageID().String()
	t.Cleanup(func() { forgetQueue(t, client, queue) })
	j := &jobs{
		job:  delayedjob.MustJob[payload]("invoice.send", delayedjob.Defaults{Queue: queue}),
		pool: lab.New(t).Pool(t), runs: &runs{at: map[int][]time.Time{}},
	}
	mux, err := delayedjob.NewMux(delayedjob.MuxConfig{Propagation: set})
	if err != nil {
		t.Fatal(err)
	}
	if err := delayedjob.HandleFunc(mux, j.job, func(ctx context.Context, p payload) error {
		j.runs.mu.Lock()
		defer j.runs.mu.Unlock()
		j.runs.at[p.N] = append(j.runs.at[p.N], time.Now())
		j.runs.correlation = propagation.From(ctx, propagation.Correlation)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	registry, err := delayedjob.NewRegistry(mux.IDs()...)
	if err != nil {
		t.Fatal(err)
	}
	if j.Handler, err = delayedjob.NewHandler(delayedjob.Config{Client: client, Registry: registry}); err != nil {
		t.Fatal(err)
	}
	if j.pub, err = delayedjob.NewPublisher(newPublisher(t, outbox.Config{Propagation: set}), nil); err != nil {
		t.Fatal(err)
	}
	worker := asynq.NewServerFromRedisClient(client, asynq.Config{
		Concurrency: workers, Queues: delayedjob.Queues(queue), LogLevel: asynq.FatalLevel,
		TaskCheckInterval: 10 * time.Millisecond, DelayedTaskCheckInterval: 50 * time.Millisecond,
		ShutdownTimeout: 5 * time.Second,
	})
	if err := worker.Start(mux); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Shutdown)
	return j
}

// forgetQueue removes what a queue leaves in Redis. The server can be a developer's.
func forgetQueue(t *testing.T, client *redis.Client, queue string) {
	ctx := context.Background()
	keys := client.Scan(ctx, 0, "asynq:{"+queue+"*", 1000).Iterator()
	for keys.Next(ctx) {
		client.Del(ctx, keys.Val())
	}
	for name := range delayedjob.Queues(queue) {
		client.SRem(ctx, "asynq:queues", name)
	}
	if err := keys.Err(); err != nil {
		t.Errorf("remove a queue: %v", err)
	}
}

// publish writes a job that is not to run before a time.
func (j *jobs) publish(ctx context.Context, t *testing.T, n int, at time.Time) {
	t.Helper()
	if err := pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error {
		_, err := delayedjob.Publish(ctx, j.pub, tx, j.job, payload{n}, delayedjob.ScheduledAt(at))
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// Entries with a time of any fraction of a second are held back, and then run once, never early.
func TestDelayedJobsRunOnceAndNotEarly(t *testing.T) {
	t.Parallel()
	j := newJobs(t, redisClient(t, redises.shared(t)))
	const scheduled, past = 20, 5
	due := map[int]time.Time{}
	ctx := propagation.With(lab.Context(t), propagation.Correlation, "c-42")
	for n := range scheduled {
		due[n] = time.Now().Add(time.Second + time.Duration(rand.N(3_000_000))*time.Microsecond)
		j.publish(ctx, t, n, due[n])
	}
	for n := scheduled; n < scheduled+past; n++ {
		due[n] = time.Now().Add(-time.Hour)
		j.publish(ctx, t, n, due[n])
	}
	lab.Relay(t, lab.Store(t, j.pool), lab.Fast(), j.Handler)
	lab.Eventually(t, "all have run", func() bool { return j.runs.total() >= scheduled+past })
	drained(t, j.pool)
	untouched(t, j.pool)
	j.runs.mu.Lock()
	defer j.runs.mu.Unlock()
	for n, at := range due {
		if ran := j.runs.at[n]; len(ran) != 1 || ran[0].Before(at) {
			t.Errorf("job %d, due at %v, ran at %v", n, at, ran)
		}
	}
	if j.runs.correlation != "c-42" {
		t.Errorf("the context of a run holds the correlation id %q", j.runs.correlation)
	}
}

// The answer to an enqueue is lost. The job has run and completed when its entry is tried again: it must not run again.
func TestLateRetryDoesNotRunAgain(t *testing.T) {
	t.Parallel()
	j := newJobs(t, redisClient(t, redises.shared(t)))
	const n = 10
	for i := range n {
		j.publish(lab.Context(t), t, i, time.Time{})
	}
	cfg := lab.Fast()
	cfg.BackoffBase, cfg.BackoffMax = time.Hour, time.Hour // until the jobs have run
	stop := lab.Relay(t, lab.Store(t, j.pool), cfg, forgetful{j.Handler})
	lab.Eventually(t, "the attempts failed, the jobs ran", func() bool {
		return lab.Value[int](t, j.pool, `SELECT count(*) FROM outbox WHERE attempt = 1`) == n && j.runs.total() == n
	})
	stop()
	if _, err := j.pool.Exec(lab.Context(t), `UPDATE outbox SET available_at = now()`); err != nil {
		t.Fatal(err)
	}
	lab.Relay(t, lab.Store(t, j.pool), lab.Fast(), forgetful{j.Handler})
	drained(t, j.pool)
	if got := lab.States(t, j.pool); got != "PUBLISHED=10" {
		t.Errorf("%s, want all published", got)
	}
	// Whatever had been enqueued a second time would run before what is enqueued now.
	j.publish(lab.Context(t), t, n, time.Time{})
	lab.Eventually(t, "a later job runs", func() bool { return j.runs.distinct() == n+1 })
	if got := j.runs.total(); got != n+1 {
		t.Errorf("%d runs of %d jobs", got, n+1)
	}
}

// A job's payload is JSON. Raw bytes are refused when they are published, and when somebody wrote such a row all the same.
func TestRawPayloadOfAJobIsRefused(t *testing.T) {
	t.Parallel()
	j := newJobs(t, redisClient(t, redises.shared(t)))
	raw := outbox.Raw{ContentType: "application/x-protobuf", Data: everyByte()}
	ctx := lab.Context(t)
	if err := pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error {
		other := delayedjob.MustJob[outbox.Raw](j.job.ID(), delayedjob.Defaults{})
		if _, err := delayedjob.Publish(ctx, j.pub, tx, other, raw); !fault.IsInvalid(err) {
			t.Errorf("publishing raw bytes: %v", err)
		}
		_, err := delayedjob.Publish(ctx, j.pub, tx, j.job, payload{1}) // the transaction is as good as before
		return err
	}); err != nil {
		t.Fatal(err)
	}
	publish(ctx, t, j.pool, newPublisher(t, outbox.Config{}), outbox.Entry{
		DestinationType: j.Type(), Destination: j.job.ID(), EventType: j.job.ID(), Payload: raw,
		Delivery: control(t, j.job.Defaults()),
	})
	lab.Relay(t, lab.Store(t, j.pool), lab.Fast(), j.Handler)
	drained(t, j.pool)
	why := lab.Value[string](t, j.pool, `SELECT COALESCE(last_error, '') FROM outbox WHERE state = 'DEAD_LETTER' AND payload_raw IS NOT NULL`)
	if !strings.Contains(why, "payload is raw") {
		t.Errorf("the dead letter says %q", why)
	}
	lab.Eventually(t, "the job beside it runs", func() bool { return j.runs.total() == 1 })
}
